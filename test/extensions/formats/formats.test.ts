// Runs on a server alone: what is stored of a raster is the same on both.
import { execFileSync } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { digestFile } from '#src/ingest/geotiff/source.ts'
import { ingestManifest, type LayerText, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newFolder } from '#test/setup/folders.ts'
import { zarrBytes, zarrField } from '#test/setup/zarr.ts'
import { type WrittenVariable, writeNetcdf } from './written-netcdf.ts'

/** Of Ethiopia, from south to north, and once around the Earth from Greenwich on. */
const LAT = Array.from({ length: 20 }, (_, at) => 6.25 + at / 2)
const LON = Array.from({ length: 720 }, (_, at) => 0.25 + at / 2)
const TIMES = [0, 31]

const valueAt = (time: number, lat: number, lon: number) => 1000 * (time + 1) + 20 * lat + lon

const cells = (times: number[], scale = 1) =>
  times.flatMap((_, time) => LAT.flatMap((lat) => LON.map((lon) => scale * valueAt(time, lat, lon))))

const axis = (name: string, values: number[], units: string): Record<string, WrittenVariable> => ({
  [name]: { dimensions: [name], type: 'double', values, attributes: { units } },
})

let service: TestApp
let folder: string
let temporary: string
beforeAll(async () => {
  service = await createTestApp({ template: 'empty' })
  folder = await newFolder()
  const season = writeNetcdf({
    dimensions: { time: 2, lat: LAT.length, lon: LON.length },
    variables: {
      ...axis('time', TIMES, 'days since 2026-07-01'),
      ...axis('lat', LAT, 'degrees_north'),
      ...axis('lon', LON, 'degrees_east'),
      yield: { dimensions: ['time', 'lat', 'lon'], type: 'float', values: cells(TIMES) },
      low: { dimensions: ['lat', 'lon'], type: 'float', values: cells([0], 0.5) },
      high: { dimensions: ['lat', 'lon'], type: 'float', values: cells([0], 2) },
    },
  })
  await writeFile(join(folder, 'season.nc'), season)
})
afterAll(() => service.close())
beforeEach(async () => {
  temporary = await newFolder()
  vi.stubEnv('TMPDIR', temporary)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  expect(await readdir(temporary)).toEqual([])
})

let years = 2000

async function load(...layers: LayerText[]) {
  const text = manifestText(layers, { forecast_period: `${years++}-01` })
  const { code, notes } = await ingestManifest(service.database, await writeManifest(folder, text))
  const { rows } = await sql<{ minimum: number; maximum: number; valid_count: number }>`
    select layer.minimum, layer.maximum, layer.mean, layer.valid_count
    from release join layer on layer.release_id = release.id
    where code = ${code} order by layer.ordinal`.execute(service.database.writer)
  return { rows, notes }
}

const refusalOf = async (layer: LayerText) => {
  const error = await load(layer).catch((error: Error) => error)
  expect(error).toMatchObject({ name: 'OperatorError' })
  return (error as Error).message.replaceAll(`${folder}/`, '')
}

test('a manifest takes layers, a range and times of one file, and points have its values', async () => {
  const { notes } = await load({
    ...{ file: 'season.nc', band: 'yield 2026-07-01' },
    ...{ low: { band: 'low' }, high: { band: 'high' } },
  })
  expect(notes).toEqual([expect.stringContaining('season.nc: yield names no CRS')])
  const answer = await service.get(
    `/advisory/yield/point?lat=9.3&lng=38.7&crop=wheat&country_code=eth&period=${years - 1}-01`,
  )
  expect(answer.status).toBe(200)
  expect(JSON.stringify(answer.body)).toContain(`${valueAt(0, 9.25, 38.75)}`)
})

test('files in archives and packed with gzip have the pixels that they have outside', async () => {
  const layer = { file: 'season.nc', band: '2026-08-01' }
  const { rows } = await load(layer)
  expect(rows).toMatchObject([{ valid_count: expect.anything(), minimum: valueAt(1, 6.25, 0.25) }])
  const bytes = await readFile(join(folder, 'season.nc'))
  await writeFile(join(folder, 'season.nc.gz'), gzipSync(bytes))
  await writeFile(
    join(folder, 'season.zip'),
    zipSync({ 'in/season.nc': bytes, '__MACOSX/in/._season.nc': bytes }),
  )
  for (const file of ['season.nc.gz', 'season.zip', 'season.zip/in/season.nc']) {
    expect((await load({ ...layer, file })).rows).toEqual(rows)
  }
})

test('a folder of Zarr has the digest of its files, as sha256sum has it, and is read in an archive as well', async () => {
  const path = join(folder, 'field.zarr')
  const values = Array.from({ length: LAT.length * 4 }, (_, at) => at + 1)
  const written = zarrBytes(zarrField('yield', LAT, [38, 38.5, 39, 39.5], values))
  for (const [name, bytes] of written) {
    await mkdir(join(path, name, '..'), { recursive: true })
    await writeFile(join(path, name), bytes)
  }
  const { rows } = await load({ file: 'field.zarr' })
  expect(rows).toMatchObject([{ minimum: 1, maximum: LAT.length * 4 }])
  const line = 'find * .z* -type f | LC_ALL=C sort | xargs sha256sum | sha256sum'
  const [sum] = execFileSync('sh', ['-c', line], { cwd: path, encoding: 'utf8' }).split(' ')
  expect((await digestFile(path)).sha256).toBe(sum)
  const zip = (inside: string, more: [string, Buffer][] = []) =>
    zipSync(Object.fromEntries([...written, ...more].map(([name, bytes]) => [inside + name, bytes])))
  await writeFile(join(folder, 'field.zip'), zip('a/field.zarr/'))
  for (const file of ['field.zip', 'field.zip/a/field.zarr'])
    expect((await load({ file })).rows).toEqual(rows)
  // Its content alone, and in a folder of any name.
  for (const inside of ['', 'a/b/']) {
    // With an entry of a folder, as `zip -r` has it.
    await writeFile(join(folder, 'plain.zip'), zip(inside, [['yield/', Buffer.alloc(0)]]))
    expect((await load({ file: 'plain.zip' })).rows).toEqual(rows)
    expect((await load({ file: join('plain.zip', inside) })).rows).toEqual(rows)
  }
})

test('an ESRI ASCII grid is loaded in the CRS of its .prj, also in an archive', async () => {
  const grid = 'ncols 2\nnrows 2\nxllcorner 400000\nyllcorner 900000\ncellsize 1000\n1 2 3 4\n'
  const prj =
    'PROJCS["WGS_1984_UTM_Zone_37N",GEOGCS["GCS_WGS_1984",DATUM["D_WGS_1984",SPHEROID["WGS_1984",6378137.0,298.257223563]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]],PROJECTION["Transverse_Mercator"],PARAMETER["False_Easting",500000.0],PARAMETER["False_Northing",0.0],PARAMETER["Central_Meridian",39.0],PARAMETER["Scale_Factor",0.9996],PARAMETER["Latitude_Of_Origin",0.0],UNIT["Meter",1.0]]'
  await writeFile(join(folder, 'grid.asc'), grid)
  expect(await refusalOf({ file: 'grid.asc' })).toBe(
    "grid.asc has an unknown CRS: no .prj with one lies beside it; give the layer's srid or srs.",
  )
  await writeFile(join(folder, 'grid.prj'), prj)
  const { rows } = await load({ file: 'grid.asc' })
  expect(rows).toMatchObject([{ minimum: 1, maximum: 4 }])
  const archive = { 'grid.asc': Buffer.from(grid), 'grid.prj': Buffer.from(prj) }
  await writeFile(join(folder, 'grid.zip'), zipSync(archive))
  expect((await load({ file: 'grid.zip' })).rows).toEqual(rows)
})

test('refusals name the file as the manifest does, and what there is to choose', async () => {
  expect(await refusalOf({ file: 'season.nc' })).toBe(
    'season.nc has 4 bands: say which, as in "band: yield 2026-07-01". It has 1 "yield 2026-07-01", 2 "yield 2026-08-01", 3 "low", 4 "high".',
  )
  expect(await refusalOf({ file: 'season.zip', band: 'mean' })).toContain(
    'season.zip/in/season.nc has no band "mean"',
  )
  await cp(join(folder, 'season.nc'), join(folder, 'tiff.tif'))
  expect(await load({ file: 'tiff.tif', band: 'low' })).toMatchObject({
    rows: [{ maximum: expect.any(Number) }],
  })
  await rm(join(folder, 'tiff.tif'))
})

test('where the extension is off, files and addresses are refused with what makes a GeoTIFF of them', async () => {
  vi.stubEnv(
    'EXTENSIONS',
    EXTENSIONS.filter(({ rasters }) => rasters)
      .map(({ name }) => `-${name}`)
      .join(),
  )
  expect(await refusalOf({ file: 'season.nc' })).toMatch(
    /^season\.nc is NetCDF, not a GeoTIFF: gdal_translate -co COMPRESS=DEFLATE season\.nc season\.tif makes one of it/,
  )
  expect(await refusalOf({ file: 'field.zarr' })).toMatch(
    /^field\.zarr is Zarr, not a GeoTIFF: gdal_translate /,
  )
  expect(await refusalOf({ file: 'https://example.org/a.tif' })).toContain('is not read here: download it')
})
