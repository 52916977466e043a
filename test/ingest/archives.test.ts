// Runs on a server alone: what is stored of a raster is the same on both; rasters.test.ts tries each type of pixel.
import { execFileSync } from 'node:child_process'
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { zipSync } from 'fflate'
import { sql } from 'kysely'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { newFolder } from '#test/setup/folders.ts'
import {
  fixture,
  ingestManifest,
  kindFixture,
  type LayerText,
  manifestText,
  writeManifest,
} from './fixtures.ts'
import { createRefusingIngest, type RefusingIngest, refusalsOf } from './refusals.ts'

let ingest: RefusingIngest
let temporary: string

beforeAll(async () => {
  ingest = await createRefusingIngest()
})
afterAll(async () => {
  await ingest.close()
})

beforeEach(async () => {
  temporary = await newFolder()
  vi.stubEnv('TMPDIR', temporary)
})
afterEach(async () => {
  vi.unstubAllEnvs()
  expect(await readdir(temporary)).toEqual([])
})

let years = 2000

test('a raster in a zip archive is loaded as it would be outside, with what lies beside it, by its name or as the only one', async () => {
  const expected = await load({ file: kindFixture('beside-scale.tif') })
  expect(expected).toMatchObject([{ scale: 0.25 }])
  const names = ['beside-scale.tif', 'beside-scale.tif.aux.xml']
  const archive = await zip('one.zip', Object.fromEntries(names.map((name) => [name, name])))
  expect(await load({ file: archive })).toEqual(expected)
  expect(await load({ file: `${archive}/beside-scale.tif` })).toEqual(expected)
  const ofFinder = ['__MACOSX/._beside-scale.tif', '._beside-scale.tif', '.DS_Store']
  const entries = [...names.map((name) => [name, name]), ...ofFinder.map((name) => [name, 'expected.json'])]
  expect(await load({ file: await zip('finder.zip', Object.fromEntries(entries)) })).toEqual(expected)
})

test('a raster in a folder of an archive is loaded with its mask, and several by a name with stars', async () => {
  const masked = 'mask-beside-float32.tif'
  const entries = { [`2024/a/${masked}`]: masked, [`2024/a/${masked}.msk`]: `${masked}.msk` }
  const archive = await zip('Folders.ZIP', { ...entries, '2024/b/other.tif': 'int64.tif' })
  expect(await load({ file: `${archive}/2024/a/${masked}` })).toEqual(
    await load({ file: kindFixture(masked) }),
  )
  const corners = ['south-east', 'north-west', 'south-west', 'north-east'].map(
    (corner) => `mosaic-${corner}.tif`,
  )
  const mosaic = await zip('corners.zip', Object.fromEntries(corners.map((name) => [name, name])))
  const [whole] = (await load({ file: kindFixture('mosaic-whole.tif') })) as { checksum: string }[]
  expect(await load({ files: [`${mosaic}/mosaic-*.tif`] })).toEqual([
    { ...whole, checksum: expect.any(String) },
  ])
})

test('a raster that is packed with gzip is loaded as it would be unpacked', async () => {
  const expected = await load({ file: kindFixture('names.tif'), band: 2 })
  const packed = gzipSync(await readFile(kindFixture('names.tif')))
  for (const name of ['names.tif.gz', 'NAMES.TIF.GZ']) {
    expect(await load({ file: await ingest.write(name, packed), band: 2 })).toEqual(expected)
  }
})

test('notes name what the manifest names, not temporary files, and are one where only the file differs', async () => {
  const names = ['a', 'b', 'c'].map((letter) => `${letter}.tif`)
  const bytes = await readFile(kindFixture('alpha-uint8.tif'))
  const archive = join(ingest.folder, 'three.zip')
  await writeFile(archive, zipSync(Object.fromEntries(names.map((name) => [name, bytes]))))
  const packed = join(ingest.folder, 'alone.tif.gz')
  await writeFile(packed, gzipSync(bytes))
  const notesOf = async (...files: string[]) => {
    const scenarios = ['Normal', 'Below Normal', 'Above Normal']
    const layers = files.map((file, at) => ({ file, scenario: scenarios[at] }))
    const text = manifestText(layers, { forecast_period: `${years++}-01` })
    return (await ingestManifest(ingest.database, await writeManifest(ingest.folder, text))).notes
  }
  const plain = kindFixture('alpha-uint8.tif')
  const [note = ''] = await notesOf(plain)
  expect(note).toContain(plain)
  expect(await notesOf(...names.map((name) => `three.zip/${name}`))).toEqual([
    `${note.replaceAll(plain, `${archive}/a.tif`)} The same holds for 2 more: b.tif, c.tif.`,
  ])
  expect(await notesOf('alone.tif.gz')).toEqual([note.replaceAll(plain, `${packed}/alone.tif`)])
})

test('packed files that are not read, and paths of another kind, are refused with what to do', async () => {
  const whole = gzipSync(await readFile(kindFixture('names.tif')))
  const files: Record<string, Buffer | string> = {
    'cut.tif.gz': whole.subarray(0, whole.length / 2),
    'text.tif.gz': 'Dear operator, this is not packed.',
    'other.tif.gz': gzipSync('Dear operator, this is no raster.'),
    'rain.zip': Buffer.from(
      zipSync({ 'rain.nc': Buffer.from('CDF\x01'), 'rain.tif': Buffer.from('CDF\x01') }),
    ),
    'a.tar.gz': whole,
    'a.tgz': whole,
    'a.tar': 'a.tif',
    'gzip.tif': whole,
    'zip.tif': 'PK\x03\x04',
    'a.tif.bz2': 'BZh91AY',
    'a.tif.xz': Buffer.from('\xfd7zXZ\0', 'latin1'),
    'a.tif.zst': Buffer.from('(\xb5/\xfd', 'latin1'),
    'a.7z': Buffer.from("7z\xbc\xaf'\x1c", 'latin1'),
    'a.rar': 'Rar!\x1a\x07',
    'renamed.tif': Buffer.from('\xfd7zXZ\0', 'latin1'),
  }
  for (const [name, content] of Object.entries(files)) await ingest.write(name, content)
  const paths = [
    'gone.tif.gz',
    '/vsigzip/a.tif.gz',
    '/vsicurl/https://example.org/a.tif',
    '/vsizip/a.zip/a.tif',
    'file:///data/a.tif',
    'https://me:s3cret@example.org/a.tif?key=s3cret',
    's3://bucket/a.tif',
    'gs://bucket/a.tif',
    'ftp://example.org/a.tif',
    'sftp://example.org/a.tif',
    'NETCDF:rain.nc:amount',
    'C:\\\\data\\\\a.tif',
    'D:/data/a.tif',
    '\\\\\\\\server\\\\a.tif',
  ]
  const cases = Object.fromEntries([...Object.keys(files), ...paths].map((path) => [path, path]))
  const refusals = await refusalsOf(cases, (path) => ingest.refusalOfFile(path))
  await expect(
    refusals.replaceAll(temporary, 'TMPDIR').replaceAll(/agro-\w{6}/g, 'agro'),
  ).toMatchFileSnapshot('refused/packed.txt')
})

test('archives are refused that lack rasters, all at once, and one that names none of several, is cut off, or lies', async () => {
  const archive = await zip('two.zip', { 'a.tif': 'int64.tif', 'b.tif': 'int64.tif' })
  const bytes = await readFile(join(ingest.folder, archive))
  await zip('none.zip', { 'readme.txt': 'expected.json' })
  await ingest.write('cut.zip', bytes.subarray(0, bytes.length / 2))
  await ingest.write('text.zip', 'Dear operator, this is no archive.')
  // Its size as the directory at the end has it, 24 bytes behind the signature.
  bytes.writeUInt32LE(100, bytes.indexOf('PK\x01\x02', 0, 'latin1') + 24)
  await ingest.write('lie.zip', bytes)
  const cases = {
    'one of two': { file: 'two.zip' },
    'one that it has not': { file: 'two.zip/c.tif' },
    'stars that fit nothing': { files: ['two.zip/c*.tif'] },
    'one of none': { file: 'none.zip' },
    'one that is cut off': { file: 'cut.zip' },
    'one that is none': { file: 'text.zip' },
    'one that is not there': { file: 'gone.zip' },
    'one that lies': { file: 'lie.zip/a.tif' },
    'all that are not there, in archives and beside them': [
      ...['two.zip/A.TIF', 'two.zip/2026/b.tif', 'two.zip/nothing-like-it.tif', 'two.zip', 'none.zip'],
      ...['towr.zip/a.tif', 'tow.zip/a.tif', 'nothing.tif'],
    ].map((file, at) => ({ file, scenario: `${at}` })),
    'stars that fit nothing, in archives and beside them': [
      ...['two.zip/c*.tif', 'two.zip/2026/*.tif', 'nowhere/*.tif', 'gone.zip/*.tif', '*.TIFF'],
    ].map((file, at) => ({ files: [file], scenario: `${at}` })),
  }
  const refusals = await refusalsOf<LayerText | LayerText[]>(cases, (layers) =>
    ingest.refusalOf(manifestText([layers].flat())),
  )
  await expect(refusals).toMatchFileSnapshot('refused/archives.txt')
})

const hasGdal = (() => {
  try {
    return execFileSync('gdal_translate', ['--version']).length > 0
  } catch {
    return false
  }
})()

describe.skipIf(!hasGdal)('the line in a refusal makes a file that is loaded (Debian: gdal-bin)', () => {
  const IN_ZIP = ['rain.zip', 'Rain of July.zip', "wheat's $HOME.zip"]
  test.each<[format: string, name: string, options: string[], packed?: string]>([
    ['netCDF', "wheat's yield.nc", []],
    ['AAIGrid', 'yield.asc', ['-a_nodata', '-1']],
    ['GTiff', 'lzma.tif', ['-co', 'COMPRESS=LZMA']],
    ...IN_ZIP.map((packed): [string, string, string[], string] => [
      'AAIGrid',
      'yield.tif',
      ['-a_nodata', '-1'],
      packed,
    ]),
    ['GTiff', 'a `b` $c\'s "d".tif', ['-co', 'COMPRESS=LZMA'], 'Rain.ZIP'],
    ['GPKG', 'yield.gpkg', ['-ot', 'Byte'], "it's.zip"],
    ['AAIGrid', 'of $(July).tif', ['-a_nodata', '-1'], 'of $(July).tif.gz'],
  ])('%s: %s %j %s', async (format, name, options, packed) => {
    const path = join(ingest.folder, name)
    execFileSync('gdal_translate', ['-q', '-of', format, ...options, fixture('zeros.tif'), path])
    const load = async (file: string) => {
      const text = manifestText([{ file, srid: 4326 }], { forecast_period: '2024-01' })
      return ingestManifest(ingest.database, await writeManifest(ingest.folder, text))
    }
    const bytes = await readFile(path)
    const isZip = /zip$/i.test(packed ?? '')
    if (packed) {
      await writeFile(
        join(ingest.folder, packed),
        isZip ? zipSync({ [`in/${name}`]: bytes }) : gzipSync(bytes),
      )
      await rm(path)
    }
    const refusal = await load(isZip ? `${packed}/in/${name}` : (packed ?? name)).catch(String)
    const line = /gdal_translate .+?(?= makes)/.exec(String(refusal))?.[0] as string
    const before = await readdir(ingest.folder)
    execFileSync('sh', ['-c', line], { cwd: ingest.folder, stdio: 'pipe' })
    const after = await readdir(ingest.folder)
    const made = after.find((other) => /\.tif$/.test(other) && !before.includes(other)) as string
    expect(await load(made)).toMatchObject({ published: true })
    for (const other of after) if (!before.includes(other)) await rm(join(ingest.folder, other))
    const several = /gdalinfo .+?(?= lists)/.exec(String(refusal))?.[0]
    if (several) execFileSync('sh', ['-c', several], { cwd: ingest.folder, stdio: 'pipe' })
  })
})

/** What is stored of a layer, which is a release of a year of its own. */
async function load(layer: Record<string, unknown>): Promise<unknown[]> {
  const text = manifestText([layer], { forecast_period: `${years++}-01` })
  const { code } = await ingestManifest(ingest.database, await writeManifest(ingest.folder, text))
  const { rows } = await sql`
    select checksum, layer.scale, layer.minimum, layer.maximum, layer.mean, layer.valid_count
    from release join layer on layer.release_id = release.id
    where code = ${code}`.execute(ingest.database.writer)
  return rows
}

/** Writes an archive with fixtures in it, by the names that they have there. */
async function zip(name: string, entries: Record<string, string>): Promise<string> {
  const contents = Object.entries(entries).map(async ([entry, file]) => [
    entry,
    await readFile(kindFixture(file)),
  ])
  return ingest.write(name, Buffer.from(zipSync(Object.fromEntries(await Promise.all(contents)))))
}
