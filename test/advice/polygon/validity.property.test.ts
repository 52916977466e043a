import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readGeoJson, refuseInvalid } from '#src/advice/polygon/geometry.ts'
import { formatError } from '#src/lib/promises.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Rings } from '#src/raster/rings.ts'
import { encodeMultiPolygon } from '#src/raster/tiles.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'
import { hasSharedBoundaries, SHARED_BOUNDARIES } from '#test/setup/shared-data.ts'
import type { Polygons } from './brute-force.ts'
import { HOSTILE_SHAPES } from './hostile-shapes.ts'
import { randomNumbers } from './shapes.ts'
import { FAULTS, FAULTS_AT_SEVERAL_PLACES, meetingPolygons, mirrored } from './validity-shapes.ts'

let opened: OpenTestDatabase
beforeAll(async () => {
  opened = await openTestDatabase('empty')
})
afterAll(() => opened.close())

/** It would take half a minute for what takes a server two seconds. */
const EMBEDDED = process.env.TEST_DATABASE_KIND === 'embedded'

const VALID = 'valid'

/** What PostGIS calls what is wrong, and how the service says it. */
const SENTENCES: Record<string, string> = {
  'Valid Geometry': VALID,
  'Self-intersection': 'geometry crosses itself or another of its rings',
  'Ring Self-intersection': 'geometry has a ring that touches itself',
  'Hole lies outside shell': 'geometry has a hole outside of its polygon',
  'Holes are nested': 'geometry has a hole within another hole',
  'Nested shells': 'geometry has a polygon within another one',
  'Interior is disconnected': 'geometry is cut into parts by its holes',
}

/** What the service says of polygons. */
async function saidOf(polygons: Rings[]): Promise<string> {
  return refuseInvalid(polygons, async () => {}).then(
    () => VALID,
    (error) => formatError(error).replace(/\.$/, ''),
  )
}

/** What PostGIS says of each of some polygons, in the words of the service. */
async function saidByPostgis(all: Rings[][]): Promise<{ said: string; at: string }[]> {
  const { rows } = await sql<{ reason: string | null; x: number; y: number }>`
    select reason, st_x(location) as x, st_y(location) as y
    from unnest(${all.map(encodeMultiPolygon)}::bytea[]) with ordinality as sent (wkb, place)
    cross join lateral st_isvaliddetail(st_geomfromwkb(wkb, 4326))
    order by place`.execute(opened.database.reader)
  return rows.map(({ reason, x, y }) => ({
    said: SENTENCES[reason ?? 'Valid Geometry'] ?? `not known: ${reason}`,
    at: `at longitude ${roundDegrees(x)}, latitude ${roundDegrees(y)}`,
  }))
}

const ringsOf = (coordinates: Polygons): Rings[] =>
  readGeoJson({ value: { type: 'MultiPolygon', coordinates }, at: 'geometry' }).polygons

/** Without those that have no area, which are refused before. */
function readable(coordinates: Polygons): Rings[][] {
  try {
    return [ringsOf(coordinates)]
  } catch {
    return []
  }
}

test('what PostGIS finds valid is taken, and what it finds invalid is refused, of 6,000 polygons', async () => {
  const random = randomNumbers(1)
  for (let run = 0; run < 6; run++) {
    const polygons = Array.from({ length: 1000 }, () => readable(meetingPolygons(random))).flat()
    const expected = await saidByPostgis(polygons)
    const valid = expected.filter(({ said }) => said === VALID)
    expect(valid.length).toBeGreaterThan(50)
    for (const [index, rings] of polygons.entries()) {
      const isValid = (await saidOf(rings)) === VALID
      expect([isValid, rings]).toEqual([expected[index]?.said === VALID, rings])
    }
  }
})

describe('of a single fault the sentence is that of PostGIS', () => {
  test.each(Object.entries(FAULTS))('%s', async (name, fault) => {
    const polygons = mirrored(fault).map(ringsOf)
    for (const [index, { said, at }] of (await saidByPostgis(polygons)).entries()) {
      const ours = await saidOf(polygons[index] as Rings[])
      if (said === VALID) expect(ours).toBe(VALID)
      else if (FAULTS_AT_SEVERAL_PLACES.has(name)) expect(ours).toContain(said)
      else expect(ours).toBe(`${said}, ${at}`)
    }
  })
})

test.skipIf(EMBEDDED).each(Object.entries(HOSTILE_SHAPES))(
  'what takes PostGIS long is valid: %s',
  async (_, make) => {
    const rings = ringsOf(make())
    const [expected] = await saidByPostgis([rings])
    expect([expected?.said, await saidOf(rings)]).toEqual([VALID, VALID])
  },
)

test.skipIf(!hasSharedBoundaries)('of real boundaries all are taken that PostGIS finds valid', async () => {
  for (const name of readdirSync(SHARED_BOUNDARIES).filter((file) => file.endsWith('json'))) {
    const { features } = JSON.parse(readFileSync(join(SHARED_BOUNDARIES, name), 'utf8'))
    const areas = features.flatMap(({ geometry }: { geometry: { type: string; coordinates: never } }) =>
      readable(geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates),
    )
    expect(areas.length).toBeGreaterThan(0)
    const ours: boolean[] = []
    for (const rings of areas) ours.push((await saidOf(rings)) === VALID)
    expect(ours).toEqual((await saidByPostgis(areas)).map(({ said }) => said === VALID))
  }
})
