import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { OperatorError } from '#src/errors.ts'
import type { LoadRequest } from '#src/ingest/boundaries/load.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { type OpenTestDatabase, openTestDatabase } from '#test/setup/database.ts'

const WEST = rectangle(37, 8, 38, 9)
const EAST = rectangle(38, 8, 39, 9)
const collection = (features: object[], more: object = {}) =>
  JSON.stringify({ type: 'FeatureCollection', ...more, features })
const region = (code: unknown, geometry: object = WEST, more: object = {}) =>
  feature({ code, name: `Region ${code}`, ...more }, geometry)
/** A rectangle as it looks when latitude comes first. */
const SWAPPED = rectangle(8, 37, 9, 38)
/** The same in metres, UTM zone 37. */
const PROJECTED = rectangle(280_000, 884_000, 390_000, 994_000)

const BOW_TIE = [
  [37, 8],
  [38, 9],
  [38, 8],
  [37, 9],
  [37, 8],
] as [number, number][]
const ringOf = (...corners: Parameters<typeof rectangle>) =>
  (rectangle(...corners) as { coordinates: number[][][] }).coordinates[0]
/** Where the file has a hole of 0.0099 square degrees, the repair makes land: of 0.9901 there are 1.0099. */
const HOLE_OUTSIDE = [ringOf(37, 8, 38, 9), ringOf(38.1, 9, 38.199, 9.1)]

const NO_COLLECTION = 'boundaries are loaded from GeoJSON FeatureCollections.'
const CUT_OFF = 'it is cut off or is not JSON.'
const MEANING = 'hold code and name cannot be guessed at level 1: give --code-property and --name-property.'
const CODE_RULES = '--codes from-names makes others, and --codes skip leaves such areas out.'
const OGR2OGR = '`ogr2ogr -t_srs EPSG:4326'
const byName = (name: string) => ({ crs: { type: 'name', properties: { name } } })
const polygon = (...coordinates: unknown[]) => ({ type: 'Polygon', coordinates })
const strict: Partial<LoadRequest> = { strict: true }

type Case = [refusal: string | RegExp, content: string | Buffer | object[], options?: Partial<LoadRequest>]

const CASES: Case[] = [
  [/areas\.geojson is empty\.$/, ''],
  // Blanks, a list and null.
  ...[' \n', '[1, 2]', 'null'].map(
    (text): Case => [`areas.geojson is not a FeatureCollection: ${NO_COLLECTION}`, text],
  ),
  // HTML, and a zip archive.
  ...['<html></html>', Buffer.from('PK\x03\x04\x14\0')].map(
    (content): Case => [`areas.geojson is not GeoJSON: at its beginning ${CUT_OFF}`, content],
  ),
  [
    'areas.geojson is not GeoJSON: at its beginning it is not UTF-8 (`iconv -f WINDOWS-1252 -t UTF-8` may convert it).',
    Buffer.from(collection([region('S\u00e9gou')]), 'latin1'),
  ],
  // Cut off in the second feature or before the last brace, and a second document.
  ...[
    collection([region('A'), region('B')]).slice(0, -60),
    collection([region('A')]).slice(0, -1),
    collection([region('A')]).repeat(2),
  ].map((text): Case => [`areas.geojson is not GeoJSON: after feature 1 ${CUT_OFF}`, text]),
  [`areas.geojson is a Polygon, not a FeatureCollection: ${NO_COLLECTION}`, JSON.stringify(WEST)],
  [
    'areas.geojson is TopoJSON, which is not read: `ogr2ogr -a_srs EPSG:4326 areas.gpkg areas.geojson` makes a GeoPackage of it.',
    '{"type":"Topology","objects":{},"arcs":[]}',
  ],
  ['areas.geojson has no features.', []],
  ['areas.geojson is not GeoJSON: entry 1 of its features is not a Feature.', [WEST]],
  [
    'areas.geojson is not GeoJSON: entry 1 of its features is not a Feature.',
    '{"type":"FeatureCollection","features":[null]}',
  ],
  [
    'areas.geojson is not GeoJSON: its features are not a list.',
    '{"type":"FeatureCollection","features":{"a":{"type":"Feature"}}}',
  ],
  [
    'A (feature 1 of areas.geojson) begins at 8, 37, which lies in Ethiopia only with the coordinates swapped: did you mean lng, lat?',
    [region('A', SWAPPED)],
  ],
  [
    `A (feature 1 of areas.geojson) begins at 280000, 884000, which are not degrees: convert the file to WGS 84 with ${OGR2OGR}\`.`,
    [region('A', PROJECTED)],
  ],
  [
    `areas.geojson is in the CRS urn:ogc:def:crs:EPSG::32637, not in WGS 84: convert it with ${OGR2OGR} OUT.geojson areas.geojson\`.`,
    collection([region('A', PROJECTED)], byName('urn:ogc:def:crs:EPSG::32637')),
  ],
  [
    'A (feature 1 of areas.geojson) does not lie in Ethiopia: it reaches from 36, -2 to 37, -1. It seems to be of Kenya.',
    [region('A', rectangle(36, -2, 37, -1))],
  ],
  ['feature 1 of areas.geojson is of Kenya (KEN), not of Ethiopia.', [region('A', WEST, { iso3: 'KEN' })]],
  ['areas.geojson holds areas of level 2, not of level 1.', [region('A', WEST, { level: 2 })]],
  [
    'areas.geojson holds areas of level 3, not of level 1.',
    [feature({ shapeID: '1', shapeName: 'A', shapeType: 'ADM3' }, WEST)],
  ],
  [
    'areas.geojson holds areas of level 2, not of level 1.',
    [feature({ ADM2_EN: 'A', ADM2_PCODE: 'ET01', ADM1_PCODE: 'ET' }, WEST)],
  ],
  ['Level 0 is one area, the country; there are 2.', [region('A'), region('B', EAST)], { level: 0 }],
  [`One code comes more than once: A; ${CODE_RULES}`, [region('A'), region('A', EAST)]],
  [`2 codes come more than once: A, B; ${CODE_RULES}`, ['A', 'B', 'B', 'A', 'C'].map((code) => region(code))],
  [`Which properties of areas.geojson ${MEANING} It has id, label.`, [feature({ id: 1, label: 'x' }, WEST)]],
  [`Which properties of areas.geojson ${MEANING} It has no properties at all.`, [feature(null, WEST)]],
  [
    'areas.geojson has no property PCODE (--code-property); it has code, name.',
    [region('A')],
    { properties: { code: 'PCODE' } },
  ],
  [
    '1 of the features are not areas that can be loaded; A is not, because its geometry is a Point.',
    [region('A', { type: 'Point', coordinates: [38, 9] })],
  ],
  [
    '2 of the 2 features have no code: --code-property names another property, and --codes from-names makes codes from names.',
    [region(null), region('', EAST)],
  ],
  [
    'feature 1 of areas.geojson: the coordinates ["37","8"] are not two numbers.',
    [region('A', polygon([['37', '8']]))],
  ],
  [
    '--country must be one of eth (Ethiopia), gha (Ghana), ken (Kenya), rwa (Rwanda), not uga.',
    [region('A')],
    { country: 'uga' },
  ],
  [
    'Level 2 of Ethiopia is not loaded: load it first, for the areas of level 3 lie in its areas.',
    [region('A')],
    { level: 3 },
  ],
  [
    "No areas of level 1 of Ethiopia have the parents' codes ET99: are these areas of level 2? If they are, --parent-property none links them by overlap.",
    [region('X', WEST, { parent_code: 'ET99' })],
    { level: 2 },
  ],
  [
    '1 of the areas lie in none of the areas of level 1 of Ethiopia: X.',
    [region('X', rectangle(44, 6, 45, 7))],
    { level: 2 },
  ],
  [
    'These areas are already loaded as level 1 of Ethiopia: they are not of level 2.',
    [region('OLD1'), region('OLD2', EAST)],
    { level: 2 },
  ],
  [
    /^The repair of 2 areas changes them by more than 1 % \(BOW: Self-intersection\[37.5 8.5\], its area changes by 100.00 %; HOLE: Hole lies outside shell\[.*\], its area changes by 1.96 %\): mend the file, or let it pass by --max-repair\.$/,
    [
      region('BOW', polygon(BOW_TIE)),
      region('HOLE', polygon(...HOLE_OUTSIDE)),
      // Without a code it is dropped, and not repaired.
      region(null, polygon(BOW_TIE.map((at) => at.map((degrees) => degrees + 1)))),
    ],
  ],
  [
    /^One area is not valid \(A: Self-intersection\[37\.5 8\.5\], its area .*\): rejected by --strict\.$/,
    [region('A', polygon(BOW_TIE))],
    strict,
  ],
  [
    'One area is not usable (B: it has no geometry): rejected by --strict.',
    [region('A'), feature({ code: 'B', name: 'B' }, null)],
    strict,
  ],
]

let opened: OpenTestDatabase
let before: unknown
beforeAll(async () => {
  opened = await openTestDatabase('empty')
  await loadFile(opened.database, await boundaryFile([region('OLD1'), region('OLD2', EAST)]), 'eth', 1)
  before = await snapshot()
})
afterAll(() => opened.close())

async function snapshot(): Promise<unknown> {
  const { rows } = await sql`
    select area.*, boundary_set.*, piece.geom
    from admin_area as area
    join boundary_set using (country_code, level)
    join admin_area_piece as piece on piece.admin_area_id = area.id`.execute(opened.database.writer)
  return rows
}

test.each(CASES)(
  'a file is refused in one sentence, and nothing changes: %s',
  async (refusal, content, options) => {
    const path = await boundaryFile(content)
    const failure = await loadFile(opened.database, path, 'eth', options?.level ?? 1, options).catch(
      (error) => error,
    )
    expect(failure).toBeInstanceOf(OperatorError)
    expect(failure.message).toEqual(typeof refusal === 'string' ? refusal : expect.stringMatching(refusal))
    expect(failure.message).not.toContain('\n')
    expect(await snapshot()).toEqual(before)
  },
)
