import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import {
  fixture,
  ingestManifest,
  type LayerText,
  manifestText,
  temporaryFolder,
  writeManifest,
} from './fixtures.ts'
import { TAGS, type TiffOptions, writeTiff } from './tiff.ts'

let service: TestApp
let folder: Awaited<ReturnType<typeof temporaryFolder>>
beforeAll(async () => {
  folder = await temporaryFolder()
  // Something is published already, and has to stay as it is.
  service = await createTestApp({
    template: 'empty',
    prepare: async (database) =>
      ingestManifest(
        database,
        await writeManifest(folder.path, manifestText([{ file: fixture('type-float32.tif') }])),
      ),
  })
})
afterAll(async () => {
  await service.close()
  await folder.remove()
})

async function stored(): Promise<unknown> {
  const { rows } = await sql`
    select
      (select count(*) from release) as releases,
      (select count(*) from publication) as publications,
      (select count(*) from coverage) as coverages,
      (select count(*) from layer) as layers,
      (select count(*) from raster_tile) as tiles`.execute(service.database.writer)
  return rows[0]
}

/** Ingests what has to be refused; the paths of files in the message are shortened to their names. */
async function refusalOf(text: string): Promise<string> {
  const before = await stored()
  const path = await writeManifest(folder.path, text)
  const error = await ingestManifest(service.database, path).then(
    () => undefined,
    (error: Error) => error,
  )
  expect(await stored()).toEqual(before)
  expect(error?.name).toBe('OperatorError')
  return (error as Error).message.replaceAll(`${folder.path}/`, '').replaceAll(fixture(''), '')
}

const refusalOfLayers = (...layers: LayerText[]) => refusalOf(manifestText(layers))
const refusalOfFile = (file: string, settings = {}) => refusalOfLayers({ file, ...settings })

/** A small raster of ones that is made for the test. */
async function raster(name: string, options: Partial<TiffOptions>): Promise<string> {
  await writeTiff(join(folder.path, name), {
    width: 20,
    height: 20,
    row: () => new Float32Array(20).fill(1),
    ...options,
  })
  return name
}

/** A copy of a fixture that a test may damage. */
async function damaged(file: string, name: string, damage: (bytes: Buffer) => Buffer | undefined) {
  const bytes = await readFile(fixture(file))
  await writeFile(join(folder.path, name), damage(bytes) ?? bytes)
  return name
}

/** Where a tag's values lie in a little-endian classic TIFF. */
function placeOf(bytes: Buffer, tag: number): { at: number; count: number } {
  const directory = bytes.readUInt32LE(4)
  for (let index = 0; index < bytes.readUInt16LE(directory); index++) {
    const entry = directory + 2 + index * 12
    if (bytes.readUInt16LE(entry) !== tag) continue
    const count = bytes.readUInt32LE(entry + 4)
    const size = count * ({ 3: 2, 4: 4 }[bytes.readUInt16LE(entry + 2)] ?? 8)
    return { at: size > 4 ? bytes.readUInt32LE(entry + 8) : entry + 8, count }
  }
  throw new Error(`no tag ${tag}`)
}

describe('files that cannot be opened', () => {
  test('a missing file, beside the manifest', async () => {
    expect(await refusalOfFile('nowhere/missing.tif')).toBe('nowhere/missing.tif does not exist.')
  })

  test('a folder', async () => {
    await mkdir(join(folder.path, 'folder.tif'))
    expect(await refusalOfFile('folder.tif')).toBe('folder.tif is not a file.')
  })

  test.skipIf(process.getuid?.() === 0)('a file that may not be read', async () => {
    await copyFile(fixture('type-uint8.tif'), join(folder.path, 'secret.tif'))
    await chmod(join(folder.path, 'secret.tif'), 0)
    expect(await refusalOfFile('secret.tif')).toBe('secret.tif may not be read.')
  })

  test.each([
    ['empty.tif', ''],
    ['text.tif', 'Dear operator, this is not a raster.'],
    ['short.tif', 'II'],
    ['picture.tif', '\x89PNG\r\n\x1a\n'],
  ])('%s, which is no TIFF', async (name, content) => {
    await writeFile(join(folder.path, name), content, 'latin1')
    expect(await refusalOfFile(name)).toBe(`${name} is not a TIFF file.`)
  })
})

describe('files that are cut off', () => {
  const CUT_OFF =
    /^\S+ is cut off(, damaged or not a GeoTIFF: its directory cannot be read \(.+\)| or damaged: not all of its (strips|tiles) are there)\.$/

  test('within the header', async () => {
    const file = await damaged('type-float32.tif', 'header.tif', (bytes) => bytes.subarray(0, 6))
    expect(await refusalOfFile(file)).toMatch(CUT_OFF)
  })

  test.each([
    'lzw-3-float32.tif',
    'bands-band-float32-tiled.tif',
    'bigtiff-float32.tif',
    'big-endian-int16.tif',
  ])('%s at every 37th byte', async (file) => {
    const whole = await readFile(fixture(file))
    for (let length = 8; length < whole.length; length += 37) {
      const cut = await damaged(file, 'cut.tif', (bytes) => bytes.subarray(0, length))
      expect(`${length}: ${await refusalOfFile(cut)}`.replace(/^\d+: /, '')).toMatch(CUT_OFF)
    }
  })

  test('by a single byte', async () => {
    const file = await damaged('lzw-2-int16.tif', 'almost.tif', (bytes) => bytes.subarray(0, -1))
    expect(await refusalOfFile(file)).toBe(
      'almost.tif is cut off or damaged: not all of its strips are there.',
    )
  })

  test('within the table of its strips, which lies at the end of the file', async () => {
    const file = await damaged('big-endian-many-strips.tif', 'table.tif', (bytes) => {
      // Appended once more, and then cut off in the middle of the lengths.
      const entries = bytes.readUInt16BE(bytes.readUInt32BE(4))
      const directory = bytes.readUInt32BE(4)
      for (let index = 0; index < entries; index++) {
        const entry = directory + 2 + index * 12
        if (bytes.readUInt16BE(entry) === 279) bytes.writeUInt32BE(bytes.length - 300, entry + 8)
      }
      return bytes
    })
    expect(await refusalOfFile(file)).toMatch(CUT_OFF)
  })
})

describe('files whose blocks are damaged', () => {
  test.each([
    ['deflate-float64.tif', 'incorrect header check'],
    ['lzw-uint8.tif', 'its LZW data are damaged'],
    ['zstd-uint16.tif', 'the block at byte 396 is damaged: it is too short'],
  ])('%s at the beginning of one', async (source, reason) => {
    const file = await damaged(source, 'damaged.tif', (bytes) => {
      const start = bytes.readUInt32LE(placeOf(bytes, 273).at)
      bytes.fill(0xfe, start, start + 12)
      return undefined
    })
    expect(await refusalOfFile(file)).toBe(`damaged.tif cannot be read at rows 0 to 17: ${reason}.`)
  })

  test('DEFLATE whose sum does not match', async () => {
    const file = await damaged('deflate-float64.tif', 'sum.tif', (bytes) => {
      const start = bytes.readUInt32LE(placeOf(bytes, 273).at)
      const length = bytes.readUInt32LE(placeOf(bytes, 279).at)
      bytes.writeUInt32LE(0, start + length - 4)
      return undefined
    })
    expect(await refusalOfFile(file)).toBe('sum.tif cannot be read at rows 0 to 17: incorrect data check.')
  })

  test('LZW that is damaged anywhere ends, and is refused or read', async () => {
    const { length } = await readFile(fixture('lzw-full-table.tif'))
    for (let at = 700; at < length; at += 397) {
      const file = await damaged('lzw-full-table.tif', 'anywhere.tif', (bytes) => {
        bytes.fill(0xff, at, at + 40)
        return undefined
      })
      expect(await refusalOfFile(file)).toMatch(
        /^anywhere\.tif cannot be read at rows 0 to 60: (its LZW data are damaged|the block at byte \d+ is damaged: it is too short)\.$/,
      )
    }
  })

  test('ZSTD whose structure is damaged ends, and is refused', async () => {
    for (const at of [0, 4, 6, 7, 8, 9]) {
      const file = await damaged('zstd-uint16.tif', 'anywhere.tif', (bytes) => {
        const place = bytes.readUInt32LE(placeOf(bytes, 273).at) + at
        bytes.writeUInt8(bytes.readUInt8(place) ^ 0xff, place)
        return undefined
      })
      expect(await refusalOfFile(file)).toBe(
        'anywhere.tif cannot be read at rows 0 to 17: the block at byte 396 is damaged: it is too short.',
      )
    }
  })

  test('blocks that are shorter than their pixels', async () => {
    const file = await damaged('type-int16.tif', 'tight.tif', (bytes) => {
      const { at } = placeOf(bytes, 279)
      bytes.writeUInt16LE(100, at)
      return undefined
    })
    expect(await refusalOfFile(file)).toMatch(
      /^tight\.tif cannot be read at rows 0 to 17: the block at byte \d+ is damaged: it is too short\.$/,
    )
  })
})

describe('grids that cannot be used', () => {
  test('rotated', async () => {
    const file = await raster('rotated.tif', {
      tags: {
        [TAGS.pixelScale]: ['double', []],
        [TAGS.tiepoints]: ['double', []],
        [TAGS.transformation]: ['double', [0.01, 0.001, 0, 38, 0.001, -0.01, 0, 9, 0, 0, 0, 0, 0, 0, 0, 1]],
      },
    })
    expect(await refusalOfFile(file)).toBe(
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
    expect(await refusalOfFile(file)).toBe(
      'mirrored.tif has a geotransform with a pixel size of zero, a mirrored one or none.',
    )
  })

  test('placed by ground control points', async () => {
    const points = [0, 0, 0, 38, 9, 0, 20, 0, 0, 38.2, 9, 0, 0, 20, 0, 38, 8.8, 0]
    const file = await raster('points.tif', {
      tags: { [TAGS.pixelScale]: ['double', []], [TAGS.tiepoints]: ['double', points] },
    })
    expect(await refusalOfFile(file)).toBe(
      'points.tif is placed by ground control points; warp it to a north-up grid first.',
    )
  })

  test('without a georeference', async () => {
    const file = await raster('picture.tif', {
      tags: {
        [TAGS.pixelScale]: ['double', []],
        [TAGS.tiepoints]: ['double', []],
        [TAGS.geoKeys]: ['short', []],
      },
    })
    expect(await refusalOfFile(file)).toBe(
      'picture.tif has no geotransform: it is a picture without a place on the Earth.',
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
    expect(await refusalOfFile(file)).toBe(
      "none.tif has an unknown CRS: it names none; give the layer's srid.",
    )
  })

  test('a local one', async () => {
    const file = await withKeys('local.tif', [1024, 0, 1, 32767, 1026, 34737, 9, 0], 'Our farm|\0')
    expect(await refusalOfFile(file)).toBe(
      "local.tif has an unknown CRS: it is neither geographic nor projected; give the layer's srid.",
    )
  })

  test('a projection of its own', async () => {
    const file = await withKeys(
      'own.tif',
      [1024, 0, 1, 1, 1026, 34737, 9, 0, 3072, 0, 1, 32767],
      'Our Lambert|\0',
    )
    expect(await refusalOfFile(file)).toBe(
      'own.tif has an unknown CRS: its projection ("Our Lamb") has no EPSG code; give the layer\'s srid.',
    )
  })

  test('a geographic one of its own, on another ellipsoid', async () => {
    const file = await withKeys('clarke.tif', [1024, 0, 1, 2, 2048, 0, 1, 32767, 2056, 0, 1, 7012])
    expect(await refusalOfFile(file)).toBe(
      "clarke.tif has an unknown CRS: its geographic CRS has no EPSG code and is not WGS 84; give the layer's srid.",
    )
  })

  test('an EPSG code that PostGIS does not know', async () => {
    const file = await withKeys('new.tif', [1024, 0, 1, 1, 3072, 0, 1, 20033])
    expect(await refusalOfFile(file)).toBe('new.tif has an unknown CRS: PostGIS does not know EPSG:20033.')
    expect(await refusalOfFile(fixture('type-uint8.tif'), { srid: 999999 })).toBe(
      'type-uint8.tif has an unknown CRS: PostGIS does not know EPSG:999999.',
    )
  })

  test('the srid of another one, in which the grid is not on the Earth', async () => {
    expect(await refusalOfFile(fixture('crs-32637.tif'), { srid: 4326 })).toBe(
      'crs-32637.tif band 1 has a grid that does not lie on the Earth in EPSG:4326: is that its CRS?',
    )
  })

  test('latitudes beyond the poles', async () => {
    const file = await raster('pole.tif', { tags: { [TAGS.tiepoints]: ['double', [0, 0, 0, 9, 138, 0]] } })
    expect(await refusalOfFile(file)).toBe(
      'pole.tif band 1 has a grid that does not lie on the Earth in EPSG:4326: is that its CRS?',
    )
  })
})

describe('bands that cannot be used', () => {
  test('one that is not there', async () => {
    expect(await refusalOfFile(fixture('type-uint8.tif'), { band: 2 })).toBe(
      'type-uint8.tif has 1 band; band 2 is not there.',
    )
    expect(await refusalOfFile(fixture('bands-pixel-int16.tif'), { band: 4 })).toBe(
      'bands-pixel-int16.tif has 3 bands; band 4 is not there.',
    )
  })

  test.each([
    ['64-bit integers', { bits: 64, format: 2, row: () => new BigInt64Array(20) }],
    ['64-bit complex numbers', { bits: 64, format: 6, row: () => new Float32Array(40) }],
    ['32-bit complex numbers', { bits: 32, format: 5, row: () => new Int16Array(40) }],
    ['4-bit integers', { bits: 4, format: 1, row: () => new Uint8Array(10) }],
  ])('pixels that are %s', async (kind, options) => {
    const file = await raster('type.tif', options)
    expect(await refusalOfFile(file)).toBe(
      `type.tif has pixels that are ${kind}, which cannot be stored; convert it to Float64 or to integers of 8, 16 or 32 bits.`,
    )
  })

  test.each([
    [7, 'JPEG'],
    [34887, 'LERC'],
    [40000, 'method 40000'],
  ])('compression %i', async (compression, name) => {
    const file = await raster('compressed.tif', { tags: { 259: ['short', [compression]] } })
    expect(await refusalOfFile(file)).toBe(
      `compressed.tif is compressed with ${name}, which is not read here: convert it to DEFLATE, LZW or ZSTD.`,
    )
  })
})

describe('manifests', () => {
  const FILE = fixture('type-uint8.tif')
  const HEAD =
    'product: yield\ncountry_code: eth\ncrop: wheat\nforecast_period: 2025-01\nsource: A test\nlicence: CC0-1.0\n'
  const layer = (...lines: string[]) => `  - file: ${FILE}\n${lines.map((line) => `    ${line}\n`).join('')}`
  const LAYER = layer('scenario: Normal', 'unit: kg/ha')

  test('that are not there', async () => {
    const path = join(folder.path, 'missing.yaml')
    await expect(ingestManifest(service.database, path)).rejects.toThrow(`${path} does not exist.`)
  })

  test('that are folders', async () => {
    await expect(ingestManifest(service.database, folder.path)).rejects.toThrow(
      `${folder.path} cannot be read: EISDIR: illegal operation on a directory, read.`,
    )
  })

  test.each([
    [
      'two layers for the same scenario',
      `${HEAD}layers:\n${LAYER}${layer('band: 2', 'scenario: Normal', 'unit: kg/ha')}`,
      'manifest.yaml:11: layers[1] is for Normal again, as layers[0] is',
    ],
    [
      'the wrong unit',
      `${HEAD}layers:\n${layer('scenario: Normal', 'unit: t/ha')}`,
      'manifest.yaml:10: layers[0].unit must be kg/ha for yield; for values in another unit, give the scale that turns them into kg/ha',
    ],
    [
      'a crop for forage',
      `product: forage\ncountry_code: eth\ncrop: wheat\nsource: A test\nlicence: CC0-1.0\nlayers:\n${layer('input: Lablab', 'unit: score')}`,
      'manifest.yaml:3: crop is not allowed: forage releases are not made for a crop',
    ],
    [
      'no month',
      `${HEAD.replace(/forecast_period.*\n/, '')}layers:\n${LAYER}`,
      'manifest.yaml:1: forecast_period is missing: yield releases are made for a month',
    ],
    [
      'a month that is none',
      `${HEAD.replace('2025-01', '2025-13')}layers:\n${LAYER}`,
      'manifest.yaml:4: forecast_period must be a month such as "2026-07"',
    ],
    [
      'unknown keys, all of them',
      `${HEAD}colour: green\nlayers:\n${layer('scenario: Normal', 'unit: kg/ha', 'bnad: 2')}`,
      [
        'manifest.yaml:7: colour is not known; allowed here: product, country_code, crop, forecast_period, source, licence, layers',
        'manifest.yaml:12: layers[0].bnad is not known; allowed here: file, band, input, scenario, unit, scale, offset, nodata, srid, decimals',
      ].join('\n'),
    ],
    [
      'an unknown product',
      `${HEAD.replace('yield', 'yeild')}layers:\n${LAYER}`,
      'manifest.yaml:1: product must be one of yield, fertilizer, isfm, forage',
    ],
    ['no layers', `${HEAD}layers: []\n`, 'manifest.yaml:7: layers must have at least one entry'],
    [
      'numbers out of range',
      `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', 'band: 0', 'decimals: 11', 'scale: 0')}`,
      [
        'manifest.yaml:11: layers[0].band must be >= 1',
        'manifest.yaml:12: layers[0].decimals must be <= 10',
      ].join('\n'),
    ],
    [
      'a scale of 0',
      `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', 'scale: 0')}`,
      'manifest.yaml:11: layers[0].scale must not be 0',
    ],
    [
      'a nodata value that is none',
      `${HEAD}layers:\n${layer('scenario: Normal', 'unit: kg/ha', 'nodata: nothing')}`,
      'manifest.yaml:11: layers[0].nodata must be a number, nan or none',
    ],
    [
      'an input for yield, and no scenario',
      `${HEAD}layers:\n${layer('input: Urea', 'unit: kg/ha')}`,
      [
        'manifest.yaml:9: layers[0].input is not allowed: yield layers have none',
        'manifest.yaml:8: layers[0].scenario is missing: yield layers are for a scenario',
      ].join('\n'),
    ],
    [
      'a country that is none',
      `${HEAD.replace('eth', 'Ethiopia')}layers:\n${LAYER}`,
      'manifest.yaml:2: country_code must be a country code such as "eth"',
    ],
    [
      'a country that is not served',
      `${HEAD.replace('eth', 'uga')}layers:\n${LAYER}`,
      'country_code must be one of eth, gha, ken, rwa, not uga.',
    ],
    [
      'a crop that the country does not offer',
      `${HEAD.replace('wheat', 'potato')}layers:\n${LAYER}`,
      'eth does not offer the crop potato; it offers: wheat.',
    ],
    [
      'a crop where there is forage only',
      `${HEAD.replace('eth', 'ken')}layers:\n${LAYER}`,
      'ken does not offer the crop wheat; it offers: none, only forage.',
    ],
    [
      'a syntax error',
      `${HEAD}layers:\n  - file: [${FILE}\n`,
      /^manifest\.yaml:\d+: is not YAML: [^\n]+[^:\n]$/,
    ],
    [
      'a key twice',
      `${HEAD}source: Another\nlayers:\n${LAYER}`,
      'manifest.yaml:7: is not YAML: Map keys must be unique',
    ],
    ['nothing', '', 'manifest.yaml:1: must be a mapping of keys to values'],
    ['a list', '- 1\n', 'manifest.yaml:1: must be a mapping of keys to values'],
  ])('with %s', async (_, text, message) => {
    const refusal = await refusalOf(text)
    if (typeof message === 'string') expect(refusal).toBe(message)
    else expect(refusal).toMatch(message)
  })
})
