// Runs on a server alone: what a file is refused for never gets to the database, and a column is one on both.
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ingestManifest, kindFixture, manifestText, writeManifest } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'

const LOSSY = { lossy: true }

describe('a raster that is compressed with JPEG', () => {
  let ingest: RefusingIngest
  beforeAll(async () => {
    ingest = await createRefusingIngest()
  })
  afterAll(() => ingest.close())

  /** Why a kind is refused after something was done to its bytes. */
  async function refusalOf(kind: string, damage: (bytes: Buffer) => Buffer | undefined): Promise<string> {
    const bytes = await readFile(kindFixture(`${kind}.tif`))
    await writeFile(join(ingest.folder, 'damaged.tif'), damage(bytes) ?? bytes)
    return ingest.refusalOf(manifestText([{ file: 'damaged.tif' }], LOSSY))
  }

  test.each([{}, { lossy: false }])(
    'is refused with what would load it where the manifest says %j',
    async (said) => {
      const refusal = await ingest.refusalOf(manifestText([{ file: kindFixture('jpeg.tif') }], said))
      expect(refusal.replace(kindFixture(''), '')).toBe(
        'jpeg.tif is compressed with JPEG, which may have changed its values: load the raster as it was before, or say "lossy: true" in the manifest, and the catalogue says it of the release.',
      )
    },
  )

  test.each([
    ['more rows', (frame: Buffer) => frame.writeUInt16BE(65_535, 5), '37 x 65535 pixels of 1 samples'],
    ['more columns', (frame: Buffer) => frame.writeUInt16BE(65_535, 7), '65535 x 29 pixels of 1 samples'],
    ['no rows', (frame: Buffer) => frame.writeUInt16BE(0, 5), '37 x 0 pixels of 1 samples'],
  ])('is refused before memory is taken for %s than it has', async (_, damage, said) => {
    expect(await refusalOf('jpeg', (bytes) => void damage(bytes.subarray(frameIn(bytes))))).toBe(
      `damaged.tif cannot be read at rows 0 to 28: its JPEG data say that they are ${said}, and the block has 37 x 29 of 1.`,
    )
  })

  test.each([
    [
      'is progressive',
      (frame: Buffer) => frame.writeUInt8(0xc2, 1),
      'are progressive, lossless or arithmetically coded: sequential ones are read',
    ],
    [
      'has samples of 12 bits',
      (frame: Buffer) => frame.writeUInt8(12, 4),
      'have samples of 12 bits: those of 8 are read',
    ],
    [
      'has colours in units of 4 x 1',
      (frame: Buffer) => frame.writeUInt8(0x41, 11),
      'have 4 x 1, 1 x 1, 1 x 1 samples in a unit: 1 x 1 of each band are read, and of the first of three that are YCbCr 2 x 1 or 2 x 2 as well',
    ],
    [
      'has units of nothing',
      (frame: Buffer) => frame.writeUInt8(0, 11),
      'have 0 x 0, 1 x 1, 1 x 1 samples in a unit: 1 x 1 of each band are read, and of the first of three that are YCbCr 2 x 1 or 2 x 2 as well',
    ],
    ['has tables that are not there', (frame: Buffer) => frame.writeUInt8(3, 12), 'are damaged'],
  ])('is refused where it %s', async (_, damage, reason) => {
    expect(await refusalOf('jpeg-ycbcr', (bytes) => void damage(bytes.subarray(frameIn(bytes))))).toBe(
      `damaged.tif cannot be read at rows 0 to 28: its JPEG data ${reason}.`,
    )
  })

  test('is refused where its data end before its pixels do', async () => {
    const ended = (bytes: Buffer) => {
      const scan = bytes.indexOf(Buffer.of(0xff, 0xda), frameIn(bytes))
      bytes.writeUInt16BE(0xffd9, scan + 40)
      return undefined
    }
    expect(await refusalOf('jpeg', ended)).toBe(
      'damaged.tif cannot be read at rows 0 to 28: its JPEG data are damaged.',
    )
  })

  test('is no mask', async () => {
    const image = await ingest.writeRaster('image.tif', {
      width: 37,
      height: 29,
      row: () => new Float32Array(37),
    })
    await copyFile(kindFixture('jpeg.tif'), join(ingest.folder, 'image.tif.msk'))
    expect(await ingest.refusalOf(manifestText([{ file: image }], LOSSY))).toBe(
      'image.tif.msk has a mask that is compressed with loss: its zeros are not reliable.',
    )
  })

  test('is refused where the tables that its blocks share are damaged', async () => {
    const cut = (bytes: Buffer) => void bytes.writeUInt16BE(65_000, bytes.indexOf(Buffer.of(0xff, 0xdb)) + 2)
    expect(await refusalOf('jpeg', cut)).toBe(
      'damaged.tif is cut off, damaged or not a GeoTIFF: its directory cannot be read (its JPEG data are damaged).',
    )
  })
})

/** Where the frame of the last stream of a file is described. */
function frameIn(bytes: Buffer): number {
  return bytes.lastIndexOf(Buffer.of(0xff, 0xc0))
}

describe('a release whose manifest says that it is lossy', () => {
  let service: TestApp
  beforeAll(async () => {
    const folder = await newFolder()
    const ingest = async (database: Database, file: string, settings: Record<string, unknown>) =>
      ingestManifest(
        database,
        await writeManifest(folder, manifestText([{ file: kindFixture(file) }], settings)),
      )
    service = await createTestApp({
      template: 'empty',
      prepare: async (database) => {
        await ingest(database, 'jpeg.tif', { ...LOSSY, forecast_period: '2025-01' })
        await ingest(database, 'lerc-uint8.tif', { forecast_period: '2025-02' })
      },
    })
  })
  afterAll(() => service.close())

  test('says so in the catalog, where others say nothing', async () => {
    const { releases } = (await service.app.inject('/catalog')).json()
    const said = releases.map((release: object) => ['lossy' in release, (release as { lossy?: true }).lossy])
    expect(said).toEqual([
      [false, undefined],
      [true, true],
    ])
  })

  test('says so to the operator', async () => {
    const show = (month: string, ...options: string[]) =>
      runAgro(service.testDatabase, 'releases', 'show', `yield-eth-wheat-${month}-v1`, ...options)
    const line = '\nlossy: a compression may have changed its values\n'
    expect((await show('2025-01')).stdout).toContain(line)
    expect((await show('2025-02')).stdout).not.toContain('lossy')
    expect(JSON.parse((await show('2025-01', '--json')).stdout).lossy).toBe(true)
    expect(JSON.parse((await show('2025-02', '--json')).stdout).lossy).toBe(false)
  })
})
