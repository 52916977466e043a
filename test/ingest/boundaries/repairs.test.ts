import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { seedAreas } from '#src/ingest/demo/seed.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'

let opened: OpenTestDatabase
let database: Database

beforeEach(async () => {
  opened = await openTestDatabase('empty')
  database = opened.database
})
afterEach(() => opened.close())

/** Rings as texts: longitude and latitude, then commas between positions. */
const polygon = (...rings: string[]) => ({
  type: 'Polygon',
  coordinates: rings.map((ring) => ring.split(', ').map((position) => position.split(' ').map(Number))),
})
const area = (code: string, geometry: unknown, more: object = {}) =>
  feature({ code, name: code, ...more }, geometry)

async function load(features: object[], level = 1, options = {}) {
  return loadFile(database, await boundaryFile(features), 'eth', level, options)
}

async function stored(level: number): Promise<{ code: string; km2: number; parent: string | null }[]> {
  const { rows } = await sql<{ code: string; km2: number; parent: string | null }>`
    select area.code, round(area.area_km2)::float8 as km2, parent.code as parent
    from admin_area as area
    left join admin_area as parent on parent.id = area.parent_id
    where area.level = ${level} and st_isvalid(area.geom)
    order by area.code`.execute(database.writer)
  return rows
}

const STAR = Array.from({ length: 52 }, (_, index) => {
  const angle = (index % 51) * ((2 * Math.PI * 20) / 51)
  return `${38 + Math.cos(angle)} ${9 + Math.sin(angle)}`
}).join(', ')

const FAULTY = [
  area('GOOD', rectangle(37, 8, 38, 9)),
  // Two triangles of a quarter of the square each.
  area('BOWTIE', polygon('38 8, 39 9, 39 8, 38 9, 38 8')),
  area('OPEN', polygon('39 8, 40 8, 40 9, 39 9')),
  area('HEIGHTS', polygon('40 8 5, 41 8 5, 41 9 5, 40 9 5, 40 8 5')),
  area('SPIKE', polygon('37 9, 38 9, 38 10, 39.5 10, 38 10, 37 10, 37 9')),
  area('HOLE OUTSIDE', polygon('38 10, 39 10, 39 11, 38 11, 38 10', '37 11, 37.1 11, 37.1 11.1, 37 11')),
  area('POINTLIKE HOLE', polygon('39 10, 40 10, 40 11, 39 11, 39 10', '39.5 10.5, 39.5 10.5, 39.5 10.5')),
  area('COLLECTION', {
    type: 'GeometryCollection',
    geometries: [{ type: 'Point', coordinates: [40, 10] }, rectangle(40, 10, 41, 11)],
  }),
  area('NOTHING', null),
  area('EMPTY', polygon()),
  area('LINE', polygon('37 8, 38 9, 37 8, 37 8')),
  area('SLIVER', rectangle(37, 8, 37.0001, 8.00001)),
  area('POINT', { type: 'Point', coordinates: [37, 8] }),
  feature(null, rectangle(37, 8, 37.001, 8.001)),
  feature({ code: 'NAMELESS', name: ' ' }, rectangle(41, 8, 42, 9)),
  area('STAR', polygon(STAR)),
]

test('faults of areas are repaired, dropped and reported, and the rest is loaded', async () => {
  const report = await load(FAULTY, 1, { maxRepair: 1 })
  expect(report).toMatchObject({ added: 10, updated: 0, removed: 0, unnamed: 1 })
  // The triangles of the bow tie cancel each other; of 1 square degree without 0.005, the hole makes 1.005.
  expect(report?.repaired).toEqual([
    {
      area: 'BOWTIE',
      reason: 'Self-intersection[38.5 8.5], its area changes by 100.00 %',
      changePercent: 100,
    },
    {
      area: 'SPIKE',
      reason: expect.stringMatching(/^Ring Self-intersection.*by 0\.00 %$/),
      changePercent: 0,
    },
    {
      area: 'HOLE OUTSIDE',
      reason: expect.stringMatching(/^Hole lies outside shell.*by 1\.00 %$/),
      changePercent: expect.closeTo((100 * 0.01) / 1.005, 6),
    },
    { area: 'LINE', reason: expect.stringMatching(/by 0\.00 %$/), changePercent: 0 },
    { area: 'STAR', reason: expect.stringMatching(/^Self-intersection/), changePercent: expect.any(Number) },
  ])
  expect(report?.dropped).toEqual([
    { area: 'NOTHING', reason: 'it has no geometry' },
    { area: 'EMPTY', reason: 'its geometry is empty' },
    { area: 'POINT', reason: 'its geometry is a Point' },
    { area: 'LINE', reason: 'nothing of its geometry encloses an area' },
    { area: 'SLIVER', reason: 'it is a sliver of 12.2 m²' },
    { area: 'feature 14 of areas.geojson', reason: 'it is a sliver without a code' },
  ])
  const areas = await stored(1)
  expect(areas.map(({ code }) => code).join()).toBe(
    'BOWTIE,COLLECTION,GOOD,HEIGHTS,HOLE OUTSIDE,NAMELESS,OPEN,POINTLIKE HOLE,SPIKE,STAR',
  )
  const km2 = new Map(areas.map(({ code, km2 }) => [code, km2]))
  expect(km2.get('OPEN')).toBe(km2.get('GOOD'))
  expect(km2.get('HEIGHTS')).toBe(km2.get('GOOD'))
  expect((km2.get('BOWTIE') as number) / (km2.get('GOOD') as number)).toBeCloseTo(0.5, 2)
})

test('parents are found by code, and by the largest overlap where there is none of that code', async () => {
  await load([area('W', rectangle(37, 8, 38, 9)), area('E', rectangle(38, 8, 39, 9))])
  const report = await load(
    [
      area('1', rectangle(37.1, 8.1, 37.2, 8.2), { parent_code: 'W' }),
      area('2', rectangle(37.7, 8.1, 38.2, 8.2), { parent_code: 'E' }),
      area('3', rectangle(37.7, 8.3, 38.2, 8.4), { parent_code: 'GONE' }),
      area('4', rectangle(37.9, 8.5, 38.2, 8.6), { parent_code: null }),
      area('5', rectangle(40, 8, 41, 9)),
    ],
    2,
  )
  expect(await stored(2)).toEqual([
    { code: '1', km2: 122, parent: 'W' },
    { code: '2', km2: 609, parent: 'E' },
    { code: '3', km2: 609, parent: 'W' },
    { code: '4', km2: 365, parent: 'E' },
    { code: '5', km2: 12178, parent: null },
  ])
  expect(report?.reparented).toEqual([
    { area: '3', reason: 'its parent GONE is not there; it lies mostly in W' },
    { area: '4', reason: 'it names no parent; it lies mostly in E' },
    { area: '5', reason: 'it names no parent; and it lies in no area of level 1 of Ethiopia' },
  ])
})

test('parents that are replaced keep the areas below, which are linked anew where their parent is gone', async () => {
  await load([area('W', rectangle(37, 8, 38, 9)), area('E', rectangle(38, 8, 39, 9))])
  const districts = [
    area('1', rectangle(37, 8, 38, 9), { parent_code: 'W' }),
    area('2', rectangle(38, 8, 39, 9), { parent_code: 'E' }),
  ]
  await load(districts, 2)
  const report = await load([area('W', rectangle(37, 8, 38, 9)), area('NEW', rectangle(38, 8, 39, 9))])
  expect(report).toMatchObject({ added: 1, updated: 1, removed: 1 })
  expect(report?.relinked).toEqual([{ area: '2', reason: 'it is in NEW now' }])
  expect((await stored(2)).map(({ parent }) => parent)).toEqual(['W', 'NEW'])
  await expect(load([area('X', rectangle(37, 8, 39, 9))], 1, { strict: true })).rejects.toThrow(
    '2 areas are of level 2 and would lose their parent (1: it is in X now; 2: it is in X now)',
  )
})

test('a dry run reports the same and writes nothing', async () => {
  const before = [area('W', rectangle(37, 8, 38, 9)), area('E', rectangle(38, 8, 39, 9))]
  await load(before)
  const after = [
    area('W', rectangle(37, 8, 38, 10)),
    area('N', rectangle(38, 8, 39, 9)),
    area('NOTHING', null),
  ]
  const areas = await stored(1)
  const dry = await load(after, 1, { dryRun: true })
  expect(await stored(1)).toEqual(areas)
  expect(await load(before)).toBeUndefined()
  expect(await load(after)).toEqual(dry)
  expect((await stored(1)).map(({ code }) => code)).toEqual(['N', 'W'])
})

test('real boundaries take the place of approximate ones, and of those below', async () => {
  await seedAreas(database)
  await expect(load([area('1', rectangle(37, 8, 38, 9))], 2)).rejects.toThrow(
    'Level 1 of Ethiopia holds nothing but approximate areas: load it first, for the areas of level 2 lie in its areas.',
  )
  const report = await load([area('W', rectangle(37, 8, 38, 9))])
  expect(report).toMatchObject({ added: 1, removed: 14, approximateDeleted: [2, 3] })
  await seedAreas(database)
  const sets = database.writer.selectFrom('boundary_set').select(['level', 'approximate']).orderBy('level')
  expect(await sets.where('country_code', '=', 'eth').execute()).toEqual([
    { level: 0, approximate: false },
    { level: 1, approximate: false },
  ])
})
