import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findInteriorPoint, refuseInvalid } from '#src/advice/polygon/geometry.ts'
import type { Rings } from '#src/raster/rings.ts'
import { encodeMultiPolygon } from '#src/raster/tiles.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'
import { hasSharedBoundaries, SHARED_BOUNDARIES } from '#test/setup/shared-data.ts'
import type { Polygons, Ring } from './brute-force.ts'
import { HOSTILE_SHAPES } from './hostile-shapes.ts'
import { randomNumbers, randomPolygons, type ShapeOptions } from './shapes.ts'
import { meetingPolygons } from './validity-shapes.ts'

type Geometry = { type: 'Polygon'; coordinates: Ring[] } | { type: 'MultiPolygon'; coordinates: Polygons }

let opened: OpenTestDatabase
beforeAll(async () => {
  opened = await openTestDatabase('empty')
})
afterAll(() => opened.close())

const ringsOf = (polygons: Polygons): Rings[] =>
  polygons.map((rings) => rings.map((ring) => Float64Array.from(ring.flat())))

const isValid = (polygons: Rings[]) =>
  refuseInvalid(polygons, async () => {}).then(
    () => true,
    () => false,
  )

/** What PostGIS finds, to the last bit. */
async function foundByPostgis(all: Rings[][]) {
  const { rows } = await sql<{ longitude: number; latitude: number }>`
    select st_x(inside) as longitude, st_y(inside) as latitude
    from unnest(${all.map(encodeMultiPolygon)}::bytea[]) with ordinality as sent (wkb, place)
    cross join lateral st_pointonsurface(st_geomfromwkb(wkb, 4326)) as inside
    order by place`.execute(opened.database.reader)
  return rows
}

/** Those of some shapes that are valid. */
async function validOf(shapes: Polygons[]): Promise<Rings[][]> {
  const valid: Rings[][] = []
  for (const polygons of shapes.map(ringsOf)) if (await isValid(polygons)) valid.push(polygons)
  return valid
}

async function expectThatOfPostgis(all: Rings[][]): Promise<void> {
  expect(all.map(findInteriorPoint)).toEqual(await foundByPostgis(all))
}

test('it is the position of ST_PointOnSurface, in fields of all kinds', async () => {
  const random = randomNumbers(8)
  const options: ShapeOptions = {
    within: [33, 3, 48, 15],
    smallest: 0.01,
    largest: 1e7,
    origin: [33, 15],
    pixel: 1 / 120,
  }
  const fields = await validOf(
    Array.from({ length: 3000 }, (_, index) => randomPolygons(random, index, options)),
  )
  expect(fields.length).toBeGreaterThan(2000)
  await expectThatOfPostgis(fields)
})

test('it is the same where corners lie on the line, and polygons are equally wide', async () => {
  const random = randomNumbers(7)
  const shapes = await validOf(Array.from({ length: 4000 }, () => meetingPolygons(random)))
  expect(shapes.length).toBeGreaterThan(300)
  await expectThatOfPostgis(shapes)
})

test('it is the same in shapes of nearly 10,000 vertices', async () => {
  await expectThatOfPostgis(Object.values(HOSTILE_SHAPES).map((shape) => ringsOf(shape())))
})

test.skipIf(!hasSharedBoundaries)('it is the same in real boundaries', async () => {
  for (const name of readdirSync(SHARED_BOUNDARIES).filter((file) => file.endsWith('json'))) {
    const { features } = JSON.parse(readFileSync(join(SHARED_BOUNDARIES, name), 'utf8'))
    const shapes = features.map(({ geometry: { type, coordinates } }: { geometry: Geometry }) =>
      ringsOf(type === 'Polygon' ? [coordinates] : coordinates),
    )
    await expectThatOfPostgis(shapes)
  }
})
