// Runs on a server alone: what is refused never gets to the database.
import { execFileSync } from 'node:child_process'
import { chmod, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture, ingestManifest, manifestText, writeManifest } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'

let ingest: RefusingIngest
beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(() => ingest.close())

/** Returns other bytes, or changes these. */
type Damage = (bytes: Buffer) => unknown

/** Why a copy of a fixture is refused after something was done to its bytes. */
async function refusalOf(file: string, damage: Damage, settings = {}): Promise<string> {
  const bytes = await readFile(fixture(file))
  const changed = damage(bytes)
  await ingest.write('it.tif', changed instanceof Buffer ? changed : bytes)
  return ingest.refusalOf(manifestText([{ file: 'it.tif' }], settings))
}

/** Where a tag's values lie in a little-endian classic TIFF. */
function placeOf(bytes: Buffer, tag: number): number {
  const directory = bytes.readUInt32LE(4)
  for (let index = 0; index < bytes.readUInt16LE(directory); index++) {
    const entry = directory + 2 + index * 12
    if (bytes.readUInt16LE(entry) !== tag) continue
    const size = bytes.readUInt32LE(entry + 4) * ({ 3: 2, 4: 4 }[bytes.readUInt16LE(entry + 2)] ?? 8)
    return size > 4 ? bytes.readUInt32LE(entry + 8) : entry + 8
  }
  throw new Error(`no tag ${tag}`)
}

/** Where the first strip begins. */
const stripIn = (bytes: Buffer) => bytes.readUInt32LE(placeOf(bytes, 273))

test.each<[reason: string, damage: (blob: Buffer) => unknown]>([
  [
    'its LERC data say that they are 37 x 1000000 pixels of 1 x 64BF, and the block has 37 x 27 of 1 x 64BF.',
    (blob) => blob.writeInt32LE(1_000_000, 14),
  ],
  // As many pixels, which lie otherwise.
  [
    'its LERC data say that they are 27 x 37 pixels of 1 x 64BF, and the block has 37 x 27 of 1 x 64BF.',
    (blob) => blob.writeInt32LE(27, blob.writeInt32LE(37, 14)),
  ],
  ['its LERC data are damaged.', (blob) => blob.fill(0x55, 200, 220)],
  ['its LERC data are damaged, or of another version.', (blob) => blob.writeInt32LE(99, 6)],
])('a raster with LERC is refused: %s', async (reason, damage) => {
  const inBlob: Damage = (bytes) => void damage(bytes.subarray(bytes.indexOf('Lerc2 ')))
  expect(await refusalOf('../raster-kinds/lerc-float64.tif', inBlob)).toBe(
    `it.tif cannot be read at rows 0 to 28: ${reason}`,
  )
})

const UNITS =
  '1 x 1, 1 x 1 samples in a unit: 1 x 1 of each band are read, and of the first of three that are YCbCr 2 x 1 or 2 x 2 as well.'

test.each<[reason: string, kind: string, damage: (frame: Buffer, bytes: Buffer) => unknown]>([
  // Before memory is taken.
  [
    'say that they are 37 x 65535 pixels of 1 samples, and the block has 37 x 29 of 1.',
    'jpeg',
    (frame) => frame.writeUInt16BE(65_535, 5),
  ],
  [
    'say that they are 65535 x 29 pixels of 1 samples, and the block has 37 x 29 of 1.',
    'jpeg',
    (frame) => frame.writeUInt16BE(65_535, 7),
  ],
  [
    'say that they are 37 x 0 pixels of 1 samples, and the block has 37 x 29 of 1.',
    'jpeg',
    (frame) => frame.writeUInt16BE(0, 5),
  ],
  [
    'are progressive, lossless or arithmetically coded: sequential ones are read.',
    'jpeg-ycbcr',
    (frame) => frame.writeUInt8(0xc2, 1),
  ],
  ['have samples of 12 bits: those of 8 are read.', 'jpeg-ycbcr', (frame) => frame.writeUInt8(12, 4)],
  [`have 4 x 1, ${UNITS}`, 'jpeg-ycbcr', (frame) => frame.writeUInt8(0x41, 11)],
  [`have 0 x 0, ${UNITS}`, 'jpeg-ycbcr', (frame) => frame.writeUInt8(0, 11)],
  // Tables that are not there, and data that end before the pixels.
  ['are damaged.', 'jpeg-ycbcr', (frame) => frame.writeUInt8(3, 12)],
  ['are damaged.', 'jpeg', (frame) => frame.writeUInt16BE(0xffd9, frame.indexOf(Buffer.of(0xff, 0xda)) + 40)],
])('a raster with JPEG is refused: its JPEG data %s', async (reason, kind, damage) => {
  // The frame of the last stream.
  const inFrame: Damage = (bytes) =>
    void damage(bytes.subarray(bytes.lastIndexOf(Buffer.of(0xff, 0xc0))), bytes)
  expect(await refusalOf(`../raster-kinds/${kind}.tif`, inFrame, { lossy: true })).toBe(
    `it.tif cannot be read at rows 0 to 28: its JPEG data ${reason}`,
  )
})

test('a raster with JPEG is refused whose blocks share damaged tables, or whose manifest does not say that it is lossy', async () => {
  const file = '../raster-kinds/jpeg.tif'
  const cut: Damage = (bytes) => void bytes.writeUInt16BE(65_000, bytes.indexOf(Buffer.of(0xff, 0xdb)) + 2)
  expect(await refusalOf(file, cut, { lossy: true })).toBe(
    'it.tif is cut off, damaged or not a GeoTIFF: its directory cannot be read (its JPEG data are damaged).',
  )
  for (const said of [{}, { lossy: false }]) {
    expect(await refusalOf(file, () => {}, said)).toBe(
      'it.tif is compressed with JPEG, which may have changed its values: load the raster as it was before, or say "lossy: true" in the manifest, and the catalogue says it of the release.',
    )
  }
})

test('files that are not there, are folders, or may not be read are refused', async () => {
  await mkdir(join(ingest.folder, 'folder.tif'))
  expect(await ingest.refusalOfFile('nowhere/missing.tif')).toBe('nowhere/missing.tif does not exist.')
  expect(await ingest.refusalOfFile('folder.tif')).toBe('folder.tif is not a file.')
  if (process.getuid?.() === 0) return
  await chmod(join(ingest.folder, await ingest.write('secret.tif', 'II')), 0)
  expect(await ingest.refusalOfFile('secret.tif')).toBe('secret.tif may not be read.')
})

test.each(['', 'Dear operator, this is not a raster.', 'II', 'GIF89a'])(
  'a file that begins with %j is refused: it is no TIFF',
  async (content) => {
    expect(await ingest.refusalOfFile(await ingest.write('it.tif', content))).toBe(
      'it.tif is not a TIFF file.',
    )
  },
)

const CUT_OFF =
  /^\S+ is cut off(, damaged or not a GeoTIFF: its directory cannot be read \(.+\)| or damaged: not all of its (strips|tiles) are there)\.$/

test.each(['lzw-3-float32', 'bands-band-float32-tiled', 'bigtiff-float32', 'big-endian-int16'])(
  '%s is refused where it is cut off, at every 97th byte',
  async (name) => {
    const { length: whole } = await readFile(fixture(`${name}.tif`))
    for (let length = 8; length < whole; length += 97) {
      expect(await refusalOf(`${name}.tif`, (bytes) => bytes.subarray(0, length))).toMatch(CUT_OFF)
    }
  },
)

test.each([
  [6, 'it is to be at bytes 0 to 7, and the file has 6'],
  [100, 'it is to be at bytes 10 to 205, and the file has 100'],
  [300, 'a tag of it lies beyond byte 300, where the file ends'],
])('a file that is cut off after %i bytes is refused with where', async (length, where) => {
  expect(await refusalOf('type-float32.tif', (bytes) => bytes.subarray(0, length))).toBe(
    `it.tif is cut off, damaged or not a GeoTIFF: its directory cannot be read (${where}).`,
  )
})

test('a file is refused that is cut off by a byte, or in the table of strips at its end', async () => {
  const refusal = 'it.tif is cut off or damaged: not all of its strips are there.'
  expect(await refusalOf('lzw-2-int16.tif', (bytes) => bytes.subarray(0, -1))).toBe(refusal)
  const inTable: Damage = (bytes) => {
    const directory = bytes.readUInt32BE(4)
    for (let index = 0; index < bytes.readUInt16BE(directory); index++) {
      const entry = directory + 2 + index * 12
      if (bytes.readUInt16BE(entry) === 279) bytes.writeUInt32BE(bytes.length - 300, entry + 8)
    }
  }
  expect(await refusalOf('big-endian-many-strips.tif', inTable)).toMatch(CUT_OFF)
})

const turn = (bytes: Buffer, at: number) => bytes.writeUInt8(bytes.readUInt8(at) ^ 0xff, at)

test.each<[reason: string | RegExp, file: string, damage: Damage]>([
  [
    'incorrect header check',
    'deflate-float64.tif',
    (bytes) => void bytes.fill(0xfe, stripIn(bytes), stripIn(bytes) + 12),
  ],
  [
    'its LZW data are damaged',
    'lzw-uint8.tif',
    (bytes) => void bytes.fill(0xfe, stripIn(bytes), stripIn(bytes) + 12),
  ],
  [
    'incorrect data check',
    'deflate-float64.tif',
    (bytes) => bytes.writeUInt32LE(0, stripIn(bytes) + bytes.readUInt32LE(placeOf(bytes, 279)) - 4),
  ],
  ...[0, 4, 6, 7, 8, 9].map((at): [string, string, Damage] => [
    'the block at byte 396 is damaged: it is too short',
    'zstd-uint16.tif',
    (bytes) => turn(bytes, stripIn(bytes) + at),
  ]),
  [
    /the block at byte \d+ is damaged: it is too short/,
    'type-int16.tif',
    (bytes) => bytes.writeUInt16LE(100, placeOf(bytes, 279)),
  ],
])('a raster with a damaged block is refused: %s', async (reason, file, damage) => {
  const refusal = await refusalOf(file, damage)
  expect(refusal).toMatch(/^it\.tif cannot be read at rows 0 to 17: .+[^.]\.$/)
  expect(refusal.slice('it.tif cannot be read at rows 0 to 17: '.length, -1)).toEqual(
    typeof reason === 'string' ? reason : expect.stringMatching(reason),
  )
})

test('LZW that is damaged anywhere ends, and is refused', async () => {
  const { length } = await readFile(fixture('lzw-full-table.tif'))
  for (let at = 700; at < length; at += 397) {
    expect(await refusalOf('lzw-full-table.tif', (bytes) => void bytes.fill(0xff, at, at + 40))).toMatch(
      /^it\.tif cannot be read at rows 0 to 60: (its LZW data are damaged|the block at byte \d+ is damaged: it is too short)\.$/,
    )
  }
})

const SEVERAL = (file: string) =>
  `; of several variables or bands, gdalinfo ${file} lists what to give in its place`

test.each([
  ['rain.nc', 'CDF\x01\0\0\0\0', 'NetCDF', SEVERAL('rain.nc')],
  ['rain.nc', 'CDF\x05\0\0\0\0', 'NetCDF', SEVERAL('rain.nc')],
  ['rain.nc4', '\x89HDF\r\n\x1a\n', 'NetCDF or HDF5', SEVERAL('rain.nc4')],
  ['rain.hdf', '\x0e\x03\x13\x01', 'HDF4', SEVERAL('rain.hdf')],
  ['rain.grb', 'GRIB\0\0\0\x02', 'GRIB', SEVERAL('rain.grb')],
  ['rain.asc', 'NCOLS 20\nnrows 10\n', 'an ESRI ASCII grid'],
  ['rain.img', 'EHFA_HEADER_TAG\0', 'an ERDAS IMAGINE image'],
  ['rain.vrt', '<VRTDataset rasterXSize="2">', 'a virtual raster of GDAL'],
  ['rain.jp2', '\0\0\0\x0cjP  ', 'JPEG 2000'],
  ['rain.png', '\x89PNG\r\n', 'PNG'],
  ['rain.tif', '\x89PNG\r\n', 'PNG', '', 'rain-deflate.tif'],
  ['rain.jpg', '\xff\xd8\xff\xe0', 'JPEG'],
  // A shell would not take these names as they are.
  [
    "wheat's rain.asc",
    'ncols 20\n',
    'an ESRI ASCII grid',
    '',
    "'wheat'\\''s rain.tif'",
    "'wheat'\\''s rain.asc'",
  ],
])(
  '%s, which begins with %j, is refused with the line that makes a GeoTIFF of it',
  async (file, beginning, name, several = '', made = 'rain.tif', quoted = file) => {
    const refusal = await ingest.refusalOfFile(await ingest.write(file, beginning))
    expect(refusal).toBe(
      `${file} is ${name}, not a GeoTIFF: gdal_translate -co COMPRESS=DEFLATE ${quoted} ${made} makes one of it${several}.`,
    )
  },
)

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
    const path = join(ingest.folder, name)
    execFileSync('gdal_translate', ['-q', '-of', format, ...options, fixture('zeros.tif'), path])
    const load = async (file: string) => {
      const text = manifestText([{ file }], { forecast_period: '2024-01' })
      return ingestManifest(ingest.database, await writeManifest(ingest.folder, text))
    }
    const refusal = await load(path).catch((error: Error) => error.message)
    const line = /gdal_translate .+?(?= makes)/.exec(String(refusal))?.[0] as string
    execFileSync('sh', ['-c', line], { stdio: 'pipe' })
    const made = line
      .replace(/.* (\/|')/, '$1')
      .replace(/^'(.*)'$/, (_, quoted) => quoted.replaceAll("'\\''", "'"))
    expect(await load(made)).toMatchObject({ published: true })
  })
})
