import { execFileSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRaster } from '#src/ingest/geotiff/file.ts'
import type { RasterFile } from '#src/ingest/readers.ts'
import { markNodata } from '#src/raster/pixels.ts'
import { newFolder } from '#test/setup/folders.ts'
import { createRandom } from '#test/setup/random.ts'

const hasGdal = (() => {
  try {
    return execFileSync('gdal_translate', ['--version']).length > 0
  } catch {
    return false
  }
})()

const WIDTH = 37
const HEIGHT = 23
const WGS84 = ['-a_srs', 'EPSG:4326', '-a_ullr', '33', '15', '34.85', '13.85']
const UTM = ['-a_srs', 'EPSG:32637', '-a_ullr', '400000', '900000', '437000', '877000']
/** Rows and columns of different sizes. */
const OBLONG = ['-a_srs', 'EPSG:4326', '-a_ullr', '33', '15', '34.85', '12.7']

type Options = string[]

const netcdf = (format: string, ...more: Options): Options => [
  ...['-of', 'netCDF', '-co', `FORMAT=${format}`],
  ...more.flatMap((option) => ['-co', option]),
]
const zarr = (...more: Options): Options => ['-of', 'Zarr', ...more.flatMap((option) => ['-co', option])]
const ascii = (...more: Options): Options => ['-of', 'AAIGrid', ...more.flatMap((option) => ['-co', option])]

const TYPES = ['Byte', 'Int16', 'Int32', 'Float32', 'Float64']
const SCALED = ['-a_scale', '0.25', '-a_offset', '-10']

/** What is made of a GeoTIFF by a name, and how it is made: first the GeoTIFF, then the file. */
const FILES: [name: string, base: Options, file: Options][] = [
  ...['NC', 'NC2', 'NC4', 'NC4C'].flatMap((format) =>
    TYPES.map((type): [string, Options, Options] => [
      `${format}-${type}.nc`,
      ['-ot', type, '-a_nodata', type === 'Byte' ? '0' : '-99', ...WGS84],
      netcdf(format),
    ]),
  ),
  ['deflate-1.nc', ['-ot', 'Int16', ...WGS84], netcdf('NC4', 'COMPRESS=DEFLATE', 'ZLEVEL=1')],
  ['deflate-9.nc', ['-ot', 'Float32', ...UTM], netcdf('NC4C', 'COMPRESS=DEFLATE', 'ZLEVEL=9')],
  ['not-chunked.nc', ['-ot', 'Float32', ...WGS84], netcdf('NC4', 'CHUNKING=NO')],
  ['top-down.nc', ['-ot', 'Float64', '-a_nodata', '-1', ...WGS84], netcdf('NC4', 'WRITE_BOTTOMUP=NO')],
  ['top-down-3.nc', ['-ot', 'Int16', '-a_nodata', '-1', ...UTM], netcdf('NC', 'WRITE_BOTTOMUP=NO')],
  ['utm-3.nc', ['-ot', 'Float32', '-a_nodata', 'nan', ...UTM], netcdf('NC2')],
  ['utm-4.nc', ['-ot', 'Int32', '-a_nodata', '7', ...UTM], netcdf('NC4', 'WRITE_LONLAT=YES')],
  ['no-tags.nc', ['-ot', 'Int16', ...WGS84], netcdf('NC', 'WRITE_GDAL_TAGS=NO')],
  ['no-tags-utm.nc', ['-ot', 'Float32', ...UTM], netcdf('NC4', 'WRITE_GDAL_TAGS=NO')],
  ['float-axes.nc', ['-ot', 'Float32', ...WGS84], netcdf('NC', 'TYPE_LONLAT=float')],
  ['oblong.nc', ['-ot', 'Float32', ...OBLONG], netcdf('NC4')],
  ['scaled-3.nc', ['-ot', 'Int16', '-a_nodata', '-99', ...SCALED, ...WGS84], netcdf('NC')],
  ['scaled-4.nc', ['-ot', 'Byte', '-a_nodata', '255', ...SCALED, ...UTM], netcdf('NC4')],
  ['unsigned-16.nc', ['-ot', 'UInt16', '-a_nodata', '65535', ...WGS84], netcdf('NC4')],
  ['unsigned-32.nc', ['-ot', 'UInt32', ...WGS84], netcdf('NC4')],
  ['no-nodata-byte.nc', ['-ot', 'Byte', ...WGS84], netcdf('NC')],
  ...['NONE', 'ZLIB', 'GZIP', 'ZSTD', 'LZ4', 'BLOSC'].flatMap((compression, at) => [
    [
      `${compression}.zarr`,
      ['-ot', TYPES[at % TYPES.length] as string, ...(at % 2 ? ['-a_nodata', '9'] : []), ...WGS84],
      zarr(`COMPRESS=${compression}`, 'BLOCKSIZE=8,16'),
    ] as [string, Options, Options],
  ]),
  [
    'blosc-zstd.zarr',
    ['-ot', 'Int16', ...UTM],
    zarr('COMPRESS=BLOSC', 'BLOSC_CNAME=zstd', 'BLOSC_SHUFFLE=BIT'),
  ],
  ['slashes.zarr', ['-ot', 'Float64', '-a_nodata', '-1', ...UTM], zarr('DIM_SEPARATOR=/', 'BLOCKSIZE=5,7')],
  [
    'columns.zarr',
    ['-ot', 'Int32', ...WGS84],
    zarr('CHUNK_MEMORY_LAYOUT=F', 'COMPRESS=ZLIB', 'BLOCKSIZE=10,10'),
  ],
  ['scaled.zarr', ['-ot', 'Int16', '-a_nodata', '-99', ...SCALED, ...WGS84], zarr('COMPRESS=GZIP')],
  ['whole.asc', ['-ot', 'Int16', '-a_nodata', '-99', ...WGS84], ascii()],
  ['decimals.asc', ['-ot', 'Float32', '-a_nodata', '-9999', ...WGS84], ascii('DECIMAL_PRECISION=3')],
  ['digits.asc', ['-ot', 'Float64', ...UTM], ascii('SIGNIFICANT_DIGITS=5')],
  ['utm.asc', ['-ot', 'Float32', '-a_nodata', 'nan', ...UTM], ascii()],
  ['two-sizes.asc', ['-ot', 'Float32', '-a_nodata', '-1.5', ...OBLONG], ascii()],
  ['one-size.asc', ['-ot', 'Int32', ...WGS84], ascii('FORCE_CELLSIZE=YES')],
]

describe.skipIf(!hasGdal)('a file that GDAL has made is read as GDAL reads it (Debian: gdal-bin)', () => {
  let folder = ''
  const open: RasterFile[] = []
  beforeAll(async () => {
    folder = await newFolder()
    const draw = createRandom(7)
    const cells = Array.from({ length: HEIGHT }, () =>
      Array.from({ length: WIDTH }, () => (draw() < 0.2 ? 0 : Math.round(draw() * 4000) / 16)).join(' '),
    )
    const head = `ncols ${WIDTH}\nnrows ${HEIGHT}\nxllcorner 0\nyllcorner 0\ncellsize 1\n`
    await writeFile(join(folder, 'base.asc'), `${head}${cells.join('\n')}\n`)
  })
  afterAll(async () => {
    for (const file of open) await file.close()
  })

  const translate = (...of: string[]) =>
    execFileSync('gdal_translate', ['-q', ...of], { cwd: folder, stdio: 'pipe' })
  const opened = async (name: string) => {
    const file = await openRaster(join(folder, name))
    open.push(file)
    return file
  }

  test.each(FILES)('%s %j %j', async (name, base, made) => {
    translate(...base, 'base.asc', `base-${name}.tif`)
    translate(...made, `base-${name}.tif`, name)
    translate(name.endsWith('.zarr') ? `ZARR:${name}` : name, `${name}.tif`)
    expect(await contentOf(await opened(name))).toEqual(await contentOf(await opened(`${name}.tif`)))
  })

  test.each([
    'EPSG:32637',
    'ESRI:102022',
    'EPSG:20137',
    '+proj=laea +lat_0=5 +lon_0=20 +datum=WGS84 +units=m',
    '+proj=laea +lat_0=5 +lon_0=20 +R=6371000 +units=m',
    '+proj=lcc +lat_1=-10 +lat_2=20 +lat_0=5 +lon_0=20 +x_0=500000 +datum=WGS84 +units=m',
  ])('%s in the parameters of CF alone is where GDAL has it', async (srs) => {
    translate('-a_srs', srs, '-a_ullr', '400000', '900000', '437000', '877000', 'base.asc', 'cf.tif')
    translate(...netcdf('NC', 'WRITE_GDAL_TAGS=NO'), 'cf.tif', 'cf.nc')
    const written = await readFile(join(folder, 'cf.nc'))
    const wkt = written.indexOf('crs_wkt')
    expect(wkt).toBeGreaterThan(0)
    written.write('not_wkt', wkt)
    await writeFile(join(folder, 'cf.nc'), written)
    const run = (command: string, ...of: string[]) =>
      execFileSync(command, of, {
        cwd: folder,
        input: '400000 900000\n437000 877000\n',
        encoding: 'utf8',
      }).trim()
    const { crs } = await opened('cf.nc')
    const proj = crs.kind === 'text' ? (crs.proj ?? '') : ''
    const moved = run('gdaltransform', '-s_srs', proj, '-t_srs', run('gdalsrsinfo', '-o', 'proj4', 'cf.nc'))
    const metres = moved.split(/\s+/).map((number) => Math.round(1000 * Number(number)) / 1000)
    expect(metres).toEqual([400000, 900000, 0, 437000, 877000, 0])
  })

  test('of several variables each is a band, by its name, and so is each band of a GeoTIFF', async () => {
    translate('-ot', 'Float32', ...UTM, 'base.asc', 'one.tif')
    translate('-b', '1', '-b', '1', '-scale', '0', '250', '9', '0', 'one.tif', 'two.tif')
    translate(...netcdf('NC4'), 'two.tif', 'two.nc')
    const file = await opened('two.nc')
    expect(file.bandCount).toBe(2)
    for (const band of ['Band1', 'Band2']) {
      translate(`NETCDF:two.nc:${band}`, `${band}.tif`)
      expect(await contentOf(file, band)).toEqual(await contentOf(await opened(`${band}.tif`)))
    }
  })
})

/** What a reader sees: where it lies, and each value, missing ones as null. */
async function contentOf(file: RasterFile, meant?: string) {
  const { grid, crs } = file
  const { number, pixelType, nodata, scale, offset } = file.band({ band: meant }, new Set())
  const window = { column: 0, row: 0, width: grid.width, height: grid.height }
  const [pixels] = await file.read(window, [number])
  if (!pixels) throw new Error('no pixels')
  markNodata(pixels, pixelType, nodata)
  const lowest =
    pixelType === '32BF' ? -3.4028234663852886e38 : pixelType === '64BF' ? -Number.MAX_VALUE : nodata
  return {
    grid,
    crs: crs.kind === 'epsg' ? crs.code : crs,
    scale,
    offset,
    pixelType,
    values: Array.from(pixels, (value) => (value === lowest ? null : value)),
  }
}
