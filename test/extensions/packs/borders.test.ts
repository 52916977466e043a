import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { answerAt, isInPack, type Pack } from '#src/extensions/packs/reading.ts'
import type { TestApp } from '#test/setup/app.ts'
import { loadFile, sharedFile } from '#test/setup/boundaries.ts'
import { openApp } from '#test/setup/open-service.ts'
import { runsOf } from '#test/setup/property-runs.ts'
import { hasSharedBoundaries } from '#test/setup/shared-data.ts'
import { differences, makePack } from './made-packs.ts'

describe('a pack near the border of its area', () => {
  const service = openApp()

  test.each([
    ['eth', 'ETH-03-01-01'],
    ['eth', 'ETH-09-02'],
    ['rwa', 'RWA-01'],
    ['ken', 'KEN'],
  ])('answers where the area is, as the service does, and nowhere else: %s %s', (country, code) =>
    tryBorder(service, country, code),
  )
})

describe.skipIf(!hasSharedBoundaries)('a pack near a real border', () => {
  const service = openApp({
    prepare: async (database) => {
      for (const [country, level] of [
        ['rwa', 0],
        ['rwa', 1],
        ['rwa', 2],
        ['gha', 0],
      ] as const) {
        await loadFile(database, sharedFile(country, level), country, level)
      }
    },
  })

  test('answers where the district is, as the service does, and nowhere else', async () => {
    const { rows } = await sql<{ code: string }>`
      select code from admin_area where country_code = 'rwa' and level = 2 order by positions desc, code limit 4
    `.execute(service.database.reader)
    expect(rows).toHaveLength(4)
    for (const { code } of rows) await tryBorder(service, 'rwa', code)
  })

  test('of a country has its whole outline', async () => {
    const { pack, html } = await makePack(service, 'gha', 'GHA')
    const { rows } = await sql<{ positions: number }>`
      select positions from admin_area where country_code = 'gha' and level = 0`.execute(
      service.database.reader,
    )
    const rings = pack.polygons.flatMap((polygon) => polygon.rings)
    expect(rings.reduce((sum, { length }) => sum + length / 2, 0)).toBe(rows[0]?.positions)
    expect(html.length).toBeGreaterThan(0)
  })
})

/** More on demand: `PLACES=2000`. */
const PLACES = Number(process.env.PLACES ?? runsOf(100))

/** Degrees: 22 cm. Nearer to an edge a pack has the place. */
const TOO_NEAR = 2e-6

interface NearPlace {
  lat: number
  lng: number
  isInside: boolean
  /** Degrees from the border. */
  distance: number
}

/** Places within 60 m of the border of an area, which PostGIS draws and looks up: the same every time. */
async function drawNearBorder(
  { database }: Pick<TestApp, 'database'>,
  { area: { countryCode, level, code } }: Pack,
  count: number,
): Promise<NearPlace[]> {
  const { rows } = await sql<NearPlace>`
    with area as (
      select geom, st_boundary(geom) as border from admin_area
      where country_code = ${countryCode} and level = ${level} and code = ${code}
    ),
    ring as (
      select (st_dump(border)).geom from area order by st_length((st_dump(border)).geom) desc limit 3
    ),
    place as (
      select st_setsrid(st_makepoint(
        round((st_x(at) + 0.00054 * (number % 11) / 10.0 * cos(2.4 * number))::numeric, 6)::float8,
        round((st_y(at) + 0.00054 * (number % 11) / 10.0 * sin(2.4 * number))::numeric, 6)::float8
      ), 4326) as place
      from ring
      cross join generate_series(1, ${count}::integer) as number
      cross join lateral st_lineinterpolatepoint(geom, number / (${count}::float8 + 1)) as at
    )
    select
      st_x(place) as lng, st_y(place) as lat, st_covers(geom, place) as "isInside",
      st_distance(border, place) as distance
    from place cross join area`.execute(database.reader)
  return rows
}

/** Tries places near the border of an area, in its pack and at the service. */
async function tryBorder(service: TestApp, country: string, code: string): Promise<void> {
  const { pack } = await makePack(service, country, code)
  const places = await drawNearBorder(service, pack, PLACES)
  const inside = places.filter(({ isInside }) => isInside)
  const outside = places.filter(({ isInside, distance }) => !isInside && distance > TOO_NEAR)
  expect(Math.min(inside.length, outside.length)).toBeGreaterThan(PLACES / 4)
  const asked = inside.map(({ lat, lng }) => ({ lat, lng }))
  expect(asked.filter(({ lat, lng }) => !isInPack(pack, { latitude: lat, longitude: lng }))).toEqual([])
  expect(await differences(service, pack, asked)).toEqual([])
  const [crop = ''] = pack.crops
  expect(outside.filter(({ lat, lng }) => answerAt(pack, { lat, lng, crop }) !== null)).toEqual([])
}
