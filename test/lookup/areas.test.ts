import fc from 'fast-check'
import { sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import type { Position } from '#src/lookup/layers.ts'
import { type AreaFinder, createAreaFinder } from '#src/lookup/places.ts'
import type { Area } from '#src/lookup/queries.ts'
import { ringOf } from '#test/advice/polygon/shapes.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openService } from '#test/setup/open-service.ts'
import { onePixelRelease } from '#test/setup/releases.ts'

/** Other boundaries may take so long to be seen. */
const FRESH_MS = 400

/** Of so many vertices that it is cut into pieces. */
const CIRCLE = Array.from({ length: 501 }, (_, at) => [
  40 + Math.cos((at / 250) * Math.PI),
  6 + Math.sin((at / 250) * Math.PI),
])

/** Shares a border with Kenya, and reaches over it with a triangle that has a hole and a corner on a cell's. */
const ETHIOPIA = {
  type: 'MultiPolygon',
  coordinates: [
    (rectangle(37.03, 3.5, 37.6, 5.4) as { coordinates: number[][][] }).coordinates,
    [
      ringOf('36.5 3.8, 36.98 4.7, 36.8125 5.0625, 36.5 3.8'),
      ringOf('36.75 4.5, 36.8 4.6, 36.76 4.6, 36.75 4.5'),
    ],
    [[...CIRCLE.slice(0, -1), CIRCLE[0]]],
  ],
}

async function load(country: string, level: number, shape: object): Promise<void> {
  const properties = level === 0 ? { code: country } : { code: `${country}${level}`, parent_code: country }
  const path = await boundaryFile([feature({ name: 'A place', ...properties }, shape)])
  await loadFile(service.database, path, country, level)
}

async function readVersion(): Promise<string> {
  const { rows } = await sql<{ version: string }>`select boundaries_version() as version`.execute(
    service.database.reader,
  )
  return rows[0]?.version as string
}

let finder: AreaFinder
let boundaries: string
let borders: [number, number][]
const service = openService({ template: 'empty', settings: { RELEASE_MAX_AGE_MS: String(FRESH_MS) } })
beforeAll(async () => {
  await load('ken', 0, rectangle(36.0001, 3.5, 37.03, 5.5))
  await load('eth', 0, ETHIOPIA)
  await load('eth', 1, rectangle(37.05, 3.55, 37.55, 4.5))
  finder = createAreaFinder(service.database.reader, 1)
  boundaries = await readVersion()
  const { rows } = await sql<{ x: number; y: number }>`
    select st_x(geom) as x, st_y(geom) as y
    from (select (st_dumppoints(geom)).geom from admin_area) as vertex`.execute(service.database.reader)
  borders = rows.map(({ x, y }) => [x, y])
})

test('the areas of positions are the same from memory and from the database as by the whole outlines', async () => {
  const near = fc.double({ min: -0.1, max: 0.1, noNaN: true })
  const offset = fc.oneof(fc.constantFrom(0, 1e-12, -1e-12, 9e-7, -2e-6, 1 / 16, -1 / 16), near)
  const position = fc.oneof(
    // Anywhere, on the corners of cells, and by the corners of the areas.
    fc.tuple(fc.double({ min: 35, max: 42, noNaN: true }), fc.double({ min: 3, max: 8, noNaN: true })),
    fc
      .tuple(fc.integer({ min: 575, max: 660 }), fc.integer({ min: 55, max: 115 }))
      .map(([x, y]): [number, number] => [x / 16, y / 16]),
    fc
      .tuple(fc.nat(), offset, offset)
      .map(([at, dx, dy]): [number, number] => [
        (borders[at % borders.length]?.[0] as number) + dx,
        (borders[at % borders.length]?.[1] as number) + dy,
      ]),
  )
  let fromMemory = 0
  await fc.assert(
    fc.asyncProperty(fc.array(position, { minLength: 20, maxLength: 50 }), async (asked) => {
      const positions = asked.map(([longitude, latitude]) => ({ longitude, latitude }))
      const expected = await byOutlines(positions)
      for (let again = 0; again < 2; again++) {
        const known = positions.map((one) => namesOf(finder.fromMemory(one, boundaries)))
        fromMemory += known.filter((one) => one !== undefined).length
        expect(known.map((one, at) => one ?? expected[at])).toEqual(expected)
        const found = positions.map(async (one) => namesOf(await finder.find(one, boundaries)))
        expect(await Promise.all(found)).toEqual(expected)
      }
    }),
    { numRuns: 30 },
  )
  expect(fromMemory).toBeGreaterThan(100)
})

test('the areas of positions are known of all of a cell once one of its positions was asked for, but within centimetres of a border', async () => {
  const fresh = createAreaFinder(service.database.reader, 1)
  const at = (longitude: number) => namesOf(fresh.fromMemory({ longitude, latitude: 3.91 }, boundaries))
  expect(at(37.02)).toBeUndefined()
  expect(namesOf(await fresh.find({ longitude: 37.02, latitude: 3.91 }, boundaries))).toEqual(['ken0'])
  // The border lies at 37.03, and the end of the cell at 37.0625.
  expect([37.001, 37.02999, 37.03001, 37.051, 37.062].map(at)).toEqual([
    ['ken0'],
    ['ken0'],
    ['eth0'],
    ['eth0', 'eth1'],
    ['eth0', 'eth1'],
  ])
  expect([37.03, 37.0299995, 37.0300005, 37.063].map(at)).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ])
  const onBorder = { longitude: 37.03, latitude: 3.91 }
  expect(namesOf(await fresh.find(onBorder, boundaries))).toEqual(['eth0', 'ken0'])
  expect(fresh.state()).toMatchObject({ cells: 1, askingCells: { items: 1 }, askingPlaces: { items: 1 } })
})

test('the areas of positions are kept for so many bytes of cells, the oldest of which make room', async () => {
  const measured = createAreaFinder(service.database.reader, 1)
  const positions = [36.2, 36.3, 36.4].map((longitude) => ({ longitude, latitude: 3.9 }))
  for (const position of positions) await measured.find(position, boundaries)
  const { cells, bytes } = measured.state()
  expect(cells).toBe(3)
  const fresh = createAreaFinder(service.database.reader, 1, bytes - 1)
  for (const position of positions) await fresh.find(position, boundaries)
  expect(positions.map((position) => namesOf(fresh.fromMemory(position, boundaries)))).toEqual([
    undefined,
    ['ken0'],
    ['ken0'],
  ])
  expect(fresh.state().cells).toBe(2)
  expect(namesOf(await fresh.find(positions[0] as Position, boundaries))).toEqual(['ken0'])
  expect(fresh.state()).toMatchObject({ cells: 2, askingCells: { items: 4 } })
})

test('the areas of positions are not kept where other boundaries were asked than those that are known of', async () => {
  const fresh = createAreaFinder(service.database.reader, 1)
  const position = { longitude: 36.31, latitude: 3.91 }
  for (const version of ['of before', 'of before', boundaries]) {
    expect(fresh.fromMemory(position, version)).toBeUndefined()
    expect(namesOf(await fresh.find(position, version))).toEqual(['ken0'])
  }
  expect(namesOf(fresh.fromMemory(position, boundaries))).toEqual(['ken0'])
  expect(fresh.fromMemory(position, 'of later')).toBeUndefined()
  expect(namesOf(await fresh.find(position, 'of later'))).toEqual(['ken0'])
})

test('boundaries are heeded within RELEASE_MAX_AGE_MS of their load', async () => {
  await loadRelease(service.database, onePixelRelease({ Urea: 7 }))
  const reason = async () => {
    const url = '/advisory/fertilizer/point?lat=11.5&lng=38.5'
    return (await service.post(url)).body.code
  }
  expect(await reason()).toBe('OUTSIDE_COUNTRY')
  for (const [shape, expected] of [
    [rectangle(37, 6, 39, 12), 'NO_DATA'],
    [rectangle(37, 6, 38, 8), 'OUTSIDE_COUNTRY'],
  ] as const) {
    await load('eth', 0, shape)
    const loaded = performance.now()
    for (let found: string | undefined; found !== expected; ) {
      const asked = performance.now()
      found = await reason()
      if (asked - loaded >= FRESH_MS) expect(found).toBe(expected)
    }
  }
})

/** The areas of positions, such as eth0, by the whole outlines of all areas, one by one. */
async function byOutlines(positions: Position[]): Promise<string[][]> {
  const { rows } = await sql<{ areas: string[] }>`
    select array(
      select country_code || level from admin_area
      where st_covers(geom, st_setsrid(st_makepoint(longitude, latitude), 4326))
      order by country_code, level
    ) as areas
    from json_to_recordset(${JSON.stringify(positions)}) as position (longitude float8, latitude float8)`.execute(
    service.database.reader,
  )
  return rows.map(({ areas }) => areas)
}

function namesOf(areas: readonly Area[] | undefined): string[] | undefined {
  return areas?.map(({ countryCode, level }) => `${countryCode}${level}`).sort()
}
