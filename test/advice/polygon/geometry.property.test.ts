import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { findInteriorPoint, readGeoJson, refuseInvalid } from '#src/advice/polygon/geometry.ts'
import { formatError } from '#src/lib/promises.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Rings } from '#src/raster/rings.ts'
import { encodeMultiPolygon } from '#src/raster/tiles.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { hasSharedBoundaries, SHARED_BOUNDARIES } from '#test/setup/shared-data.ts'
import type { Polygons } from './brute-force.ts'
import { HOSTILE_SHAPES } from './hostile-shapes.ts'
import { randomNumbers, randomPolygons } from './shapes.ts'
import { FAULTS, FAULTS_AT_SEVERAL_PLACES, meetingPolygons, mirrored } from './validity-shapes.ts'

const opened = openDatabase('empty')

const VALID = 'valid'

test('of 2,000 polygons those are taken that PostGIS finds valid, with its points', async () => {
  const random = randomNumbers(1)
  for (let run = 0; run < 2; run++) {
    const polygons = Array.from({ length: 1000 }, () => readable(meetingPolygons(random))).flat()
    const valid = await expectFaultsOfPostgis(polygons)
    expect(valid.length).toBeGreaterThan(50)
    await expectPointsOfPostgis(valid)
  }
})

test('fields of all kinds are taken that PostGIS finds valid, with its points', async () => {
  const random = randomNumbers(8)
  const range = { within: [33, 3, 48, 15] as [number, number, number, number], smallest: 0.01, largest: 1e7 }
  const options = { ...range, origin: [33, 15] as [number, number], pixel: 1 / 120 }
  const fields = Array.from({ length: 1000 }, (_, index) =>
    readable(randomPolygons(random, index, options)),
  ).flat()
  const valid = await expectFaultsOfPostgis(fields)
  expect(valid.length).toBeGreaterThan(600)
  await expectPointsOfPostgis(valid)
})

test.each(Object.entries(FAULTS))('the sentence on %s is that of PostGIS', async (name, fault) => {
  const polygons = mirrored(fault).map(ringsOf)
  for (const [index, { said, at }] of (await saidByPostgis(polygons)).entries()) {
    const ours = await saidOf(polygons[index] as Rings[])
    if (said === VALID) expect(ours).toBe(VALID)
    else if (FAULTS_AT_SEVERAL_PLACES.has(name)) expect(ours).toContain(said)
    else expect(ours).toBe(`${said}, ${at}`)
  }
})

test('shapes of nearly 10,000 vertices have the points of PostGIS', async () => {
  await expectPointsOfPostgis(Object.values(HOSTILE_SHAPES).map((shape) => ringsOf(shape())))
})

/** It would take half a minute for what takes a server two seconds. */
const EMBEDDED = process.env.TEST_DATABASE_KIND === 'embedded'

test.skipIf(EMBEDDED).each(Object.entries(HOSTILE_SHAPES))(
  'what takes PostGIS long is valid: %s',
  async (_, make) => {
    expect(await expectFaultsOfPostgis([ringsOf(make())])).toHaveLength(1)
  },
)

test.skipIf(!hasSharedBoundaries)(
  'of real boundaries those are taken that PostGIS finds valid, with its points',
  async () => {
    for (const name of readdirSync(SHARED_BOUNDARIES).filter((file) => file.endsWith('json'))) {
      const { features } = JSON.parse(readFileSync(join(SHARED_BOUNDARIES, name), 'utf8'))
      const areas = features.flatMap(({ geometry }: { geometry: { type: string; coordinates: never } }) =>
        readable(geometry.type === 'Polygon' ? [geometry.coordinates] : geometry.coordinates),
      )
      expect(areas.length).toBeGreaterThan(0)
      await expectPointsOfPostgis(await expectFaultsOfPostgis(areas))
    }
  },
)

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

/** Interior points are those of ST_PointOnSurface, to the last bit. */
async function expectPointsOfPostgis(all: Rings[][]): Promise<void> {
  const { rows } = await sql`
    select st_x(inside) as longitude, st_y(inside) as latitude
    from unnest(${all.map(encodeMultiPolygon)}::bytea[]) with ordinality as sent (wkb, place)
    cross join lateral st_pointonsurface(st_geomfromwkb(wkb, 4326)) as inside
    order by place`.execute(opened.database.reader)
  expect(all.map(findInteriorPoint)).toEqual(rows)
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

/** @returns those that are valid, for both */
async function expectFaultsOfPostgis(all: Rings[][]): Promise<Rings[][]> {
  const expected = (await saidByPostgis(all)).map(({ said }) => said === VALID)
  for (const [index, rings] of all.entries()) {
    expect([(await saidOf(rings)) === VALID, rings]).toEqual([expected[index], rings])
  }
  return all.filter((_, index) => expected[index])
}
