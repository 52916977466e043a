// Runs on a server alone: what is stored of a raster is the same on both; rasters.test.ts tries each type of pixel.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { zipSync } from 'fflate'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { newFolder } from '#test/setup/folders.ts'
import { kindFixture, manifestText } from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest } from './refusals.ts'
import { storedLayer } from './stored-layer.ts'

const temporary = process.env.TMPDIR
let ingest: RefusingIngest
let unpacked: string
beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(() => ingest.close())
beforeEach(async () => {
  unpacked = await newFolder()
  process.env.TMPDIR = unpacked
})
afterEach(async () => {
  if (temporary === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = temporary
  expect(await readdir(unpacked)).toEqual([])
})

/** Writes an archive with fixtures in it, by the names that they have there. */
async function zip(name: string, entries: Record<string, string>): Promise<string> {
  const contents = Object.entries(entries).map(async ([entry, fixture]) => [
    entry,
    await readFile(kindFixture(fixture)),
  ])
  await writeFile(join(ingest.folder, name), zipSync(Object.fromEntries(await Promise.all(contents))))
  return name
}

const load = (layer: Record<string, unknown>, month: string) => storedLayer(ingest, layer, month)

describe('a raster in a zip archive is loaded as it would be outside', () => {
  const beside = ['beside-scale.tif', 'beside-scale.tif.aux.xml'] as const
  const masked = ['mask-beside-float32.tif', 'mask-beside-float32.tif.msk'] as const

  test('with what lies beside it there, by its name or as the only one', async () => {
    const expected = await load({ file: kindFixture(beside[0]) }, '2024-01')
    expect(expected).toMatchObject([{ scale: 0.25 }])
    const archive = await zip('one.zip', { [beside[0]]: beside[0], [beside[1]]: beside[1] })
    expect(await load({ file: archive }, '2024-02')).toEqual(expected)
    expect(await load({ file: `${archive}/${beside[0]}` }, '2024-03')).toEqual(expected)
  })

  test('from a folder of it, with the mask that is there', async () => {
    const expected = await load({ file: kindFixture(masked[0]) }, '2024-01')
    const entries = { [`2024/a/${masked[0]}`]: masked[0], [`2024/a/${masked[1]}`]: masked[1] }
    const archive = await zip('Folders.ZIP', { ...entries, '2024/b/other.tif': 'int64.tif' })
    expect(await load({ file: `${archive}/2024/a/${masked[0]}` }, '2024-02')).toEqual(expected)
  })

  test('as one of several that lie side by side', async () => {
    const corners = ['south-east', 'north-west', 'south-west', 'north-east'].map(
      (corner) => `mosaic-${corner}.tif`,
    )
    const archive = await zip('corners.zip', Object.fromEntries(corners.map((name) => [name, name])))
    const found = await load({ files: [`${archive}/mosaic-*.tif`] }, '2024-03')
    const { checksum: _, ...whole } = (
      await load({ file: kindFixture('mosaic-whole.tif') }, '2024-02')
    )[0] as {
      checksum: string
    }
    expect(found).toMatchObject([whole])
  })
})

describe('what cannot be found in an archive is refused', () => {
  const two = { 'a.tif': 'int64.tif', 'b.tif': 'int64.tif' }

  test('one of several that is not named, or not there', async () => {
    const archive = await zip('two.zip', two)
    expect(await ingest.refusalOfFile(archive)).toBe(
      'two.zip has 2 rasters; say which, behind a slash: a.tif, b.tif.',
    )
    expect(await ingest.refusalOfFile(`${archive}/c.tif`)).toBe('two.zip has no c.tif; it has a.tif, b.tif.')
    expect(await ingest.refusalOf(manifestText([{ files: [`${archive}/c*.tif`] }]))).toBe(
      'two.zip/c*.tif fits no file.',
    )
  })

  test('no raster at all', async () => {
    const archive = await zip('none.zip', { 'readme.txt': 'expected.json' })
    expect(await ingest.refusalOfFile(archive)).toBe('none.zip has no GeoTIFF; it has no rasters.')
  })

  test('an archive that is cut off, or is none', async () => {
    const whole = await readFile(join(ingest.folder, await zip('whole.zip', two)))
    await writeFile(join(ingest.folder, 'cut.zip'), whole.subarray(0, whole.length / 2))
    await writeFile(join(ingest.folder, 'text.zip'), 'Dear operator, this is no archive.')
    for (const name of ['cut.zip', 'text.zip']) {
      expect(await ingest.refusalOfFile(name)).toMatch(/^\S+\.zip is not a complete zip archive: .+\.$/)
    }
    expect(await ingest.refusalOfFile('gone.zip')).toBe('gone.zip does not exist.')
  })

  test('a raster that is larger than the archive says', async () => {
    const bytes = await readFile(join(ingest.folder, await zip('lie.zip', { 'a.tif': 'int64.tif' })))
    // Its size as the directory at the end has it, 24 bytes behind the signature.
    bytes.writeUInt32LE(100, bytes.indexOf('PK\x01\x02', 0, 'latin1') + 24)
    await writeFile(join(ingest.folder, 'lie.zip'), bytes)
    expect(await ingest.refusalOfFile('lie.zip')).toMatch(/^lie\.zip cannot be unpacked: .+\.$/)
  })
})
