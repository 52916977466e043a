import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import iconv from 'iconv-lite'
import { expect, test } from 'vitest'
import { openBoundaryFile } from '#src/ingest/boundaries/open.ts'
import { givenEncoding } from '#src/ingest/boundaries/shapefile.ts'
import { decodeField, type Encoding, encodingNamed, mendName, withoutCutCharacter } from '#src/lib/text.ts'
import { boundaryFile } from '#test/setup/boundaries.ts'
import { shapefileParts, zipOf } from './shapefile.ts'

const FOLDER = join(import.meta.dirname, '../../fixtures/boundaries')

/** The names as OGR reads them, told what they are in. */
const { names: EXPECTED } = JSON.parse(readFileSync(join(FOLDER, 'expected.json'), 'utf8')) as {
  names: Record<string, string[]>
}

const NO_LABEL =
  'does not say what its texts are in, and they are not UTF-8: they are read as Windows-1252. If names look damaged, give --encoding.'
const WRONG_LABEL =
  'says in its .cpg that its texts are in Windows-1252, but they are valid as UTF-8: if names look damaged, give --encoding utf-8.'

const NOT_AS_OGR = /^encoding-(unlabelled-1252|unlabelled-850|wrongly|unknown)/
const AS_LABELLED = Object.keys(EXPECTED).filter((file) => !NOT_AS_OGR.test(file))

type Case = [file: string, encoding: string | undefined, names?: string[], note?: string]

test.each<Case>([
  ...AS_LABELLED.map((file): Case => [file, undefined]),
  ['encoding-unlabelled-1252.zip', undefined, undefined, NO_LABEL],
  ['encoding-wrongly-1252.zip', undefined, ['SÃ©gou', 'Nâ€™Tillit'], WRONG_LABEL],
  ['encoding-unlabelled-850.zip', '850'],
  ['encoding-unlabelled-1252.zip', 'windows-1252'],
  ['encoding-unknown-label.zip', 'ISO-8859-1'],
  ['encoding-wrongly-utf-8.zip', 'cp1252'],
  ['encoding-wrongly-1252.zip', 'utf8'],
])(
  'texts are in what the operator names, else by their label, else in UTF-8, with a note of doubts: %s, %s',
  async (file, encoding, names = EXPECTED[file], note = undefined) => {
    const notes = note === undefined ? [] : [`${file}/areas.shp ${note}`]
    expect(await read(file, encoding)).toEqual({ names, notes })
  },
)

/** A shapefile whose texts fill their fields, as these bytes. */
async function filled(texts: Buffer[], cpg?: string | Buffer) {
  const { shp, dbf, prj } = shapefileParts(
    texts.map(() => ({ properties: { NAME: '' }, ring: null })),
  ) as Record<'shp' | 'dbf' | 'prj', Buffer>
  for (const [index, text] of texts.entries()) {
    text.copy(dbf, dbf.readUInt16LE(8) + 41 * index + 1 + 40 - text.length)
  }
  const parts = { shp, dbf, prj, ...(cpg !== undefined && { cpg: Buffer.from(cpg as string) }) }
  return read(await boundaryFile(zipOf({ areas: parts }), 'areas.zip'))
}

test('a shapefile that says UTF-16 is read by its bytes, and refused where they are not ASCII', async () => {
  const utf16 = (text: string) => iconv.encode(text, 'utf-16le', { addBOM: true })
  expect(await filled([Buffer.from('Segou')], 'UTF-16')).toEqual({ names: ['Segou'], notes: [] })
  expect(await filled([SEGOU], utf16('UTF-8'))).toEqual({ names: ['Ségou'], notes: [] })
  for (const [text, cpg] of [
    [SEGOU, 'UTF-16'],
    [MALE, 'UTF-16LE'],
    [iconv.encode('አዲስ', 'utf-16be'), 'UTF-16BE'],
  ] as const) {
    await expect(filled([text], cpg)).rejects.toThrow(
      /^areas\.zip\/areas\.shp .*UTF-16.*: (give --encoding utf-8|make it anew in UTF-8)/,
    )
  }
})

const MALE = Buffer.from('Malé', 'latin1')
const SEGOU = Buffer.from('Ségou')
const CUT = Buffer.from('Malé').subarray(0, -1)

test.each<[what: string, texts: Buffer[], cpg: string | undefined, names: string[], notes: string[]]>([
  [
    'is not cut UTF-8 where no other text is UTF-8',
    [MALE],
    undefined,
    ['Malé'],
    [`areas.zip/areas.shp ${NO_LABEL}`],
  ],
  ['is cut UTF-8 where a text behind it is UTF-8', [CUT, SEGOU], undefined, ['Mal', 'Ségou'], []],
  ['is cut UTF-8 where a text before it is UTF-8', [SEGOU, CUT], undefined, ['Ségou', 'Mal'], []],
  ['is UTF-8 by its label', [CUT], 'UTF-8', ['Mal'], []],
  ['is Windows-1252 by its label', [MALE], '1252', ['Malé'], []],
])(
  'the only accent of a text, at the end of a field that it fills, %s',
  async (_, texts, cpg, names, notes) => {
    expect(await filled(texts, cpg)).toEqual({ names, notes })
  },
)

test.each<[damaged: string, meant: string]>([
  ['SÃ©gou', 'Ségou'],
  ['Nâ€™Tillit', 'N’Tillit'],
  ['SÃO TOMÃ\u2030', 'SÃO TOMÉ'],
  ['CÃ”TE', 'CÔTE'],
  ['NkÉ”ranza', 'Nkɔranza'],
  ['Ã\u00a0 la', 'à la'],
  ['áŠ\u00a0á‹²áˆµ', 'አዲስ'],
  ['ÐšÐ¸ÐµÐ²', 'Киев'],
  ['HÃ¡ Ná»™i', 'Há Nội'],
  ['SÃƒÂ©gou', 'Ségou'],
  ['Ø§Ù\u0084Ø®Ø±Ø·Ù\u0088Ù\u0085', 'الخرطوم'],
  ...[
    'S√©gou',
    'S├®gou',
    'S├⌐gou',
    'S‚gou',
    'SŽgou',
    'SÚgou',
    'SÈgou',
    'S&eacute;gou',
    'S&#233;gou',
    'S&#xE9;gou',
  ].map((damaged): [string, string] => [damaged, 'Ségou']),
  ['C¶te d&rsquo;Ivoire', 'Côte d’Ivoire'],
  ['C™te', 'Côte'],
  ['GbodjomŽ &amp; Y\x8fv', 'GbodjomŽ & Yèv'],
  ['N‚ÄôTillit √†', 'N’Tillit à'],
])('the damaged name %s looks like %s', (damaged, meant) => {
  expect(mendName(damaged)).toBe(meant)
})

test.each([
  ...['São Tomé', 'Ãbidjan', 'PARANÃ', 'Ségou', 'አዲስ አበባ', 'Åland', 'Đà Nẵng', 'Côte d’Ivoire', 'MAÇÃ', 'À'],
  ...[
    '“CAFÉ”',
    '«CITÉ»',
    'PRÉ–SAINT',
    'CITÉ’S',
    'Café…”',
    'Nº 5',
    'ANDRÉ\u00a0II',
    'Weiß–Blau',
    'É…',
    '5°',
    'Gbɛ̃',
  ],
])('the name %s is as it should be', (name) => {
  expect(mendName(name)).toBe(name)
})

/** Names of the world in languages with accents, capitals within words and signs of their own. */
const LANGUAGES =
  'fr pt es de it cs pl sk hu ro tr is ga gd cy sv da nb fi et lt lv vi ca eu sw ha yo ig wo ff sq hr sl mt haw zu xh am'.split(
    ' ',
  )
const CODES = Array.from({ length: 676 }, (_, at) =>
  String.fromCharCode(65 + Math.floor(at / 26), 65 + (at % 26)),
)

test('no name of a country in any of these languages looks damaged, in its case or in capitals', () => {
  const names = LANGUAGES.flatMap((language) => {
    const regions = new Intl.DisplayNames(language, { type: 'region', fallback: 'none' })
    return CODES.flatMap((code) => regions.of(code) ?? [])
  })
  expect(names.length).toBeGreaterThan(8000)
  const written = names.flatMap((name) => [name, name.toUpperCase()])
  expect(written.filter((name) => mendName(name) !== name)).toEqual([])
})

test('Windows-1252 is not Latin-1, whatever Node says', () => {
  for (const label of ['1252', 'ANSI 1252', 'windows-1252', 'latin1', 'ISO-8859-1', '88591', 'LDID/87a']) {
    const encoding = encodingNamed(label)
    const text = encoding && decodeField(Buffer.from([0x80, 0x92, 0xa0, 0xff]), encoding)
    expect([label, text]).toEqual([label, label === 'LDID/87a' ? undefined : '€’\u00a0ÿ'])
  }
})

test('bytes that mean nothing in an encoding are refused', async () => {
  expect(() => decodeField(Buffer.from([0x41, 0x81]), encodingNamed('1252') as Encoding)).toThrow(
    'Windows-1252',
  )
  await expect(filled([Buffer.from('M\xfcnchen, \x81', 'latin1')])).rejects.toThrow(
    'areas.zip/areas.shp is not a shapefile that can be read: a text of it is not Windows-1252: give its encoding, such as utf-8, windows-1252 or 850.',
  )
})

test.each<[text: string, bytes: number, left: string]>([
  ['aé', 2, 'a'],
  ['aé', 3, 'aé'],
  ['a😀', 3, 'a'],
  ['a😀', 5, 'a😀'],
  ['', 0, ''],
])('of a text in UTF-8 a character that is cut is left out: %s in %i bytes', (text, bytes, left) => {
  expect(withoutCutCharacter(Buffer.from(text).subarray(0, bytes)).toString()).toBe(left)
})

test.each(['utf8', 'utf16le', 'utf-16be'])('GeoJSON is read in %s', async (encoding) => {
  const features = ['Ségou', 'አማራ', '\u{1f33e}'.repeat(30_000)].map((NAME) => ({
    ...{ type: 'Feature', properties: { NAME }, geometry: null },
  }))
  const text = JSON.stringify({ type: 'FeatureCollection', features })
  const bytes = iconv.encode(text, encoding, { addBOM: true })
  const names = features.map(({ properties }) => properties.NAME)
  expect(await read(await boundaryFile(bytes, 'a.geojson'))).toEqual({ names, notes: [] })
  expect(await read(await boundaryFile(gzipSync(bytes), 'a.geojson.gz'))).toEqual({ names, notes: [] })
})

/** The names in a file, and what is noted of it. */
async function read(file: string, encoding?: string): Promise<{ names: unknown[]; notes: string[] }> {
  const reading = { level: 1, ...(encoding && { encoding: givenEncoding(encoding) }) }
  const opened = await openBoundaryFile(resolve(FOLDER, file), reading)
  const [names, notes]: [unknown[], string[]] = [[], []]
  for await (const { properties } of opened.features((note) => notes.push(note))) names.push(properties.NAME)
  return { names, notes }
}
