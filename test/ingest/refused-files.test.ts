// Runs on a server alone: what is refused never gets to the database.
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fixture } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'

let ingest: RefusingIngest
beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(() => ingest.close())

/** A copy of a fixture that a test may damage. */
async function damaged(file: string, name: string, damage: (bytes: Buffer) => Buffer | undefined) {
  const bytes = await readFile(fixture(file))
  await writeFile(join(ingest.folder, name), damage(bytes) ?? bytes)
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

describe('LERC data that cannot be read', () => {
  const lerc = (name: string, damage: (blob: Buffer) => void) =>
    damaged('../raster-kinds/lerc-float64.tif', name, (bytes) => {
      damage(bytes.subarray(bytes.indexOf('Lerc2 ')))
      return undefined
    })

  test('that say they are more than their block', async () => {
    const file = await lerc('more.tif', (blob) => blob.writeInt32LE(1_000_000, 14))
    expect(await ingest.refusalOfFile(file)).toBe(
      'more.tif cannot be read at rows 0 to 28: its LERC data say that they are 37 x 1000000 pixels of 1 x 64BF, and the block has 37 x 27 of 1 x 64BF.',
    )
  })

  test('that are as many, and lie otherwise', async () => {
    const file = await lerc('turned.tif', (blob) => {
      blob.writeInt32LE(37, 14)
      blob.writeInt32LE(27, 18)
    })
    expect(await ingest.refusalOfFile(file)).toBe(
      'turned.tif cannot be read at rows 0 to 28: its LERC data say that they are 27 x 37 pixels of 1 x 64BF, and the block has 37 x 27 of 1 x 64BF.',
    )
  })

  test('whose checksum is wrong', async () => {
    const file = await lerc('wrong.tif', (blob) => blob.fill(0x55, 200, 220))
    expect(await ingest.refusalOfFile(file)).toBe(
      'wrong.tif cannot be read at rows 0 to 28: its LERC data are damaged.',
    )
  })

  test('of another version', async () => {
    const file = await lerc('version.tif', (blob) => blob.writeInt32LE(99, 6))
    expect(await ingest.refusalOfFile(file)).toBe(
      'version.tif cannot be read at rows 0 to 28: its LERC data are damaged, or of another version.',
    )
  })
})

describe('files that cannot be opened', () => {
  test('a missing file, beside the manifest', async () => {
    expect(await ingest.refusalOfFile('nowhere/missing.tif')).toBe('nowhere/missing.tif does not exist.')
  })

  test('a folder', async () => {
    await mkdir(join(ingest.folder, 'folder.tif'))
    expect(await ingest.refusalOfFile('folder.tif')).toBe('folder.tif is not a file.')
  })

  test.skipIf(process.getuid?.() === 0)('a file that may not be read', async () => {
    await copyFile(fixture('type-uint8.tif'), join(ingest.folder, 'secret.tif'))
    await chmod(join(ingest.folder, 'secret.tif'), 0)
    expect(await ingest.refusalOfFile('secret.tif')).toBe('secret.tif may not be read.')
  })

  test.each([
    ['empty.tif', ''],
    ['text.tif', 'Dear operator, this is not a raster.'],
    ['short.tif', 'II'],
    ['snapshot.tif', 'GIF89a'],
  ])('%s, which is no TIFF', async (name, content) => {
    await writeFile(join(ingest.folder, name), content, 'latin1')
    expect(await ingest.refusalOfFile(name)).toBe(`${name} is not a TIFF file.`)
  })
})

describe('files that are cut off', () => {
  const CUT_OFF =
    /^\S+ is cut off(, damaged or not a GeoTIFF: its directory cannot be read \(.+\)| or damaged: not all of its (strips|tiles) are there)\.$/

  test('within the header', async () => {
    const file = await damaged('type-float32.tif', 'header.tif', (bytes) => bytes.subarray(0, 6))
    expect(await ingest.refusalOfFile(file)).toMatch(CUT_OFF)
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
      expect(`${length}: ${await ingest.refusalOfFile(cut)}`.replace(/^\d+: /, '')).toMatch(CUT_OFF)
    }
  })

  test.each([
    [7, 'it is to be at bytes 0 to 7, and the file has 7'],
    [100, 'it is to be at bytes 10 to 205, and the file has 100'],
    [300, 'a tag of it lies beyond byte 300, where the file ends'],
  ])('after %i bytes, with where', async (length, where) => {
    const file = await damaged('type-float32.tif', 'small.tif', (bytes) => bytes.subarray(0, length))
    expect(await ingest.refusalOfFile(file)).toBe(
      `small.tif is cut off, damaged or not a GeoTIFF: its directory cannot be read (${where}).`,
    )
  })

  test('by a single byte', async () => {
    const file = await damaged('lzw-2-int16.tif', 'almost.tif', (bytes) => bytes.subarray(0, -1))
    expect(await ingest.refusalOfFile(file)).toBe(
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
    expect(await ingest.refusalOfFile(file)).toMatch(CUT_OFF)
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
    expect(await ingest.refusalOfFile(file)).toBe(`damaged.tif cannot be read at rows 0 to 17: ${reason}.`)
  })

  test('DEFLATE whose sum does not match', async () => {
    const file = await damaged('deflate-float64.tif', 'sum.tif', (bytes) => {
      const start = bytes.readUInt32LE(placeOf(bytes, 273).at)
      const length = bytes.readUInt32LE(placeOf(bytes, 279).at)
      bytes.writeUInt32LE(0, start + length - 4)
      return undefined
    })
    expect(await ingest.refusalOfFile(file)).toBe(
      'sum.tif cannot be read at rows 0 to 17: incorrect data check.',
    )
  })

  test('LZW that is damaged anywhere ends, and is refused or read', async () => {
    const { length } = await readFile(fixture('lzw-full-table.tif'))
    for (let at = 700; at < length; at += 397) {
      const file = await damaged('lzw-full-table.tif', 'anywhere.tif', (bytes) => {
        bytes.fill(0xff, at, at + 40)
        return undefined
      })
      expect(await ingest.refusalOfFile(file)).toMatch(
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
      expect(await ingest.refusalOfFile(file)).toBe(
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
    expect(await ingest.refusalOfFile(file)).toMatch(
      /^tight\.tif cannot be read at rows 0 to 17: the block at byte \d+ is damaged: it is too short\.$/,
    )
  })
})
