import { zipSync } from 'fflate'
import { expect, test } from 'vitest'
import { givenEncoding } from '#src/ingest/boundaries/encoding.ts'
import { type FeatureReading, isWgs84Wkt } from '#src/ingest/boundaries/feature.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { deflatedZeros, zipOfPacked } from '#test/ingest/bombs.ts'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { shapefileParts, WGS84_PRJ, zipOf } from '#test/setup/shapefile.ts'

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

async function namesIn(path: string, reading: Partial<FeatureReading> = {}): Promise<string> {
  const file = await openBoundaryFile(path, { level: 1, ...reading })
  const names: unknown[] = []
  for await (const { properties } of file.features(() => {})) names.push(properties.name ?? properties.NAME)
  return names.join()
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

test.each<[refusal: string | RegExp, write: () => Promise<string>, reading?: Partial<FeatureReading>]>([
  [
    'areas.zip has several layers, and it is not clear which one is of level 1: give --layer, one of north/adm1, south/adm1.',
    () => archive(IN_FOLDERS),
  ],
  [
    'areas.zip has no layer adm1 (--layer); it has north/adm1, south/adm1.',
    () => archive(IN_FOLDERS),
    { layer: 'adm1' },
  ],
  [
    'areas.zip has no layer a (--layer); it has a.json, a.geojson.',
    () => archive({ 'a.json': 'J', 'a.geojson': 'G' }),
    { layer: 'a' },
  ],
  [
    'areas.zip has several layers that AREAS may mean (--layer): Areas, areas.',
    () => archive({ 'Areas.json': 'A', 'areas.json': 'a' }),
    { layer: 'AREAS' },
  ],
  [
    'areas.zip holds a GeoPackage, which is read once it is unpacked: `unzip areas.zip`.',
    () => archive({ 'a.gpkg': 'x' }),
  ],
  [
    'areas.zip/a.json is not GeoJSON: at its beginning it is cut off or is not JSON.',
    () => archive({ 'a.json': collection('x').subarray(0, 90) }),
  ],
  [
    /^areas\.zip cannot be unpacked: too many bytes in the stream/,
    () => boundaryFile(zipOfPacked([{ name: 'a.json', data: deflatedZeros(1e6), bytes: 10 }]), 'areas.zip'),
  ],
  [
    /areas\.geojson has no layers: --layer is for GeoPackages and archives\.$/,
    () => boundaryFile([]),
    { layer: 'a' },
  ],
  [
    /areas\.geojson says what its texts are in: --encoding is for shapefiles\.$/,
    () => boundaryFile([]),
    ENCODED,
  ],
  [
    'areas.zip/a.json says what its texts are in: --encoding is for shapefiles.',
    () => archive({ 'a.json': 'x' }),
    ENCODED,
  ],
  ['/nowhere/a.geojson does not exist.', async () => '/nowhere/a.geojson'],
  [
    /areas\.dxf is neither GeoJSON \(\.geojson, \.json\), nor a shapefile \(\.shp\), nor one of them in an archive \(\.zip\), nor a GeoPackage \(\.gpkg\)\.$/,
    () => boundaryFile('x', 'areas.dxf'),
  ],
  ...(
    [
      ['areas.kml', 'KML', '-t_srs'],
      ['areas.KMZ', 'KML', '-t_srs'],
      ['areas.fgb', 'FlatGeobuf', '-t_srs'],
      ['areas.topojson', 'TopoJSON', '-a_srs'],
      ['areas.parquet', 'GeoParquet', '-t_srs'],
      ['areas.geojsonl', 'GeoJSON of one feature a line', '-t_srs'],
      ['areas.ndjson', 'GeoJSON of one feature a line', '-t_srs'],
      ['areas.gml', 'GML', '-t_srs'],
    ] as const
  ).map(([name, kind, options]): [string, () => Promise<string>] => [
    `${name} is ${kind}, which is not read: \`ogr2ogr ${options} EPSG:4326 areas.gpkg ${name}\` makes a GeoPackage of it.`,
    () => boundaryFile('x', name),
  ]),
])('a file is refused: %s', async (refusal, write, reading) => {
  await expect(write().then((path) => namesIn(path, reading))).rejects.toThrow(refusal)
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
