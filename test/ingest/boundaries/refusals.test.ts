import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
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

interface Case {
  what: string
  content: string | Buffer
  level?: number
  options?: Partial<LoadRequest>
  says: string | RegExp
}

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

const CASES: Case[] = [
  { what: 'an empty file', content: '', says: /areas\.geojson is empty\.$/ },
  {
    what: 'blanks',
    content: ' \n',
    says: 'areas.geojson is not a FeatureCollection: boundaries are loaded from GeoJSON FeatureCollections.',
  },
  {
    what: 'HTML',
    content: '<html></html>',
    says: 'areas.geojson is not GeoJSON: at its beginning it is cut off or is not JSON.',
  },
  {
    what: 'a zip named .geojson',
    content: Buffer.from('PK\x03\x04\x14\0'),
    says: 'areas.geojson is not GeoJSON: at its beginning it is cut off or is not JSON.',
  },
  {
    what: 'texts that are not UTF-8',
    content: Buffer.from(collection([region('S\u00e9gou')]), 'latin1'),
    says: 'areas.geojson is not GeoJSON: at its beginning it is not UTF-8 (`iconv -f WINDOWS-1252 -t UTF-8` may convert it).',
  },
  {
    what: 'JSON cut off within the second feature',
    content: collection([region('A'), region('B')]).slice(0, -60),
    says: 'areas.geojson is not GeoJSON: after feature 1 it is cut off or is not JSON.',
  },
  {
    what: 'JSON that lacks its last brace',
    content: collection([region('A')]).slice(0, -1),
    says: 'areas.geojson is not GeoJSON: after feature 1 it is cut off or is not JSON.',
  },
  {
    what: 'a second document behind the first',
    content: collection([region('A')]).repeat(2),
    says: 'areas.geojson is not GeoJSON: after feature 1 it is cut off or is not JSON.',
  },
  {
    what: 'an array',
    content: '[1, 2]',
    says: 'areas.geojson is not a FeatureCollection: boundaries are loaded from GeoJSON FeatureCollections.',
  },
  {
    what: 'null',
    content: 'null',
    says: 'areas.geojson is not a FeatureCollection: boundaries are loaded from GeoJSON FeatureCollections.',
  },
  {
    what: 'a bare geometry',
    content: JSON.stringify(WEST),
    says: 'areas.geojson is a Polygon, not a FeatureCollection: boundaries are loaded from GeoJSON FeatureCollections.',
  },
  {
    what: 'TopoJSON',
    content: '{"type":"Topology","objects":{},"arcs":[]}',
    says: 'areas.geojson is TopoJSON, which is not read: `ogr2ogr -a_srs EPSG:4326 areas.gpkg areas.geojson` makes a GeoPackage of it.',
  },
  { what: 'no features', content: collection([]), says: 'areas.geojson has no features.' },
  {
    what: 'features that are none',
    content: collection([WEST]),
    says: 'areas.geojson is not GeoJSON: entry 1 of its features is not a Feature.',
  },
  {
    what: 'features that are no list',
    content: '{"type":"FeatureCollection","features":{"a":{"type":"Feature"}}}',
    says: 'areas.geojson is not GeoJSON: its features are not a list.',
  },
  {
    what: 'features that are null',
    content: '{"type":"FeatureCollection","features":[null]}',
    says: 'areas.geojson is not GeoJSON: entry 1 of its features is not a Feature.',
  },
  {
    what: 'swapped coordinates',
    content: collection([region('A', SWAPPED)]),
    says: 'A (feature 1 of areas.geojson) begins at 8, 37, which lies in Ethiopia only with the coordinates swapped: did you mean lng, lat?',
  },
  {
    what: 'a projected CRS by its coordinates',
    content: collection([region('A', PROJECTED)]),
    says: 'A (feature 1 of areas.geojson) begins at 280000, 884000, which are not degrees: convert the file to WGS 84 with `ogr2ogr -t_srs EPSG:4326`.',
  },
  {
    what: 'a projected CRS by its name',
    content: collection([region('A', PROJECTED)], {
      crs: { type: 'name', properties: { name: 'urn:ogc:def:crs:EPSG::32637' } },
    }),
    says: 'areas.geojson is in the CRS urn:ogc:def:crs:EPSG::32637, not in WGS 84: convert it with `ogr2ogr -t_srs EPSG:4326 OUT.geojson areas.geojson`.',
  },
  {
    what: 'another country by its place',
    content: collection([region('A', rectangle(36, -2, 37, -1))]),
    says: 'A (feature 1 of areas.geojson) does not lie in Ethiopia: it reaches from 36, -2 to 37, -1. It seems to be of Kenya.',
  },
  {
    what: 'another country by its property',
    content: collection([region('A', WEST, { iso3: 'KEN' })]),
    says: 'feature 1 of areas.geojson is of Kenya (KEN), not of Ethiopia.',
  },
  {
    what: 'another level by its property',
    content: collection([region('A', WEST, { level: 2 })]),
    says: 'areas.geojson holds areas of level 2, not of level 1.',
  },
  {
    what: 'another level by geoBoundaries',
    content: collection([feature({ shapeID: '1', shapeName: 'A', shapeType: 'ADM3' }, WEST)]),
    says: 'areas.geojson holds areas of level 3, not of level 1.',
  },
  {
    what: 'another level by COD-AB',
    content: collection([feature({ ADM2_EN: 'A', ADM2_PCODE: 'ET01', ADM1_PCODE: 'ET' }, WEST)]),
    says: 'areas.geojson holds areas of level 2, not of level 1.',
  },
  {
    what: 'several countries',
    content: collection([region('A'), region('B', EAST)]),
    level: 0,
    says: 'Level 0 is one area, the country; there are 2.',
  },
  {
    what: 'a code that comes twice',
    content: collection([region('A'), region('A', EAST)]),
    says: 'One code comes more than once: A; --codes from-names makes others, and --codes skip leaves such areas out.',
  },
  {
    what: 'codes that come twice',
    content: collection(['A', 'B', 'B', 'A', 'C'].map((code) => region(code))),
    says: '2 codes come more than once: A, B; --codes from-names makes others, and --codes skip leaves such areas out.',
  },
  {
    what: 'properties that mean nothing',
    content: collection([feature({ id: 1, label: 'x' }, WEST)]),
    says: 'Which properties of areas.geojson hold code and name cannot be guessed at level 1: give --code-property and --name-property. It has id, label.',
  },
  {
    what: 'no properties',
    content: collection([feature(null, WEST)]),
    says: 'Which properties of areas.geojson hold code and name cannot be guessed at level 1: give --code-property and --name-property. It has no properties at all.',
  },
  {
    what: 'a property that is not there',
    content: collection([region('A')]),
    options: { properties: { code: 'PCODE' } },
    says: 'areas.geojson has no property PCODE (--code-property); it has code, name.',
  },
  {
    what: 'points',
    content: collection([region('A', { type: 'Point', coordinates: [38, 9] })]),
    says: '1 of the features are not areas that can be loaded; A is not, because its geometry is a Point.',
  },
  {
    what: 'features without codes',
    content: collection([region(null), region('', EAST)]),
    says: '2 of the 2 features have no code: --code-property names another property, and --codes from-names makes codes from names.',
  },
  {
    what: 'coordinates that are text',
    content: collection([region('A', { type: 'Polygon', coordinates: [[['37', '8']]] })]),
    says: 'feature 1 of areas.geojson: the coordinates ["37","8"] are not two numbers.',
  },
  {
    what: 'an unknown country',
    content: collection([region('A')]),
    options: { country: 'uga' },
    says: '--country must be one of eth (Ethiopia), gha (Ghana), ken (Kenya), rwa (Rwanda), not uga.',
  },
  {
    what: 'level 3 without level 2',
    content: collection([region('A')]),
    level: 3,
    says: 'Level 2 of Ethiopia is not loaded: load it first, for the areas of level 3 lie in its areas.',
  },
  {
    what: 'parents of other codes',
    content: collection([region('X', WEST, { parent_code: 'ET99' })]),
    level: 2,
    says: "No areas of level 1 of Ethiopia have the parents' codes ET99: are these areas of level 2? If they are, --parent-property none links them by overlap.",
  },
  {
    what: 'areas outside all of the level above',
    content: collection([region('X', rectangle(44, 6, 45, 7))]),
    level: 2,
    says: '1 of the areas lie in none of the areas of level 1 of Ethiopia: X.',
  },
  {
    what: 'level 1 again as level 2',
    content: collection([region('OLD1'), region('OLD2', EAST)]),
    level: 2,
    says: 'These areas are already loaded as level 1 of Ethiopia: they are not of level 2.',
  },
  {
    what: 'rings whose repair changes the area much',
    content: collection([
      region('BOW', { type: 'Polygon', coordinates: [BOW_TIE] }),
      region('HOLE', { type: 'Polygon', coordinates: HOLE_OUTSIDE }),
      // Without a code it is dropped, and not repaired.
      region(null, { type: 'Polygon', coordinates: [BOW_TIE.map((at) => at.map((degrees) => degrees + 1))] }),
    ]),
    says: /^The repair of 2 areas changes them by more than 1 % \(BOW: Self-intersection\[37.5 8.5\], its area changes by 100.00 %; HOLE: Hole lies outside shell\[.*\], its area changes by 1.96 %\): mend the file, or let it pass by --max-repair\.$/,
  },
  {
    what: 'with --strict, an invalid ring',
    content: collection([region('A', { type: 'Polygon', coordinates: [BOW_TIE] })]),
    options: { strict: true },
    says: /^One area is not valid \(A: Self-intersection\[37\.5 8\.5\], its area .*\): rejected by --strict\.$/,
  },
  {
    what: 'with --strict, a null geometry',
    content: collection([region('A'), feature({ code: 'B', name: 'B' }, null)]),
    options: { strict: true },
    says: 'One area is not usable (B: it has no geometry): rejected by --strict.',
  },
]

describe('a file that cannot be loaded is refused in one sentence, and nothing changes', () => {
  let opened: OpenTestDatabase
  let database: Database
  let before: unknown

  beforeAll(async () => {
    opened = await openTestDatabase('empty')
    database = opened.database
    const loaded = [region('OLD1'), region('OLD2', EAST)]
    await loadFile(database, await boundaryFile(loaded), 'eth', 1)
    before = await snapshot()
  })
  afterAll(() => opened.close())

  async function snapshot(): Promise<unknown> {
    const { rows } = await sql`
      select area.*, boundary_set.*, piece.geom
      from admin_area as area
      join boundary_set using (country_code, level)
      join admin_area_piece as piece on piece.admin_area_id = area.id`.execute(database.writer)
    return rows
  }

  test.each(CASES)('$what', async ({ content, level = 1, options, says }) => {
    const failure = await boundaryFile(content)
      .then((path) => loadFile(database, path, 'eth', level, options))
      .then(
        () => 'nothing was refused',
        (error) => error,
      )
    expect(failure).toBeInstanceOf(OperatorError)
    const { message } = failure as Error
    expect(message.split('\n')).toHaveLength(1)
    if (typeof says === 'string') expect(message).toBe(says)
    else expect(message).toMatch(says)
    expect(await snapshot()).toEqual(before)
  })
})
