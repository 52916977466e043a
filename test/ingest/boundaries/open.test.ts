import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { OperatorError } from '#src/errors.ts'
import { type FeatureReading, isWgs84Wkt } from '#src/ingest/boundaries/feature.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { readText } from '#src/ingest/boundaries/properties.ts'
import { givenEncoding } from '#src/ingest/boundaries/shapefile.ts'
import { deflatedZeros, zipOfPacked } from '#test/ingest/bombs.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { geoPackageOf } from './geopackage.ts'
import { shapefileParts, WGS84_PRJ, zipOf } from './shapefile.ts'

function collection(name: string): Buffer {
  const features = [feature({ code: 'A', name }, rectangle(37, 8, 38, 9))]
  return Buffer.from(JSON.stringify({ type: 'FeatureCollection', features }))
}

/** An archive of files; texts are names of the one area of a collection. */
function archive(files: Record<string, Buffer | string>): Promise<string> {
  const entries = Object.entries(files).map(([name, content]) => [
    name,
    new Uint8Array(typeof content === 'string' ? collection(content) : content),
  ])
  return boundaryFile(Buffer.from(zipSync(Object.fromEntries(entries))), 'areas.zip')
}

const { shp, dbf } = shapefileParts([{ properties: { NAME: 'shape' }, ring: null }]) as Record<string, Buffer>

test.each<[files: Record<string, Buffer | string>, reading: Partial<FeatureReading>, name: string]>([
  // As GADM packs it.
  [{ 'gadm41_ETH_1.json': 'Tigré', 'license.txt': '...', '__MACOSX/._gadm41_ETH_1.json': 'x' }, {}, 'Tigré'],
  [{ 'gadm41_ETH_1.json': 'region', 'gadm41_ETH_2.json': 'zone' }, { level: 2 }, 'zone'],
  [{ 'gadm41_ETH_1.json': 'region', 'gadm41_ETH_2.json': 'zone' }, { layer: 'gadm41_ETH_2' }, 'zone'],
  // As geoBoundaries packs it.
  [
    {
      'a-ADM1.geojson': 'json',
      'a-ADM1-metaData.json': '{}',
      'a-ADM1.shp': shp as Buffer,
      'a-ADM1.dbf': dbf as Buffer,
    },
    {},
    'shape',
  ],
  [{ 'north/adm1.json': 'N', 'south/adm1.json': 'S' }, { layer: 'south/adm1' }, 'S'],
  [{ 'north/adm1.json': 'N', 'south/adm1.json': 'S' }, { layer: 'North/ADM1' }, 'N'],
  // The level is that of the name, not of the folder.
  [
    { 'adm2/eth_adm1.json': 'region', 'adm2/old/eth_adm1.json': 'old', 'adm2/eth_adm2.json': 'zone' },
    { level: 2 },
    'zone',
  ],
  [{ 'a.json': 'J', 'a.geojson': 'G' }, { layer: 'a.geojson' }, 'G'],
  [{ 'Areas.json': 'A', 'areas.json': 'a' }, { layer: 'areas' }, 'a'],
])('of the files %j in an archive, with %j the area %s is read', async (files, reading, name) => {
  expect(await namesIn(await archive(files), reading)).toBe(name)
})

const IN_FOLDERS = { 'north/adm1.json': 'N', 'south/adm1.json': 'S' }
const ENCODED = { encoding: givenEncoding('1252') }
const BOMB = [{ name: 'a.json', data: deflatedZeros(1e6), bytes: 10 }]
/** A shapefile that says it unpacks into 1.8 GB. */
const HUGE = ['a.shp', 'a.dbf'].map((name) => ({ name, data: deflatedZeros(1e6), bytes: 1.8e9 }))
const ROW_OF_30_MB =
  'CREATE TABLE areas (geom BLOB, code TEXT); INSERT INTO areas VALUES (zeroblob(30000000), NULL)'

/** A collection whose only feature has coordinates as they are written. */
const withCoordinates = (text: string) =>
  boundaryFile(
    `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Polygon","coordinates":${text}}}]}`,
  )
const OTHER_FORMATS = [
  'kml',
  'KMZ',
  'fgb',
  'topojson',
  'parquet',
  'geojsonl',
  'ndjson',
  'gml',
  'tab',
  'mif',
  'sqlite',
  'csv',
  'TSV',
  'gpx',
  'gdb',
  'dxf',
]

const FOLDER = join(import.meta.dirname, '../../fixtures/boundaries')
const fixture = async (name: string) => join(FOLDER, name)
const ROWS = readFileSync(join(FOLDER, 'rows.gpkg'))
/** A page of 512 bytes of SQLite that has others below it. */
const INTERIOR = 0x05

const geoPackage = (bytes: Buffer) => boundaryFile(bytes, 'areas.gpkg')

/** A fixture after something was done to its bytes. */
function changed(name: string, change: (bytes: Buffer) => unknown): Promise<string> {
  const bytes = readFileSync(join(FOLDER, `${name}.gpkg`))
  change(bytes)
  return geoPackage(bytes)
}

function tableOf(columns: number): string {
  return `CREATE TABLE areas (geom BLOB${Array.from({ length: columns - 1 }, (_, index) => `, c${index}`).join('')})`
}

function rowsOfNothing(count: number): string {
  return `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count}) INSERT INTO areas (geom) SELECT NULL FROM n`
}

const REFUSED: Record<string, [path: Promise<string>, reading?: Partial<FeatureReading>]> = {
  'several layers of unclear level': [archive(IN_FOLDERS)],
  'a layer whose folder is not named': [archive(IN_FOLDERS), { layer: 'adm1' }],
  'a layer whose ending is not named': [archive({ 'a.json': 'J', 'a.geojson': 'G' }), { layer: 'a' }],
  'a layer in letters of another case': [
    archive({ 'Areas.json': 'A', 'areas.json': 'a' }),
    { layer: 'AREAS' },
  ],
  'an archive of a GeoPackage': [archive({ 'a.gpkg': 'x' })],
  'an archive of KML beside a text': [archive({ 'a b/License.txt': '', 'a b/areas.kml': '' })],
  'an archive of an archive': [archive({ 'a b/inner.zip': 'x' })],
  'an archive of a file geodatabase': [archive({ 'a.gdb/gdb': '', 'a.gdb/a00000001.gdbtable': '' })],
  'JSON of Esri': [boundaryFile('{"features":[{"attributes":{}}]}')],
  'an archive of GeoJSON that is cut off': [archive({ 'a.json': collection('x').subarray(0, 90) })],
  'an archive of more than it says': [boundaryFile(zipOfPacked(BOMB), 'areas.zip')],
  'an archive of 1.8 GB': [boundaryFile(zipOfPacked(HUGE), 'areas.zip')],
  'GeoJSON of a million lists in each other': [withCoordinates('['.repeat(1e6))],
  'GeoJSON of a text of 30 MB': [withCoordinates(`"${'x'.repeat(30e6)}"`)],
  'a GeoPackage with a row of 30 MB': [geoPackageOf({ sql: ROW_OF_30_MB }).then(geoPackage)],
  'a layer of GeoJSON': [boundaryFile([]), { layer: 'a' }],
  'an encoding of GeoJSON': [boundaryFile([]), ENCODED],
  'an encoding of GeoJSON in an archive': [archive({ 'a.json': 'x' }), ENCODED],
  'a GeoPackage of layers of unclear level': [fixture('layers.gpkg'), { level: 3 }],
  'a GeoPackage without the layer': [fixture('layers.gpkg'), { layer: 'adm1' }],
  'a GeoPackage in another CRS': [fixture('layers.gpkg'), { layer: 'in utm' }],
  'a GeoPackage whose layer is a view': [fixture('layers.gpkg'), { layer: 'seen' }],
  'a GeoPackage of blanks': [geoPackage(Buffer.alloc(5000, ' '))],
  'a GeoPackage of a header': [geoPackage(ROWS.subarray(0, 100))],
  'half a GeoPackage': [geoPackage(ROWS.subarray(0, 40 * 512))],
  'a GeoPackage with pages of 3 bytes': [changed('rows', (bytes) => bytes.writeUInt16BE(3, 16))],
  'a GeoPackage whose pages lead back to themselves': [
    changed('rows', (bytes) => {
      for (let at = 512; at < bytes.length; at += 512) {
        if (bytes[at] === INTERIOR) bytes.writeUInt32BE(at / 512 + 1, at + 8)
      }
    }),
  ],
  'a GeoPackage with a geometry of 16 million rings': [
    // Behind a header of 40 bytes, the order of bytes and the type there is how many rings it has.
    changed('shapes', (bytes) => bytes.writeUInt32LE(16_000_000, bytes.indexOf(Buffer.from('GP\0')) + 45)),
  ],
  'another file of SQLite': [
    geoPackageOf({ sql: 'DROP TABLE gpkg_geometry_columns; CREATE TABLE areas (geom)' }).then(geoPackage),
  ],
  'a GeoPackage whose columns are computed': [
    geoPackageOf({ sql: 'CREATE TABLE areas (geom BLOB, code AS (zeroblob(1000000000)))' }).then(geoPackage),
  ],
  'a GeoPackage of 8,000 rows of nothing in 2,000 columns': [
    geoPackageOf({
      sql: `CREATE TABLE areas (geom); ${rowsOfNothing(8000)}`,
      said: tableOf(2000),
    }).then(geoPackage),
  ],
  'an encoding that is not known, by the label': [fixture('encoding-unknown-label.zip')],
  'texts that are not in UTF-8, as the label says': [fixture('encoding-wrongly-utf-8.zip')],
  'texts that are not in UTF-8, as the operator says': [
    fixture('encoding-unlabelled-1252.zip'),
    { encoding: givenEncoding('utf-8') },
  ],
  'a packed file that is cut off': [boundaryFile(gzipSync(collection('A')).subarray(0, 40), 'areas.json.gz')],
  'a packed shapefile': [boundaryFile(gzipSync('x'), 'areas.shp.gz')],
  'a packed folder': [boundaryFile(gzipSync('x'), 'areas.tar.gz')],
  'a path of GDAL': [Promise.resolve('/vsizip/areas.zip/areas.shp')],
  'a file that is not there': [Promise.resolve('/nowhere/a.geojson')],
  ...Object.fromEntries(OTHER_FORMATS.map((ending) => [ending, [boundaryFile('x', `areas.${ending}`)]])),
}

test('signs that are not seen are dropped from names, but for those that join letters', () => {
  const unseen = '\u200b\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff\0'
  const name = ['\u202eSe\u0301', unseen, 'gou ', unseen].join('')
  expect(readText({ name }, ['name'])).toBe('Ségou')
  expect(readText({ name: ` ${unseen} ` }, ['name'])).toBeUndefined()
  expect(readText({ name: 'ක්\u200dෂ می\u200cخ' }, ['name'])).toBe('ක්\u200dෂ می\u200cخ')
})

test('a collection that is packed with gzip is read as it would be unpacked', async () => {
  const path = await boundaryFile(gzipSync(collection('Tigré')), 'areas.geojson.gz')
  expect(await namesIn(path)).toBe('Tigré')
})

test('a code that is a number keeps its digits', async () => {
  const digits = ['12345678901234567890', '9999999999999999', '9007199254740991', '12', '1e3', '1.50']
  const features = digits.map((code) =>
    JSON.stringify(feature({ code: 0, name: 'A' }, rectangle(37, 8, 38, 9))).replace(
      '"code":0',
      `"code":${code}`,
    ),
  )
  const text = `{"type":"FeatureCollection","features":[${features.join()}]}`
  const file = await openBoundaryFile(await boundaryFile(Buffer.from(text), 'areas.json'), { level: 1 })
  const codes: unknown[] = []
  for await (const { properties } of file.features(() => {})) codes.push(readText(properties, ['code']))
  expect(codes).toEqual(['12345678901234567890', '9999999999999999', '9007199254740991', '12', '1000', '1.5'])
})

test('a code in a column of numbers of a .dbf keeps its digits', async () => {
  const parts = shapefileParts([{ properties: { CODE: '12345678901234567890', NAME: 'A' }, ring: null }])
  // The type of the first column.
  parts.dbf?.write('N', 32 + 11)
  const file = await openBoundaryFile(await boundaryFile(zipOf({ areas: parts }), 'areas.zip'), { level: 1 })
  for await (const { properties } of file.features(() => {}))
    expect(readText(properties, ['CODE'])).toBe('12345678901234567890')
})

test('files are refused as unopened.txt has it', async () => {
  const refusals: string[] = []
  for (const [what, [path, reading]] of Object.entries(REFUSED)) {
    const message = await namesIn(await path, reading).catch((error: OperatorError) => error.message)
    refusals.push(`${what}: ${message.replaceAll(`${dirname(await path)}/`, '')}\n`)
  }
  await expect(refusals.join('')).toMatchFileSnapshot('unopened.txt')
})

test('a GeoPackage with a table of 2,000 columns is read', async () => {
  const path = await geoPackage(await geoPackageOf({ sql: `${tableOf(2000)}; ${rowsOfNothing(2)}` }))
  expect(await namesIn(path)).toBe(',')
})

/** What decides is where pages begin: half of the changes are there. */
const placeOf = (at: number, length: number) =>
  (at % 2 === 0 ? Math.floor(at / 64) * 512 + (at % 32) : at) % length

test('a GeoPackage with any bytes changed is read or refused in a sentence', async () => {
  const change = fc.record({ at: fc.nat(), byte: fc.constantFrom(0, 1, 2, 5, 13, 127, 128, 255) })
  const outcomes = { read: 0, refused: 0 }
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('rows', 'shapes'),
      fc.array(change, { minLength: 1, maxLength: 40 }),
      async (name, changes) => {
        const path = await changed(name, (bytes) => {
          for (const { at, byte } of changes) bytes[placeOf(at, bytes.length)] = byte
        })
        const outcome = await namesIn(path).catch((error: Error) => error)
        if (typeof outcome === 'string') outcomes.read++
        else {
          outcomes.refused++
          expect(outcome).toBeInstanceOf(OperatorError)
          expect(outcome.message).toMatch(/^areas\.gpkg [^\n]+\.$/)
        }
      },
    ),
    { numRuns: 150 },
  )
  expect(Math.min(outcomes.read, outcomes.refused)).toBeGreaterThan(10)
})

test('an encoding may be given for an archive of a shapefile', async () => {
  const parts = shapefileParts([{ properties: { NAME: 'S' }, ring: null }])
  expect(await namesIn(await boundaryFile(zipOf({ a: parts }), 'a.zip'), ENCODED)).toBe('S')
})

const WGS84 = '"WGS 84",DATUM["World Geodetic System 1984",ELLIPSOID["WGS 84",6378137,298.257223563]]'
const AXES = 'CS[ellipsoidal,2],AXIS["longitude",east],AXIS["latitude",north]'
const ROTATED = `GEOGCRS["rotated",BASEGEOGCRS[${WGS84}],
  DERIVINGCONVERSION["Pole rotation",METHOD["PROJ ob_tran o_proj=longlat"],PARAMETER["o_lat_p",30]],${AXES}]`

test.each<[what: string, wkt: string, isWgs84: boolean]>([
  ['WGS 84 of version 1', WGS84_PRJ, true],
  ['WGS 84 of version 2', `GEOGCRS[${WGS84},${AXES}]`, true],
  ['degrees of another pole', ROTATED, false],
  ['degrees of another pole behind blanks', `\n ${ROTATED}`, false],
  [
    'degrees of another pole as GDAL wrote them once',
    `${WGS84_PRJ.slice(0, -1)},EXTENSION["PROJ4","+proj=ob_tran +o_proj=longlat +o_lat_p=30"]]`,
    false,
  ],
  ['metres', `PROJCS["UTM",${WGS84_PRJ}]`, false],
])('longitude and latitude of WGS 84 are told from others: %s', (_, wkt, isWgs84) => {
  expect(isWgs84Wkt(wkt)).toBe(isWgs84)
})

async function namesIn(path: string, reading: Partial<FeatureReading> = {}): Promise<string> {
  const file = await openBoundaryFile(path, { level: 1, ...reading })
  const names: unknown[] = []
  for await (const { properties } of file.features(() => {})) names.push(properties.name ?? properties.NAME)
  return names.join()
}
