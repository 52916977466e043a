import { type Kysely, sql } from 'kysely'
import { beforeAll, expect, test } from 'vitest'
import { addCrs, isCrs, listAddedCrs, sridOfCode, sridOfText } from '#src/data/crs.ts'
import type { Tables } from '#src/data/tables.ts'
import { findContradiction } from '#src/ingest/geotiff/crs.ts'
import { ingestManifest, kindFixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { TAGS, writeTiff } from '#test/ingest/tiff.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openDatabase } from '#test/setup/open-service.ts'

const HOMOLOSINE = { wkt: '', proj: '+proj=igh +lon_0=0 +datum=WGS84 +units=m +no_defs' }
const ALBERS = {
  wkt: 'PROJCS["Africa",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Albers"],PARAMETER["False_Easting",0.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",25.0],PARAMETER["Standard_Parallel_1",20.0],PARAMETER["Standard_Parallel_2",-23.0],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]',
  proj: '',
}

const opened = openDatabase('empty')
let db: Kysely<Tables>
beforeAll(async () => {
  db = opened.database.writer
})

test('a CRS by a PROJ string or by WKT is added once, under an id of its own, and is where GDAL has it', async () => {
  const homolosine = await sridOfText(db, HOMOLOSINE, 'a.tif')
  const albers = await sridOfText(db, ALBERS, 'a.tif')
  expect([homolosine, albers]).toEqual([967_842, 960_705])
  expect(await placeIn(homolosine)).toEqual({ x: 4219176, y: 1001875 })
  expect(await placeIn(albers)).toEqual({ x: 1353462, y: 1058359 })
  expect(await Promise.all([1, 2, 3].map(() => sridOfText(db, HOMOLOSINE, 'b.tif')))).toEqual(
    Array(3).fill(homolosine),
  )
})

test('a CRS whose id is taken by another gets the next one', async () => {
  const text = { wkt: '', proj: '+proj=igh +lon_0=5 +datum=WGS84' }
  await sql`insert into spatial_ref_sys (srid, srtext, proj4text) values (${956_509}::integer, '', 'another')`.execute(
    db,
  )
  expect(await sridOfText(db, text, 'a.tif')).toBe(956_510)
})

/** A raster in the projected CRS of a code, with keys beside it: of a short value, and of a double. */
async function ingestBeside(code: number, shorts: number[][], doubles: number[][] = [], settings = {}) {
  const folder = await newFolder()
  const keys = [
    ...[[1024, 1], ...shorts, [3072, code]].map(([key, value]) => [key, 0, 1, value]),
    ...doubles.map(([key], index) => [key, TAGS.geoDoubles, 1, index]),
  ].sort(([a = 0], [b = 0]) => a - b) as number[][]
  await writeTiff(`${folder}/it.tif`, {
    width: 20,
    height: 20,
    row: () => new Float32Array(20).fill(1),
    tags: {
      [TAGS.pixelScale]: ['double', [1000, 1000, 0]],
      [TAGS.tiepoints]: ['double', [0, 0, 0, 4e5, 1e6, 0]],
      [TAGS.geoKeys]: ['short', [1, 1, 0, keys.length, ...keys.flat()]],
      [TAGS.geoDoubles]: ['double', doubles.map(([, value]) => value as number)],
    },
  })
  const manifest = await writeManifest(folder, manifestText([{ file: 'it.tif', ...settings }]))
  return ingestManifest(opened.database, manifest)
}

test.each<[what: string, key: string, code: number, shorts: number[][], doubles?: number[][]]>([
  ['kilometres', 'ProjLinearUnitsGeoKey is 9036, and its CRS EPSG:32637 has 9001', 32637, [[3076, 9036]]],
  ['feet', 'ProjLinearUnitsGeoKey is 9002, and its CRS EPSG:32637 has 9001', 32637, [[3076, 9002]]],
  ['other feet', 'ProjLinearUnitsGeoKey is 9002, and its CRS EPSG:2225 has 9003', 2225, [[3076, 9002]]],
  ['its own unit', 'ProjLinearUnitSizeGeoKey is 1000, and', 32637, [[3076, 32767]], [[3077, 1000]]],
  [
    'the ellipsoid of WGS 84',
    'GeographicTypeGeoKey is 4030, and its CRS EPSG:20137 has 4201',
    20137,
    [[2048, 4030]],
  ],
  ['another CRS', 'GeographicTypeGeoKey is 4201, and its CRS EPSG:32637 has 4326', 32637, [[2048, 4201]]],
  [
    'another datum',
    'GeogGeodeticDatumGeoKey is 6201, and its CRS EPSG:32637 has 6326',
    32637,
    [[2050, 6201]],
  ],
  [
    'another ellipsoid',
    'GeogEllipsoidGeoKey is 7012, and its CRS EPSG:32637 has 7030',
    32637,
    [[2056, 7012]],
  ],
  ['its own axis', 'GeogSemiMajorAxisGeoKey is 6378249.1', 32637, [[2048, 32767]], [[2057, 6378249.145]]],
  ['its own flattening', 'GeogInvFlatteningGeoKey is 293.465', 32637, [[2056, 32767]], [[2059, 293.465]]],
  ['kilometres, the code being of ESRI,', 'gdalwarp -t_srs ESRI:54009', 54009, [[3076, 9036]]],
])(
  'a code beside a GeoKey of %s is refused, with both and what to do',
  async (_, sentence, code, ...keys) => {
    await expect(ingestBeside(code, ...keys)).rejects.toThrow(sentence)
    await expect(ingestBeside(code, ...keys)).rejects.toThrow(
      `If the code is right, give the layer "srid: ${code}".`,
    )
  },
)

test.each<[what: string, shorts: number[][], doubles?: number[][], settings?: object]>([
  [
    'say the same',
    [
      [2048, 4326],
      [2050, 6326],
      [2056, 7030],
      [3076, 9001],
    ],
  ],
  ['say that it is on the ellipsoid of WGS 84', [[2048, 4030]]],
  ['say so of the datum', [[2050, 6030]]],
  [
    'write out the same',
    [
      [2048, 32767],
      [3076, 32767],
    ],
    [
      [2057, 6378137],
      [2059, 298.2572236],
      [3077, 1],
    ],
  ],
  [
    'GDAL does not heed',
    [
      [2051, 8903],
      [2054, 9105],
      [3074, 16036],
      [4099, 9002],
    ],
    [[2057, 6378249.145]],
  ],
  [
    'the srid of the manifest overrides',
    [
      [2048, 4201],
      [3076, 9036],
    ],
    [],
    { srid: 32637 },
  ],
])('a code beside GeoKeys that %s is read as that code', async (_, shorts, doubles, settings) => {
  const { code } = await ingestBeside(32637, shorts, doubles, settings)
  const { rows } = await sql`
    select srid from coverage join release on release.id = release_id where code = ${code}`.execute(db)
  expect(rows).toEqual([{ srid: 32637 }])
})

test('every projected CRS of EPSG that PostGIS has is compared with each of the keys', async () => {
  const { rows } = await sql<{ srid: number; wkt: string }>`
    select srid, srtext as wkt from spatial_ref_sys where auth_name = 'EPSG' and srtext like 'PROJCS%'`.execute(
    db,
  )
  const own = 32767
  const others = [
    ...['ProjLinearUnits', 'GeographicType', 'GeogGeodeticDatum', 'GeogEllipsoid'].map((key) => ({
      [`${key}GeoKey`]: 1,
    })),
    { ProjLinearUnitsGeoKey: own, ProjLinearUnitSizeGeoKey: 2 },
    { GeographicTypeGeoKey: own, GeogSemiMajorAxisGeoKey: 1 },
    { GeogEllipsoidGeoKey: own, GeogInvFlatteningGeoKey: 1 },
  ]
  expect(rows.length).toBeGreaterThan(4000)
  expect(rows.filter(({ wkt }) => !others.every((keys) => findContradiction(keys, wkt)))).toEqual([])
})

test('codes of ESRI are known as those of EPSG are', async () => {
  expect(await Promise.all([32637, 102022, 20033].map((code) => sridOfCode(db, code)))).toEqual([
    32637,
    102022,
    undefined,
  ])
})

// The embedded database does not survive it, and the next statement gets another one.
test.skipIf(process.env.TEST_DATABASE_KIND === 'embedded')(
  'what PROJ makes nothing of is no CRS',
  async () => {
    expect(await isCrs(db, HOMOLOSINE)).toBe(true)
    expect(await isCrs(db, { wkt: '', proj: '+proj=nonsense' })).toBe(false)
    expect(await isCrs(db, { wkt: 'PROJCS["cut off"', proj: '' })).toBe(false)
  },
)

async function ingest(rasters: { file: string; srs: string }[]): Promise<void> {
  const layers = rasters.map(({ file, srs }) => ({ file: kindFixture(file), srs, input: srs }))
  const manifest = manifestText(layers, { product: 'fertilizer' })
  await ingestManifest(opened.database, await writeManifest(await newFolder(), manifest))
}

test("a copy of the data takes the CRSs of rasters along that are not PostGIS's own, whoever added them", async () => {
  const owners = { srid: 100_001, wkt: '', proj: '+proj=igh +lat_0=0 +lon_0=0 +datum=WGS84 +units=m' }
  await sql`
    insert into spatial_ref_sys (srid, srtext, proj4text)
    values (${owners.srid}::integer, '', ${owners.proj}), (920000, '', 'of the owner, and of no raster')`.execute(
    db,
  )
  await ingest([
    { file: 'crs-manifest-epsg.tif', srs: 'EPSG:32637' },
    { file: 'crs-manifest-proj.tif', srs: owners.proj },
    { file: 'crs-manifest-proj.tif', srs: HOMOLOSINE.proj },
  ])
  const added = await listAddedCrs(db)
  expect(added).toEqual([owners, { srid: 967_842, ...HOMOLOSINE }])

  await sql`delete from spatial_ref_sys where srid in (100001, 967842)`.execute(db)
  await addCrs(db, added)
  await addCrs(db, added)
  expect(await placeIn(owners.srid)).toEqual({ x: 4219176, y: 1001875 })
  expect(await placeIn(967_842)).toEqual({ x: 4219176, y: 1001875 })
})

test("a copy of the data is refused where the id of one of its CRSs is another's", async () => {
  const srid = await sridOfText(db, HOMOLOSINE, 'a.tif')
  await expect(addCrs(db, [{ srid, ...ALBERS }])).rejects.toThrow(
    `spatial_ref_sys has another CRS under the id ${srid} than the file.`,
  )
})

/** Where 38 E, 9 N lies, in whole metres; GDAL 3.6 was asked for the numbers that are expected. */
async function placeIn(srid: number): Promise<{ x: number; y: number }> {
  const { rows } = await sql<{ x: number; y: number }>`
    select round(st_x(place))::integer as x, round(st_y(place))::integer as y
    from st_transform(st_setsrid(st_makepoint(38, 9), 4326), ${srid}::integer) as place`.execute(db)
  return rows[0] as { x: number; y: number }
}
