import { type RawBuilder, sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { transformPolygons } from '#src/advice/polygon/zonal-tiles.ts'
import type { Rings } from '#src/raster/rings.ts'
import { decodeMultiPolygon, encodeMultiPolygon } from '#src/raster/wkb.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'

const UTM_37_NORTH = 32637

let service: TestApp
beforeAll(async () => {
  service = await createTestApp()
})
afterAll(() => service.close())

/** A ring with so many positions around a place, near to a circle. */
function ringAround(longitude: number, latitude: number, radius: number, positions: number): Float64Array {
  const ring = Float64Array.from({ length: 2 * positions }, (_, at) => {
    const angle = (2 * Math.PI * Math.floor(at / 2)) / (positions - 1)
    return at % 2 === 0 ? longitude + radius * Math.cos(angle) : latitude + radius * Math.sin(angle)
  })
  ring.copyWithin(ring.length - 2, 0, 2)
  return ring
}

const POLYGONS: Record<string, Rings[]> = {
  'a field': [[ringAround(38.7, 9, 0.01, 5)]],
  'a long outline with a hole, and an island': [
    [ringAround(38.7, 9, 1, 30_001), ringAround(38.7, 9, 0.3, 11)],
    [ringAround(36, 8, 0.01, 4)],
  ],
  'few edges that are divided into many': [[ringAround(38.7, 9, 2, 5)]],
}

test.each(Object.entries(POLYGONS))(
  '%s comes to the same bits in parts as at once, and no part is large',
  async (_, polygons) => {
    const step = 2e-4
    const { writer } = service.database
    const { rows } = await sql<{ wkb: Buffer }>`
    select st_asbinary(
      st_transform(
        st_segmentize(st_geomfromwkb(${encodeMultiPolygon(polygons)}::bytea, 4326), ${step}::float8),
        ${UTM_37_NORTH}::integer
      ),
      'NDR'
    ) as wkb`.execute(writer)
    const largest = { bytes: 0 }
    const ask = async <Row>(query: RawBuilder<Row>) => {
      const { sql: text, parameters } = query.compile(writer)
      if (text.includes('st_transform')) {
        largest.bytes = Math.max(largest.bytes, (parameters[0] as Buffer).length)
      }
      return (await query.execute(writer)).rows
    }
    const transformed = await transformPolygons(ask, polygons, UTM_37_NORTH, step)
    expect(transformed).toEqual(decodeMultiPolygon(rows[0]?.wkb as Buffer))
    expect(largest.bytes).toBeGreaterThan(0)
    expect(largest.bytes).toBeLessThanOrEqual(9 + 16 * 10_000)
  },
)
