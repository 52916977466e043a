import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { encodingNamed, givenEncoding, withoutCutCharacter } from '#src/ingest/boundaries/encoding.ts'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { boundaryFile } from '#test/setup/boundaries.ts'
import { shapefileParts, zipOf } from '#test/setup/shapefile.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/boundaries')

/** The names as OGR reads them, told what they are in. */
const { names: EXPECTED } = JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8')) as {
  names: Record<string, string[]>
}

/** The names in a file, and what is noted of it. */
async function read(file: string, encoding?: string): Promise<{ names: unknown[]; notes: string[] }> {
  const reading = { level: 1, ...(encoding && { encoding: givenEncoding(encoding) }) }
  const opened = await openBoundaryFile(resolve(FOLDER, file), reading)
  const [names, notes]: [unknown[], string[]] = [[], []]
  for await (const { properties } of opened.features((note) => notes.push(note))) names.push(properties.NAME)
  return { names, notes }
}

const SAYS = {
  'encoding-unlabelled-1252.zip':
    'encoding-unlabelled-1252.zip/areas.shp does not say what its texts are in, and they are not UTF-8: they are read as Windows-1252. If names look damaged, give --encoding.',
  'encoding-wrongly-1252.zip':
    'encoding-wrongly-1252.zip/areas.shp says in its .cpg that its texts are in Windows-1252, but they are valid as UTF-8: if names look damaged, give --encoding utf-8.',
  'encoding-unknown-label.zip':
    'encoding-unknown-label.zip/areas.shp says in its .cpg that its texts are in EBCDIC-37, which is not known: give --encoding, such as utf-8, windows-1252 or 850.',
  'encoding-wrongly-utf-8.zip':
    'The texts of encoding-wrongly-utf-8.zip/areas.shp are not UTF-8, as its .cpg says: give --encoding, such as windows-1252 or 850.',
}

describe('the texts of a shapefile', () => {
  const readAsLabelled = Object.keys(EXPECTED).filter(
    (file) => !(file in SAYS) && file !== 'encoding-unlabelled-850.zip',
  )
  test.each(readAsLabelled)('are read by its label, else as UTF-8, as OGR does: %s', async (file) => {
    expect(await read(file)).toEqual({ names: EXPECTED[file], notes: [] })
  })

  test('without a label are Windows-1252 where they are not UTF-8, with a note', async () => {
    const file = 'encoding-unlabelled-1252.zip'
    expect(await read(file)).toEqual({ names: EXPECTED[file], notes: [SAYS[file]] })
  })

  test('whose label is probably wrong are read by it, with a note', async () => {
    const file = 'encoding-wrongly-1252.zip'
    expect(await read(file)).toEqual({ names: ['SÃ©gou', 'Nâ€™Tillit'], notes: [SAYS[file]] })
  })

  test.each(['encoding-unknown-label.zip', 'encoding-wrongly-utf-8.zip'] as const)(
    'are refused where their label is not known or wrong: %s',
    async (file) => {
      await expect(read(file)).rejects.toThrow(SAYS[file])
    },
  )

  test.each([
    ['encoding-unlabelled-850.zip', '850'],
    ['encoding-unlabelled-1252.zip', 'windows-1252'],
    ['encoding-unknown-label.zip', 'ISO-8859-1'],
    ['encoding-wrongly-utf-8.zip', 'cp1252'],
    ['encoding-wrongly-1252.zip', 'utf8'],
  ])('are in what the operator says: %s in %s', async (file, encoding) => {
    expect(await read(file, encoding)).toEqual({ names: EXPECTED[file], notes: [] })
  })

  test('are refused where they are not the UTF-8 that the operator says', async () => {
    await expect(read('encoding-unlabelled-1252.zip', 'utf-8')).rejects.toThrow(
      'The texts of encoding-unlabelled-1252.zip/areas.shp are not valid as UTF-8: give --encoding, such as windows-1252 or 850.',
    )
    expect(() => givenEncoding('utf-16')).toThrow(
      '--encoding must be an encoding that is known, such as utf-8, windows-1252 or 850, not utf-16.',
    )
  })
})

/** A shapefile without a label whose texts fill their fields, as these bytes. */
async function filled(texts: Buffer[], cpg?: string) {
  const { shp, dbf, prj } = shapefileParts(texts.map(() => ({ properties: { NAME: '' }, ring: null })))
  for (const [index, text] of texts.entries()) {
    const record = (dbf as Buffer).readUInt16LE(8) + 41 * index
    text.copy(dbf as Buffer, record + 1 + 40 - text.length)
  }
  const parts = { shp, dbf, prj, ...(cpg !== undefined && { cpg: Buffer.from(cpg) }) } as Record<
    string,
    Buffer
  >
  return read(await boundaryFile(zipOf({ areas: parts }), 'areas.zip'))
}

describe('the only accent of a text, at the end of a field that it fills,', () => {
  const MALE = Buffer.from('Malé', 'latin1')
  const SEGOU = Buffer.from('Ségou')
  const CUT = Buffer.from('Malé').subarray(0, -1)

  test('is not cut UTF-8 where no other text is UTF-8', async () => {
    expect(await filled([MALE])).toEqual({
      names: ['Malé'],
      notes: [
        'areas.zip/areas.shp does not say what its texts are in, and they are not UTF-8: they are read as Windows-1252. If names look damaged, give --encoding.',
      ],
    })
  })

  test.each([
    ['before', [CUT, SEGOU], ['Mal', 'Ségou']],
    ['behind', [SEGOU, CUT], ['Ségou', 'Mal']],
  ])('is cut UTF-8 where a text %s it is UTF-8', async (_, texts, names) => {
    expect(await filled(texts)).toEqual({ names, notes: [] })
  })

  test('is what the label says', async () => {
    expect(await filled([CUT], 'UTF-8')).toEqual({ names: ['Mal'], notes: [] })
    expect(await filled([MALE], '1252')).toEqual({ names: ['Malé'], notes: [] })
  })
})

test('Windows-1252 is not Latin-1, whatever Node says', () => {
  for (const label of ['1252', 'ANSI 1252', 'windows-1252', 'latin1', 'ISO-8859-1', '88591', 'LDID/87a']) {
    const text = encodingNamed(label)?.decode(Buffer.from([0x80, 0x92, 0x81, 0xa0, 0xff]))
    expect([label, text]).toEqual([label, label === 'LDID/87a' ? undefined : '€’\uFFFD\u00a0ÿ'])
  }
})

test.each<[text: string, bytes: number, left: string]>([
  ['aé', 2, 'a'],
  ['aé', 3, 'aé'],
  ['a€', 3, 'a'],
  ['a😀', 4, 'a'],
  ['a😀', 3, 'a'],
  ['a😀', 5, 'a😀'],
  ['', 0, ''],
])('of a text in UTF-8 a character that is cut is left out: %s in %i bytes', (text, bytes, left) => {
  expect(withoutCutCharacter(Buffer.from(text).subarray(0, bytes)).toString()).toBe(left)
})
