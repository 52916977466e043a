import iconv from 'iconv-lite'
import type { LoadRequest } from '#src/ingest/boundaries/load.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { type Rectangle, ringOf } from '#test/setup/square.ts'
import { clockwise, shapefileParts, writeShapefile, zipOf } from './shapefile.ts'

const WEST = rectangle(37, 8, 38, 9)
export const EAST = rectangle(38, 8, 39, 9)
const collection = (features: object[], more: object = {}) =>
  JSON.stringify({ type: 'FeatureCollection', ...more, features })
export const region = (code: unknown, geometry: object = WEST, more: object = {}) =>
  feature({ code, name: `Region ${code}`, ...more }, geometry)
/** A rectangle as it looks when latitude comes first. */
const SWAPPED = rectangle(8, 37, 9, 38)
/** The same in metres, UTM zone 37. */
const PROJECTED = rectangle(280_000, 884_000, 390_000, 994_000)

const BOW_TIE = ringOf('37 8, 38 9, 38 8, 37 9, 37 8')
/** Where the file has a hole of 0.0099 square degrees, the repair makes land: of 0.9901 there are 1.0099. */
const HOLE_OUTSIDE = [WEST, rectangle(38.1, 9, 38.199, 9.1)].map(({ coordinates: [ring] }) => ring)

const byName = (name: string) => ({ crs: { type: 'name', properties: { name } } })
const polygon = (...coordinates: unknown[]) => ({ type: 'Polygon', coordinates })

const REGIONS = [region('A'), region('B', EAST)]
const shapeOf = (CODE: string, shape: Rectangle) => ({
  properties: { CODE, NAME: CODE },
  ring: clockwise(shape),
})
/** A file of shapes of two regions, and how another one is packed. */
const SHAPES = shapefileParts(
  [WEST, EAST].map((shape, index) => shapeOf('AB'[index] as string, shape)),
) as Record<'shp' | 'dbf' | 'prj', Buffer>
const ONE = shapefileParts([shapeOf('A', WEST)])

interface Case extends Partial<LoadRequest> {
  content?: string | Buffer | object[]
  /** Of a file that is not called `areas.geojson`. */
  file?: () => Promise<string>
}

const shapefile = (parts: Record<string, Buffer>): Case => ({ file: () => writeShapefile(parts) })
/** Whoever believes what a header says asks for more memory than there is, or reads round in circles. */
const damaged = (part: 'shp' | 'dbf', change: (bytes: Buffer) => unknown): Case => {
  const bytes = Buffer.from(SHAPES[part])
  change(bytes)
  return shapefile({ ...SHAPES, [part]: bytes })
}
const archive = (content: Buffer): Case => ({ file: () => boundaryFile(content, 'a.zip') })

export const CASES: Record<string, Case> = {
  'an empty file': { content: '' },
  blanks: { content: ' \n' },
  'a list': { content: '[1, 2]' },
  HTML: { content: '<html></html>' },
  'an archive': { content: Buffer.from('PK\x03\x04\x14\0') },
  'texts in Latin-1': { content: Buffer.from(collection([region('S\u00e9gou')]), 'latin1') },
  'UTF-16 that is cut off': {
    content: iconv.encode(collection(REGIONS), 'utf-16le', { addBOM: true }).subarray(0, -1),
  },
  'UTF-16 behind UTF-8': {
    content: Buffer.concat([
      Buffer.from(collection(REGIONS).slice(0, -1)),
      iconv.encode(',"a":1}', 'utf-16le'),
    ]),
  },
  'Windows-1252 behind UTF-8': {
    content: Buffer.concat([
      Buffer.from('{"a":"é",\n'),
      Buffer.from(collection([region('\u00e9')]).slice(1), 'latin1'),
    ]),
  },
  'names of damaged letters, where nothing may be': {
    content: [region('A', WEST, { name: 'SÃ©gou' })],
    strict: true,
  },
  'texts in Shift JIS': { content: iconv.encode(collection([region('A'), region('日本')]), 'shift_jis') },
  'a second feature that is cut off': { content: collection(REGIONS).slice(0, -60) },
  'a last brace that is cut off': { content: collection([region('A')]).slice(0, -1) },
  'two documents': { content: collection([region('A')]).repeat(2) },
  'a geometry alone': { content: JSON.stringify(WEST) },
  TopoJSON: { content: '{"type":"Topology","objects":{},"arcs":[]}' },
  'no features': { content: [] },
  'a geometry among the features': { content: [WEST] },
  'null among the features': { content: '{"type":"FeatureCollection","features":[null]}' },
  'features that are no list': {
    content: '{"type":"FeatureCollection","features":{"a":{"type":"Feature"}}}',
  },
  'swapped axes': { content: [region('A', SWAPPED)] },
  metres: { content: [region('A', PROJECTED)] },
  'longitudes from 0 to 360': { content: [region('A', rectangle(358, 8, 359, 9))], country: 'gha' },
  'longitudes beyond 360': { content: [region('A', rectangle(359, 8, 361, 9))], country: 'gha' },
  'a CRS of metres': { content: collection([region('A', PROJECTED)], byName('urn:ogc:def:crs:EPSG::32637')) },
  'a place in another country': { content: [region('A', rectangle(36, -2, 37, -1))] },
  'an area that says it is of another country': { content: [region('A', WEST, { iso3: 'KEN' })] },
  'an area that says it is of another level': { content: [region('A', WEST, { level: 2 })] },
  'an area of another level of geoBoundaries': {
    content: [feature({ shapeID: '1', shapeName: 'A', shapeType: 'ADM3' }, WEST)],
  },
  'an area of another level of COD-AB': {
    content: [feature({ ADM2_EN: 'A', ADM2_PCODE: 'ET01', ADM1_PCODE: 'ET' }, WEST)],
  },
  'two countries': { content: REGIONS, level: 0 },
  'a code twice': { content: [region('A'), region('A', EAST)] },
  'two codes twice': { content: ['A', 'B', 'B', 'A', 'C'].map((code) => region(code)) },
  'properties that are not known': { content: [feature({ id: 1, label: 'x' }, WEST)] },
  'no properties': { content: [feature(null, WEST)] },
  'a property that there is not': { content: [region('A')], properties: { code: 'PCODE' } },
  'a point': { content: [region('A', { type: 'Point', coordinates: [38, 9] })] },
  'no codes': { content: [region(null), region('', EAST)] },
  'coordinates in quotes': { content: [region('A', polygon([['37', '8']]))] },
  'a country that is not known': { content: [region('A')], country: 'uga' },
  'a level above which there is none': { content: [region('A')], level: 3 },
  'parents that there are not': { content: [region('X', WEST, { parent_code: 'ET99' })], level: 2 },
  'areas beside all parents': { content: [region('X', rectangle(44, 6, 45, 7))], level: 2 },
  'areas that are their own parents': { content: [region('OLD1'), region('OLD2', EAST)], level: 2 },
  'repairs that change much': {
    content: [
      region('BOW', polygon(BOW_TIE)),
      region('HOLE', polygon(...HOLE_OUTSIDE)),
      // Without a code it is dropped, and not repaired.
      region(null, polygon(BOW_TIE.map((at) => at.map((degrees) => degrees + 1)))),
    ],
  },
  'a repair, where there may be none': { content: [region('A', polygon(BOW_TIE))], strict: true },
  'no geometry, where all are needed': {
    content: [region('A'), feature({ code: 'B', name: 'B' }, null)],
    strict: true,
  },
  'shapes in metres': shapefile({ ...SHAPES, prj: Buffer.from('PROJCS["UTM_37N",GEOGCS["GCS_WGS_1984"]]') }),
  'shapes of another datum': shapefile({
    ...SHAPES,
    prj: Buffer.from('GEOGCS["GCS_Adindan",DATUM["D_Adindan"]]'),
  }),
  'shapes that are cut off': shapefile({ ...SHAPES, shp: SHAPES.shp.subarray(0, -20) }),
  'shapes without records': shapefile({ shp: SHAPES.shp }),
  'shapes with fewer records': shapefile({ ...SHAPES, dbf: ONE.dbf as Buffer }),
  'shapes without a CRS, where nothing may be guessed': {
    ...shapefile({ shp: SHAPES.shp, dbf: SHAPES.dbf }),
    strict: true,
  },
  'a shape of 2 GB': damaged('shp', (bytes) => bytes.writeInt32BE(0x3fff_ffff, 104)),
  'a shape of less than no bytes': damaged('shp', (bytes) => bytes.writeInt32BE(-4, 104)),
  'a shape of thousands of millions of rings': damaged('shp', (bytes) =>
    bytes.writeInt32LE(0x7fff_ffff, 144),
  ),
  'a shape of more rings than positions': damaged('shp', (bytes) => bytes.writeInt32LE(0, 148)),
  'a shape whose rings lie upon each other': damaged('shp', (bytes) => bytes.writeInt32LE(6, 152)),
  'four thousand million records of no bytes': damaged('dbf', (bytes) => {
    bytes.writeUInt32LE(0xffff_ffff, 4)
    bytes.writeUInt16LE(0, 10)
  }),
  'an archive of shapes that is cut off': archive(zipOf({ a: SHAPES }).subarray(0, 300)),
  'an archive of nothing': archive(zipOf({})),
  'an archive of shapes of unclear level': archive(zipOf({ a: SHAPES, b: SHAPES })),
}
