// Runs on a server alone: what is refused never gets to the database.
import { execFileSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, ingestManifest, manifestText, writeManifest } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'

let ingest: RefusingIngest
beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(() => ingest.close())

const inFolder = (name: string) => join(ingest.folder, name)

describe('files that are no TIFFs are refused with the line that makes one of them', () => {
  test.each([
    ['rain.nc', 'CDF\x01\0\0\0\0', 'NetCDF'],
    ['rain.nc', 'CDF\x05\0\0\0\0', 'NetCDF'],
    ['rain.nc4', '\x89HDF\r\n\x1a\n', 'NetCDF or HDF5'],
    ['rain.hdf', '\x0e\x03\x13\x01', 'HDF4'],
    ['rain.grb', 'GRIB\0\0\0\x02', 'GRIB'],
  ])('%s that begins with %j', async (file, beginning, name) => {
    await writeFile(inFolder(file), beginning, 'latin1')
    expect(await ingest.refusalOfFile(file)).toBe(
      `${file} is ${name}, not a GeoTIFF: gdal_translate -co COMPRESS=DEFLATE ${file} rain.tif makes one of it; of several variables or bands, gdalinfo ${file} lists what to give in its place.`,
    )
  })

  test.each([
    ['yield.asc', 'NCOLS 20\nnrows 10\n', 'an ESRI ASCII grid'],
    ['yield.img', 'EHFA_HEADER_TAG\0', 'an ERDAS IMAGINE image'],
    ['yield.vrt', '<VRTDataset rasterXSize="2">', 'a virtual raster of GDAL'],
    ['yield.jp2', '\0\0\0\x0cjP  ', 'JPEG 2000'],
    ['yield.png', '\x89PNG\r\n', 'PNG'],
    ['yield.tif', '\x89PNG\r\n', 'PNG', 'yield-deflate.tif'],
    ['yield.jpg', '\xff\xd8\xff\xe0', 'JPEG'],
  ])('%s that begins with %j', async (file, beginning, name, made = 'yield.tif') => {
    await writeFile(inFolder(file), beginning, 'latin1')
    expect(await ingest.refusalOfFile(file)).toBe(
      `${file} is ${name}, not a GeoTIFF: gdal_translate -co COMPRESS=DEFLATE ${file} ${made} makes one of it.`,
    )
  })

  test('a name that a shell would not take as it is', async () => {
    const path = inFolder("wheat's yield.asc")
    await writeFile(path, 'ncols 20\n')
    const quoted = (name: string) => `'${inFolder(name).replaceAll("'", "'\\''")}'`
    const line = `${quoted("wheat's yield.asc")} ${quoted("wheat's yield.tif")}`.replaceAll(
      `${ingest.folder}/`,
      '',
    )
    expect(await ingest.refusalOfFile(path)).toBe(
      `wheat's yield.asc is an ESRI ASCII grid, not a GeoTIFF: gdal_translate -co COMPRESS=DEFLATE ${line} makes one of it.`,
    )
  })
})

const hasGdal = (() => {
  try {
    return execFileSync('gdal_translate', ['--version']).length > 0
  } catch {
    return false
  }
})()

describe.skipIf(!hasGdal)('the line in a refusal makes a file that is loaded (Debian: gdal-bin)', () => {
  test.each([
    ['netCDF', "wheat's yield.nc", []],
    ['AAIGrid', 'yield.asc', ['-a_nodata', '-1']],
    ['VRT', 'yield.vrt', []],
    ['GTiff', 'lzma.tif', ['-co', 'COMPRESS=LZMA']],
  ])('%s', async (format, name, options) => {
    const path = inFolder(name)
    execFileSync('gdal_translate', ['-q', '-of', format, ...options, fixture('zeros.tif'), path])
    const manifest = async (file: string) =>
      writeManifest(ingest.folder, manifestText([{ file }], { forecast_period: '2024-01' }))
    const refusal = await manifest(path).then((manifest) =>
      ingestManifest(ingest.database, manifest).catch((error: Error) => error.message),
    )
    const line = /gdal_translate .+?(?= makes)/.exec(String(refusal))?.[0] as string
    execFileSync('sh', ['-c', line], { stdio: 'pipe' })
    const made = line
      .replace(/.* (\/|')/, '$1')
      .replace(/^'(.*)'$/, (_, quoted) => quoted.replaceAll("'\\''", "'"))
    const loaded = await ingestManifest(ingest.database, await manifest(made))
    expect(loaded.published).toBe(true)
  })
})
