// Runs on a server alone: what is refused never gets to the database.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, kindFixture } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'
import { TAGS, type TiffOptions } from './tiff.ts'

let ingest: RefusingIngest
beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(() => ingest.close())

const raster = (name: string, options: Partial<TiffOptions>) => ingest.writeRaster(name, options)

describe('grids that cannot be used', () => {
  test('rotated', async () => {
    const file = await raster('rotated.tif', {
      tags: {
        [TAGS.pixelScale]: ['double', []],
        [TAGS.tiepoints]: ['double', []],
        [TAGS.transformation]: ['double', [0.01, 0.001, 0, 38, 0.001, -0.01, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1]],
      },
    })
    expect(await ingest.refusalOfFile(file)).toBe(
      'rotated.tif has a rotated or sheared grid; warp it to a north-up grid first.',
    )
  })

  test('mirrored', async () => {
    const file = await raster('mirrored.tif', {
      tags: {
        [TAGS.pixelScale]: ['double', []],
        [TAGS.tiepoints]: ['double', []],
        [TAGS.transformation]: ['double', [-0.01, 0, 0, 38, 0, -0.01, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1]],
      },
    })
    expect(await ingest.refusalOfFile(file)).toBe(
      'mirrored.tif has a geotransform with a pixel size of zero, a mirrored one or none.',
    )
  })

  test('placed by ground control points', async () => {
    const points = [0, 0, 0, 38, 9, 0, 20, 0, 0, 38.2, 9, 0, 0, 20, 0, 38, 8.8, 0]
    const file = await raster('points.tif', {
      tags: { [TAGS.pixelScale]: ['double', []], [TAGS.tiepoints]: ['double', points] },
    })
    expect(await ingest.refusalOfFile(file)).toBe(
      'points.tif is placed by ground control points; warp it to a north-up grid first.',
    )
  })

  test('without a georeference', async () => {
    const file = await raster('snapshot.tif', {
      tags: {
        [TAGS.pixelScale]: ['double', []],
        [TAGS.tiepoints]: ['double', []],
        [TAGS.geoKeys]: ['short', []],
      },
    })
    expect(await ingest.refusalOfFile(file)).toBe(
      'snapshot.tif has no geotransform: it is a snapshot without a place on the Earth.',
    )
  })
})

describe('grids on both sides of the 180th meridian that cannot go round the Earth', () => {
  const across = (name: string, pixel: number) =>
    raster(name, {
      tags: {
        [TAGS.pixelScale]: ['double', [pixel, pixel, 0]],
        [TAGS.tiepoints]: ['double', [0, 0, 0, 180 - 10 * pixel, 9, 0]],
      },
    })

  test('their columns would not lie on columns', async () => {
    expect(await ingest.refusalOfFile(await across('across.tif', 0.7))).toBe(
      'across.tif lies on both sides of the 180th meridian, and 360 degrees are not a whole number of its columns: cut it there with gdal_translate -projwin, or give it other pixels with gdalwarp -tr.',
    )
  })

  test('they go round more than once', async () => {
    expect(await ingest.refusalOfFile(await across('twice.tif', 25))).toBe(
      'twice.tif has 500 degrees of longitude, and places twice that are the same: cut it with gdal_translate -projwin, or have all files of its layer count longitudes in one way with gdal_translate -a_ullr.',
    )
  })

  test('they would be too large', async () => {
    expect(await ingest.refusalOfFile(await across('fine.tif', 0.001))).toBe(
      'fine.tif, once around the Earth, has 360000 x 20 pixels; at most 250000 a side and 10000000000 in all are read: cut it with gdal_translate -projwin.',
    )
  })
})

describe('CRSs that cannot be used', () => {
  const withKeys = (name: string, keys: number[], ascii = '') =>
    raster(name, {
      tags: {
        [TAGS.geoKeys]: ['short', [1, 1, 0, keys.length / 4, ...keys]],
        [TAGS.geoAscii]: ['ascii', ascii],
      },
    })

  test('none at all', async () => {
    const file = await raster('none.tif', { tags: { [TAGS.geoKeys]: ['short', []] } })
    expect(await ingest.refusalOfFile(file)).toBe(
      "none.tif has an unknown CRS: it names none; give the layer's srid or srs.",
    )
  })

  test('a local one', async () => {
    const file = await withKeys('local.tif', [1024, 0, 1, 32767, 1026, 34737, 9, 0], 'Our farm|\0')
    expect(await ingest.refusalOfFile(file)).toBe(
      "local.tif has an unknown CRS: it is neither geographic nor projected; give the layer's srid or srs.",
    )
  })

  test('a projection of its own', async () => {
    const file = await withKeys(
      'own.tif',
      [1024, 0, 1, 1, 1026, 34737, 9, 0, 3072, 0, 1, 32767],
      'Our Lambert|\0',
    )
    expect(await ingest.refusalOfFile(file)).toBe(
      'own.tif has an unknown CRS: its projection ("Our Lamb") has no EPSG code; give the layer\'s srid or srs.',
    )
  })

  test.each([
    [15, 'polar stereographic, whose keys are not read (PROJ has it as +proj=stere)'],
    [18, 'Cassini-Soldner, whose keys are not read (PROJ has it as +proj=cass)'],
    [23, 'Robinson, whose keys are not read (PROJ has it as +proj=robin)'],
    [9815, 'oblique Mercator, whose keys are not read (PROJ has it as +proj=omerc)'],
    [99, 'method 99, which is not known here'],
  ])('a projection by its name, of method %i', async (method, name) => {
    const keys = [1024, 0, 1, 1, 3072, 0, 1, 32767, 3075, 0, 1, method]
    expect(await ingest.refusalOfFile(await withKeys('named.tif', keys))).toBe(
      `named.tif has an unknown CRS: its projection is ${name}; give the layer's srid or srs.`,
    )
  })

  test('a geographic one of its own, on another ellipsoid', async () => {
    const file = await withKeys('clarke.tif', [1024, 0, 1, 2, 2048, 0, 1, 32767, 2056, 0, 1, 7012])
    expect(await ingest.refusalOfFile(file)).toBe(
      "clarke.tif has an unknown CRS: its geographic CRS has no EPSG code and no ellipsoid; give the layer's srid or srs.",
    )
  })

  test('an EPSG code that PostGIS does not know', async () => {
    const file = await withKeys('new.tif', [1024, 0, 1, 1, 3072, 0, 1, 20033])
    expect(await ingest.refusalOfFile(file)).toBe(
      'new.tif has an unknown CRS: PostGIS does not know EPSG:20033.',
    )
    expect(await ingest.refusalOfFile(fixture('type-uint8.tif'), { srid: 999999 })).toBe(
      'type-uint8.tif has an unknown CRS: PostGIS does not know EPSG:999999.',
    )
  })

  const pole = '+proj=ob_tran +o_proj=longlat +o_lon_p=-162 +o_lat_p=39.25 +lon_0=180 +datum=WGS84'
  test.each([
    ['PROJ', pole],
    ['PROJ in WKT 1', `PROJCS["turned",GEOGCS["WGS 84"],EXTENSION["PROJ4","${pole} +wktext"]]`],
    ['WKT 2', 'GEOGCRS["turned",BASEGEOGCRS["WGS 84"],DERIVINGCONVERSION["turned"]]'],
  ])('a rotated pole, as %s has it', async (_, srs) => {
    expect(await ingest.refusalOfFile(fixture('type-uint8.tif'), { srs })).toBe(
      'type-uint8.tif has a CRS with a rotated pole, whose degrees are none of longitude and latitude: warp it with gdalwarp -t_srs EPSG:4326.',
    )
  })

  test('one without a code in which the grid is not on the Earth, by its name', async () => {
    const sinusoidal = '+proj=sinu +lon_0=0 +R=6371007.181 +units=m +no_defs'
    const file = await raster('sinusoidal.tif', {
      tags: { [TAGS.tiepoints]: ['double', [0, 0, 0, 9e7, 9e7, 0]] },
    })
    expect(await ingest.refusalOfFile(file, { srs: sinusoidal })).toBe(
      `sinusoidal.tif band 1 has a grid that does not lie on the Earth in ${sinusoidal}: is that its CRS?`,
    )
  })

  test('the srid of another one, in which the grid is not on the Earth', async () => {
    expect(await ingest.refusalOfFile(fixture('crs-32637.tif'), { srid: 4326 })).toBe(
      'crs-32637.tif band 1 has a grid that does not lie on the Earth in EPSG:4326: is that its CRS?',
    )
  })

  test('latitudes beyond the poles', async () => {
    const file = await raster('pole.tif', { tags: { [TAGS.tiepoints]: ['double', [0, 0, 0, 9, 138, 0]] } })
    expect(await ingest.refusalOfFile(file)).toBe(
      'pole.tif band 1 has a grid that does not lie on the Earth in EPSG:4326: is that its CRS?',
    )
  })
})

describe('bands that cannot be used', () => {
  test('one that is not there', async () => {
    expect(await ingest.refusalOfFile(fixture('type-uint8.tif'), { band: 2 })).toBe(
      'type-uint8.tif has 1 band; band 2 is not there.',
    )
    expect(await ingest.refusalOfFile(fixture('bands-pixel-int16.tif'), { band: 4 })).toBe(
      'bands-pixel-int16.tif has 3 bands; band 4 is not there.',
    )
  })

  test('one that is called otherwise, or as another', async () => {
    const names = kindFixture('names.tif')
    expect(await ingest.refusalOfFile(names, { band: 'urea' })).toBe(
      `${names} has no band "urea": it has 1 "Urea", 2 "DAP & NPS", 3 "Engrais composé".`,
    )
    expect(await ingest.refusalOfFile(fixture('type-uint8.tif'), { band: 'Urea' })).toBe(
      'type-uint8.tif has no band "Urea": its bands have no names.',
    )
    const described = (sample: number) =>
      `<Item name="DESCRIPTION" sample="${sample}" role="description">Urea</Item>`
    const metadata = `<GDALMetadata>${described(0)}${described(1)}</GDALMetadata>\0`
    const file = await raster('twice.tif', {
      row: () => new Float32Array(40),
      tags: {
        277: ['short', [2]],
        258: ['short', [32, 32]],
        339: ['short', [3, 3]],
        42112: ['ascii', metadata],
      },
    })
    expect(await ingest.refusalOfFile(file, { band: 'Urea' })).toBe(
      'twice.tif has several bands "Urea": 1, 2; give the number.',
    )
  })

  test('one of a file whose words on its bands are damaged', async () => {
    const file = await raster('words.tif', { tags: { 42112: ['ascii', '<GDALMetadata><Item\0'] } })
    expect(await ingest.refusalOfFile(file)).toMatch(/^What words\.tif says of its bands is damaged: .+\.$/)
  })

  test.each([
    ['scale', '1,000.5'],
    ['scale', '0.125 kg'],
    ['offset', 'none'],
  ])('one whose %s is "%s", unless the manifest gives another', async (role, text) => {
    const item = `<Item name="${role.toUpperCase()}" sample="0" role="${role}">${text}</Item>`
    const metadata = `<GDALMetadata>${item}</GDALMetadata>\0`
    const file = await raster('said.tif', { tags: { 42112: ['ascii', metadata] } })
    const refusal = `said.tif says ${role} "${text}" of band 1, which is no number: give the layer's ${role}.`
    expect(await ingest.refusalOfFile(file)).toBe(refusal)
    expect(await ingest.refusalOfFile(file, { [role]: 2, srid: 999999 })).toBe(
      'said.tif has an unknown CRS: PostGIS does not know EPSG:999999.',
    )
  })

  test.each([
    ['64-bit complex numbers', { bits: 64, format: 6, row: () => new Float32Array(40) }],
    ['32-bit complex numbers', { bits: 32, format: 5, row: () => new Int16Array(40) }],
    ['4-bit integers', { bits: 4, format: 1, row: () => new Uint8Array(10) }],
  ])('pixels that are %s', async (kind, options) => {
    const file = await raster('type.tif', options)
    expect(await ingest.refusalOfFile(file)).toBe(
      `type.tif has pixels that are ${kind}, which cannot be stored; convert it to Float64 or to integers of 8, 16 or 32 bits.`,
    )
  })

  test('a 64-bit integer that no double holds', async () => {
    const row = () => new BigInt64Array(20).fill(2n ** 53n + 1n)
    expect(await ingest.refusalOfFile(await raster('long.tif', { bits: 64, format: 2, row }))).toBe(
      'long.tif cannot be read at rows 0 to 19: it has the pixel 9007199254740993, and whole numbers beyond 2^53 cannot be stored exactly.',
    )
  })

  test.each([
    [6, 'JPEG of an older form', ', and may have changed its values'],
    [7, 'JPEG of pixels other than one or three bytes', ', and may have changed its values'],
    [50001, 'WebP', ', and may have changed its values'],
    [34925, 'LZMA', ''],
    [40000, 'method 40000', ''],
  ])('compression %i', async (compression, name, loss) => {
    const file = await raster('compressed.tif', { tags: { 259: ['short', [compression]] } })
    expect(await ingest.refusalOfFile(file)).toBe(
      `compressed.tif is compressed with ${name}, which is not read here${loss}: gdal_translate -co COMPRESS=DEFLATE compressed.tif compressed-deflate.tif makes a file that is.`,
    )
  })

  test.each([
    ['of 2 bytes', 2, 1],
    ['of 4 bytes', 4, 1],
    ['of luminance alone', 1, 6],
  ])('JPEG whose pixels are %s', async (_, samples, photometric) => {
    const row = () => new Uint8Array(20 * samples)
    const ofEach = (value: number): ['short', number[]] => ['short', Array(samples).fill(value)]
    const tags = {
      258: ofEach(8),
      339: ofEach(1),
      277: ofOne(samples),
      259: ofOne(7),
      262: ofOne(photometric),
    }
    expect(await ingest.refusalOfFile(await raster('compressed.tif', { bits: 8, row, tags }))).toBe(
      'compressed.tif is compressed with JPEG of pixels other than one or three bytes, which is not read here, and may have changed its values: gdal_translate -co COMPRESS=DEFLATE compressed.tif compressed-deflate.tif makes a file that is.',
    )
  })
})

const ofOne = (value: number): ['short', number[]] => ['short', [value]]
