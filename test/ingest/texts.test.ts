import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import iconv from 'iconv-lite'
import { beforeAll, expect, test } from 'vitest'
import { readSideMetadata } from '#src/ingest/geotiff/bands.ts'
import { readManifest } from '#src/ingest/manifest.ts'
import { newFolder } from '#test/setup/folders.ts'
import { manifestText } from './fixtures.ts'

let path: string
beforeAll(async () => {
  const folder = await newFolder()
  path = join(folder, 'manifest.yaml')
  // Missing files are named before anything else is.
  await writeFile(join(folder, 'a.tif'), '')
})

const SOURCE = 'Université de Ségou, Côte d’Ivoire'
const TEXT = manifestText([{ file: 'a.tif' }], { source: SOURCE })

test.each(['utf8', 'utf16le', 'utf-16be'])('a manifest is read in %s', async (encoding) => {
  expect(await read(iconv.encode(TEXT, encoding, { addBOM: true }))).toBe(SOURCE)
})

test('a manifest in another encoding, or with a letter that another program lost, is refused with its line', async () => {
  const line = TEXT.split('\n').findIndex((one) => one.includes('Ségou')) + 1
  expect(await read(Buffer.from(TEXT))).toBe(SOURCE)
  expect(await read(iconv.encode(TEXT, 'win1252'))).toBe(
    `manifest.yaml is not UTF-8, from line ${line} on (probably Windows-1252). Save it as UTF-8.`,
  )
  expect(await read(Buffer.from(TEXT.replace('é', '\ufffd')))).toBe(
    `manifest.yaml has the sign U+FFFD, on line ${line}: another program lost a letter there.`,
  )
})

test('a manifest with questions is refused with their lines', async () => {
  const asked = TEXT.replace(
    'layers:',
    '# ? licence: nothing says it\nlayers:\n  # ? scenario: which?',
  ).replace('crop:', '# crop ?\ncrop:')
  const lines = asked.split('\n')
  const [first, second] = ['# ? licence', '  # ? scenario'].map(
    (start) => lines.findIndex((line) => line.startsWith(start)) + 1,
  )
  const refusal =
    `manifest.yaml:${first}: is a question: licence: nothing says it\n` +
    `manifest.yaml:${second}: is a question: scenario: which?\nMend what each is about, and delete its line.`
  expect(await read(Buffer.from(asked))).toBe(refusal)
  expect(await read(Buffer.from(asked.replaceAll('\n', '\r\n')))).toBe(refusal)
})

test('metadata beside a raster are read in the encoding that their XML declares', async () => {
  const xml = (encoding: string) =>
    `<?xml version="1.0" encoding="${encoding}"?><PAMDataset><PAMRasterBand band="1"><Description>Blé</Description></PAMRasterBand></PAMDataset>`
  const readBand = async (bytes: Buffer) => {
    await writeFile(`${path}.aux.xml`, bytes)
    return (await readSideMetadata(path))?.bands.get(1)?.description
  }
  expect(await readBand(iconv.encode(xml('ISO-8859-1'), 'latin1'))).toBe('Blé')
  expect(await readBand(Buffer.from(xml('UTF-8')))).toBe('Blé')
  await expect(readBand(iconv.encode(xml('UTF-8'), 'latin1'))).rejects.toThrow('is not UTF-8, from line 1 on')
})

/** The source that a manifest names, or the sentence that refuses it. */
async function read(bytes: Buffer): Promise<string> {
  await writeFile(path, bytes)
  return readManifest(path).then(
    ({ source }) => source,
    (error: Error) => error.message.replaceAll(path, 'manifest.yaml'),
  )
}
