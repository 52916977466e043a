// Runs on both databases: geometry is repaired, linked and coded by statements that no request sends.
import { writeFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { sql } from 'kysely'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import type { Database } from '#src/data/database.ts'
import type { FileReport, LoadRequest } from '#src/ingest/boundaries/load.ts'
import type { AreaIssue } from '#src/ingest/boundaries/queries.ts'
import { codeOfName } from '#src/ingest/boundaries/replace.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { clockwise, shapefileParts, writeShapefile, zipOf } from './shapefile.ts'

const opened = openDatabase('empty')
let database: Database
beforeAll(async () => {
  database = opened.database
})
beforeEach(() => sql`truncate admin_area, boundary_set cascade`.execute(database.writer))

/** Rings as texts: longitude and latitude, then commas between positions. */
const polygon = (...rings: string[]) => ({
  type: 'Polygon',
  coordinates: rings.map((ring) => ring.split(', ').map((position) => position.split(' ').map(Number))),
})
const area = (code: string | null, geometry: unknown, more: object = {}) =>
  feature({ code, name: code, ...more }, geometry)

test.each<[name: string, code: string | null]>([
  ['Ségou', 'SEGOU'],
  [' Addis  Ababa (city)', 'ADDIS-ABABA-CITY'],
  ["N'Djaména / 2", 'N-DJAMENA-2'],
  ['አዲስ አበባ', 'አዲስ-አበባ'],
  ['…', null],
])('the code of the name %j is %j', (name, code) => {
  expect(codeOfName(name)).toBe(code)
  expect(codeOfName(name.normalize('NFD'))).toBe(code)
})

test('areas without a code of their own get one, or are left out, as codes.txt has it', async () => {
  const FROM_NAMES = { codes: 'from-names' } as const
  const SKIP = { codes: 'skip' } as const
  const ofGeoBoundaries = (shapeID: string, shapeISO: string, west: number) =>
    feature(
      { shapeName: 'R', shapeISO, shapeID, shapeGroup: 'ETH', shapeType: 'ADM1' },
      rectangle(west, 8, west + 1, 9),
    )
  const nameless = [
    named('None', 'Ségou', 37, 8),
    named(null, 'Segou', 38, 8),
    named('', 'SEGOU', 38, 9),
    named('NULL', 'Gao', 39, 8),
    named('KAYES', 'Kayes', 40, 8),
    named('-', 'Kayes', 40, 9),
  ]
  const shared = [named('A', 'North', 37, 9), named('A', 'South', 37, 8), named('B', 'East', 38, 8)]
  const unnamed = [named('A', '…', 37, 9), named('A', '', 37, 8), named('B', 'East', 38, 8)]
  const skipped = [named('A', 'North', 37, 9), named('A', 'South', 37, 8), named(null, 'Mid', 39, 8)]
  const town = (name: string, parent_code: string | null, west: number, south: number) =>
    feature({ code: null, name, parent_code }, rectangle(west, south, west + 0.25, south + 0.25))
  const towns = [
    town('Township', 'P1', 37, 8),
    town('Township', 'P2', 38, 8),
    town('Township', 'P2', 38, 8.5),
    town('Township', null, 38.5, 8),
    town('Elsewhere', 'P1', 37.5, 8),
  ]
  const parts: [what: string, said: string][] = []
  const say = async (what: string, ...loaded: Parameters<typeof told>) =>
    parts.push([what, await told(...loaded)])
  const regions = [ofGeoBoundaries('1', 'None', 37), ofGeoBoundaries('2', 'None', 38)]
  await say('codes that are None', [...regions, ofGeoBoundaries('3', 'ET-TI', 39)])
  await say('codes from names', nameless, 1, FROM_NAMES)
  await say('codes from names in another order', nameless.toReversed(), 1, FROM_NAMES)
  await say('codes that several share', shared, 1, FROM_NAMES)
  await say('codes that several share without a name', unnamed, 1, FROM_NAMES)
  await say('areas that are left out', [...skipped, named('B', 'East', 38, 8)], 1, SKIP)
  await say('nothing but areas that are left out', skipped, 1, SKIP)
  await say('parents', [named('P1', 'One', 37, 8), named('P2', 'Two', 38, 8)])
  await say('codes from names with those of parents', towns, 2, FROM_NAMES)
  await expect(parts.map((part) => part.join(':\n')).join('\n')).toMatchFileSnapshot('codes.txt')
})

test('of a file of several countries the areas of one are loaded, as countries.txt has it', async () => {
  const [WEST, EAST, ELSEWHERE] = [rectangle(37, 8, 38, 9), rectangle(38, 8, 39, 9), rectangle(30, -1, 31, 0)]
  /** GAUL 2015 has names of countries and no codes. */
  const gaul = (ADM0_NAME: string, ADM1_CODE: number, geometry: object) =>
    feature({ ADM0_CODE: 1, ADM0_NAME, ADM1_CODE, ADM1_NAME: `Region ${ADM1_CODE}`, STATUS: 'x' }, geometry)
  const naturalEarth = (adm0_a3: string, adm1_code: string, geometry: object) =>
    feature({ adm1_code, name: adm1_code, adm0_a3, admin: adm0_a3 }, geometry)
  const own = (iso: string, id: string, geometry: object) => feature({ id, title: id, iso }, geometry)
  const [ours, others] = [gaul('Ethiopia', 3, WEST), gaul('Uganda', 4, ELSEWHERE)]
  const strict = { strict: true }
  const parts: [what: string, said: string][] = []
  const say = async (what: string, features: object[], options?: Partial<LoadRequest>) =>
    parts.push([what, await told(features, 1, options)])
  await say('by codes', [
    naturalEarth('UGA', 'UGA-1', ELSEWHERE),
    naturalEarth('ETH', 'ETH-1', WEST),
    // It reaches into the country, but says that it is of another.
    naturalEarth('SOM', 'SOM-1', EAST),
    naturalEarth('KEN', 'KEN-1', ELSEWHERE),
  ])
  await say('by names', [gaul('Uganda', 1, ELSEWHERE), gaul('ETHIOPIA', 2, WEST), gaul('Somalia', 3, EAST)])
  await say('none of it', [naturalEarth('KEN', 'KEN-1', WEST), naturalEarth('UGA', 'UGA-1', WEST)])
  await say('a name that is not known', [gaul('Abyssinia', 2, WEST)])
  await say('one of another, strictly', [ours, others], strict)
  await say('two of others, strictly', [others, ours, others], strict)
  await say('none of others, strictly', [ours], strict)
  await say(
    'codes that may mean anything, where nobody knows whose properties they are',
    [own('AMH', 'amhara', WEST), own('KEN', 'kenya', ELSEWHERE)],
    { properties: { code: 'id', name: 'title' } },
  )
  await expect(parts.map((part) => part.join(':\n')).join('\n')).toMatchFileSnapshot('countries.txt')
})

const STAR = Array.from({ length: 52 }, (_, index) => {
  const angle = (index % 51) * ((2 * Math.PI * 20) / 51)
  return `${38 + Math.cos(angle)} ${9 + Math.sin(angle)}`
}).join(', ')

const FAULTY = [
  area('GOOD', rectangle(37, 8, 38, 9)),
  // Two triangles of a quarter of the square each, which cancel each other.
  area('BOWTIE', polygon('38 8, 39 9, 39 8, 38 9, 38 8')),
  area('OPEN', polygon('39 8, 40 8, 40 9, 39 9')),
  area('HEIGHTS', polygon('40 8 5, 41 8 5, 41 9 5, 40 9 5, 40 8 5')),
  area('SPIKE', polygon('37 9, 38 9, 38 10, 39.5 10, 38 10, 37 10, 37 9')),
  // Of 1 square degree without 0.005, the hole makes 1.005.
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
  area('NAMELESS', rectangle(41, 8, 42, 9), { name: ' ' }),
  area('STAR', polygon(STAR)),
]

test('faults of areas are repaired or dropped, and areas are linked to those above, as repairs.txt has it', async () => {
  const parents = [area('W', rectangle(37, 8, 38, 9)), area('E', rectangle(38, 8, 39, 9))]
  const children = [
    area('1', rectangle(37.1, 8.1, 37.2, 8.2), { parent_code: 'W' }),
    area('2', rectangle(37.7, 8.1, 38.2, 8.2), { parent_code: 'E' }),
    area('3', rectangle(37.7, 8.3, 38.2, 8.4), { parent_code: 'GONE' }),
    area('4', rectangle(37.9, 8.5, 38.2, 8.6), { parent_code: null }),
    area('5', rectangle(40, 8, 41, 9)),
  ]
  const replacing = [area('W', rectangle(37, 8, 38, 9)), area('NEW', rectangle(38, 8, 39, 9))]
  const parts = [
    `faults:\n${await told(FAULTY, 1, { maxRepair: 1 })}`,
    `parents:\n${await told(parents)}`,
    `children:\n${await told(children, 2)}`,
    `parents of which one is replaced:\n${await told(replacing)}`,
    `a parent for all, strictly:\n${await told([area('X', rectangle(37, 8, 39, 9))], 1, { strict: true })}`,
    `children again:\n${await told(children.slice(0, 2), 2)}`,
  ]
  await expect(parts.join('\n')).toMatchFileSnapshot('repairs.txt')
})

test('areas that overlap, have codes alike or would be lost are noted or refused, as overlaps.txt has it', async () => {
  const square = (code: string, west: number, south: number, width = 1) =>
    area(code, rectangle(west, south, west + width, south + 1), { name: `Region ${code}` })
  const four = [square('A', 37, 8), square('B', 38, 8), square('C', 37, 9), square('D', 38, 9)]
  const parts: string[] = []
  const say = async (what: string, ...loaded: Parameters<typeof told>) =>
    parts.push(`${what}:\n${await told(...loaded)}`)
  await say('side by side', four, 1, { strict: true })
  await say('a border that is drawn twice', [...four.slice(1), square('A', 37, 8, 1.009)], 1, {
    strict: true,
  })
  await say('38 %, strictly', [...four.slice(1), square('A', 37, 8, 1.38)], 1, { strict: true })
  await say('38 %', [...four.slice(1), square('A', 37, 8, 1.38)])
  await say('a town in a region', [...four, square('TOWN', 37.2, 8, 0.1)])
  const many = Array.from({ length: 7 }, (_, at) => square(`T${at}`, 37.1 + at / 9, 8, 0.1))
  await say('more pairs than are named', [...four, ...many])
  await say('one geometry twice', [...four, square('E', 37, 8)])
  await say('almost one geometry', [...four, square('E', 37, 8, 1.001)])
  await say('one geometry twice, which may be', [...four, square('E', 37, 8)], 1, { allowTwins: true })
  const codes = ['a1', 'A1', 'A 01', 'A10', '\uff211', 'A-1', 'a_01', '2-12', '22-2', '2_12']
  const dashes = ['\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2212', '\ufe63', '\uff0d', '\u00ad']
  codes.push(...dashes.map((dash) => `RW${dash}1`), 'RW-1', 'RW-1-2', 'RW-12')
  const alike = codes.map((code, at) => square(code, 37 + (at % 5), 8 + Math.floor(at / 5)))
  await say('codes alike', alike)
  await say('codes alike that are loaded already', alike)
  await say('codes alike that are loaded already, strictly', alike, 1, { strict: true })
  await say('four again', four)
  const without = [...four.slice(1), area('A', { type: 'Point', coordinates: [37.5, 8.5] })]
  await say('a point in the place of an area', without)
  await say('a line in the place of an area', [
    ...four.slice(1),
    area('A', polygon('37 8, 38 9, 37 8, 37 8')),
  ])
  await say('a point beside the area', [...four, area('A', { type: 'Point', coordinates: [37.5, 8.5] })])
  await say('a point in the place of an area, which may be', without, 1, { allowLost: true })
  await expect(parts.join('\n')).toMatchFileSnapshot('overlaps.txt')
})

/** Shapes of regions as COD-AB names them; the second has none. */
const REGIONS = shapefileParts(
  ['Tigré', 'Gone', 'East'].map((ADM1_EN, index) => ({
    properties: { ADM1_PCODE: `ET0${index + 1}`, ADM1_EN, ADM0_PCODE: 'ET' },
    ring: index === 1 ? null : clockwise(rectangle(37 + index, 8, 38 + index, 9)),
  })),
)

test('a shapefile is loaded with the files beside it, also from an archive of several levels', async () => {
  const report = await loadFile(database, await writeShapefile(REGIONS), 'eth', 1)
  expect(report).toMatchObject({ added: 2, dropped: [{ area: 'ET02', reason: 'it has no geometry' }] })
  const names = database.writer.selectFrom('admin_area').select('name').orderBy('code')
  expect(await names.execute()).toEqual([{ name: 'Tigré' }, { name: 'East' }])
  const zone = { ADM2_PCODE: 'ET0101', ADM2_EN: 'Zone', ADM1_PCODE: 'ET01' }
  const archive = zipOf({
    'eth/eth_admbnda_adm1_2021': REGIONS,
    'eth/eth_admbnda_adm2_2021': shapefileParts([
      { properties: zone, ring: clockwise(rectangle(37, 8, 38, 9)) },
    ]),
    '__MACOSX/._eth_admbnda_adm2_2021': { shp: Buffer.from('x') },
  })
  const zones = await loadFile(database, await boundaryFile(archive, 'eth.zip'), 'eth', 2)
  expect(zones).toMatchObject({ added: 1, reparented: [] })
})

test('a shapefile is taken for WGS 84 where nothing says its CRS, which is noted', async () => {
  const { prj: _, ...parts } = REGIONS
  const says = 'has no CRS (.prj): its coordinates are taken for degrees of WGS 84.'
  for (const without of [parts, { ...parts, prj: Buffer.from(' ') }]) {
    const path = await writeShapefile(without)
    const report = await loadFile(database, path, 'eth', 1, { dryRun: true })
    expect(report?.notes).toEqual([`${basename(path)} ${says}`])
  }
})

test('records that are marked as deleted are left out, which is noted, and refused where shapes do not fit', async () => {
  const marked = (
    records: number[],
    change: (parts: Record<string, Buffer>) => Record<string, Buffer> = (same) => same,
  ) => {
    const dbf = Buffer.from(REGIONS.dbf as Buffer)
    for (const record of records) dbf[dbf.readUInt16LE(8) + record * dbf.readUInt16LE(10)] = 0x2a
    return writeShapefile(change({ ...REGIONS, dbf }))
  }
  const loaded = async (path: Promise<string>, options: Partial<LoadRequest> = {}) =>
    loadFile(database, await path, 'eth', 1, { dryRun: true, ...options }).catch(
      (error: Error) => error.message,
    )
  expect(await loaded(marked([1]))).toMatchObject({
    added: 2,
    dropped: [],
    notes: [
      expect.stringMatching(/^One record is marked as deleted in the \.dbf of \S+\.shp, and left out\.$/),
    ],
  })
  expect(await loaded(marked([0, 1]))).toMatchObject({
    added: 1,
    notes: [expect.stringMatching(/^2 records are/)],
  })
  expect(await loaded(marked([1]), { strict: true })).toMatch(/--strict does not let that pass/)
  expect(await loaded(marked([0, 1, 2]))).toMatch(/has no features/)
  const two = shapefileParts(
    ['Tigré', 'East'].map((NAME, at) => ({
      properties: { NAME },
      ring: clockwise(rectangle(37 + at, 8, 38 + at, 9)),
    })),
  )
  const fewer = (parts: Record<string, Buffer>) => ({ ...parts, shp: two.shp as Buffer })
  expect(await loaded(marked([2], fewer))).toMatchObject({
    added: 2,
    notes: [expect.stringMatching(/^One record is/)],
  })
  expect(await loaded(marked([0], fewer))).toMatch(
    /there are 2 shapes and more records; 1 of them marked as deleted/,
  )
})

test('names that look damaged are noted, with what mends them', async () => {
  const damaged = ['SÃ©gou', 'São', 'PrÃ©', 'PrÃ©'].map((name, at) => named(`A${at}`, name, 37 + at, 8))
  expect((await load(damaged, 1, { dryRun: true }))?.notes).toEqual([
    'Names of areas.geojson look damaged by a wrong encoding or by HTML: SÃ©gou (Ségou?), PrÃ© (Pré?). The file has them so: make it anew from its source, read as UTF-8.',
  ])
  const wrongly = { ...REGIONS, cpg: Buffer.from('1252') }
  const path = await writeShapefile(wrongly)
  expect((await loadFile(database, path, 'eth', 1, { dryRun: true }))?.notes).toEqual([
    'areas.shp says in its .cpg that its texts are in Windows-1252, but they are valid as UTF-8: if names look damaged, give --encoding utf-8.',
    'Names of areas.shp look damaged by a wrong encoding or by HTML: TigrÃ© (Tigré?). Give --encoding utf-8, or write UTF-8 into its .cpg.',
  ])
  await writeFile(path.replace(/shp$/, 'cpg'), 'UTF-8')
  expect((await loadFile(database, path, 'eth', 1, { dryRun: true }))?.notes).toEqual([])
})

test('a dry run reports the same and writes nothing', async () => {
  const before = [area('W', rectangle(37, 8, 38, 9)), area('E', rectangle(38, 8, 39, 9))]
  const after = [
    area('W', rectangle(37, 8, 38, 10)),
    area('N', rectangle(38, 8, 39, 9)),
    area('NOTHING', null),
  ]
  await load(before)
  const dry = await load(after, 1, { dryRun: true })
  expect(dry).toMatchObject({ added: 1, updated: 1, removed: 1 })
  // What is loaded already changes nothing.
  expect(await load(before)).toBeUndefined()
  expect(await load(after)).toEqual(dry)
})

const load = async (features: object[], level = 1, options: Partial<LoadRequest> = {}) =>
  loadFile(database, await boundaryFile(features), 'eth', level, options)

/** What is told of a load, and the areas of its level then: where they begin, how large they are, and in what they lie. */
async function told(features: object[], level = 1, options: Partial<LoadRequest> = {}): Promise<string> {
  const report = await load(features, level, options).catch((error: Error) => `refused: ${error.message}\n`)
  const { rows } = await sql<{ area: string }>`
    select concat_ws(' ', area.code, 'at', round(area.west::numeric, 3)::float8 || ',', round(area.south::numeric, 3)::float8 || ',', round(area.area_km2), 'km² in', coalesce(parent.code, 'none')) as area
    from admin_area as area
    left join admin_area as parent on parent.id = area.parent_id
    where area.level = ${level} and st_isvalid(area.geom)
    order by area.code collate "C"`.execute(database.writer)
  const reported = typeof report === 'string' ? report : textOf(report)
  return `${reported}${rows.map(({ area }) => `  ${area}\n`).join('')}`
}

/** Where a fault is, is said by versions of GEOS each in its way; what becomes of the star as well. */
function textOf(report: FileReport | undefined): string {
  const said = (one: string | number | AreaIssue) =>
    typeof one === 'object' ? `${one.area}, ${one.reason}` : String(one)
  const lines = Object.entries(report ?? {}).flatMap(([key, value]): string[] => {
    if (!Array.isArray(value)) return value === 0 ? [] : [`${key}: ${value}`]
    return value.map((one) => `${key}: ${said(one)}`)
  })
  return `${lines.join('\n')}\n`.replaceAll(/\[[\d. -]+\]/g, '').replace(/(?<=STAR, .*)by \S+ %/, 'somehow')
}

/** An area of a degree. */
const named = (code: string | null, name: string, west: number, south: number) =>
  area(code, rectangle(west, south, west + 1, south + 1), { name })
