import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeTexts, FEATURE_READERS } from '#src/extensions/fields/reading.ts'
import { csvRow } from '#src/http/formats.ts'
import { TextError } from '#src/lib/text.ts'
import { runsOf } from '#test/setup/property-runs.ts'

/** Texts with all that a reader of pieces may stumble over. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('"', '\\', '\\"', '{', '}', '[', ']', '],"features":[', '\\\\"}', 'é', '🌾', '\n', 'a,b'),
)
const feature = fc.record({
  type: fc.constant('Feature'),
  id: text,
  geometry: fc.constant({ type: 'Polygon', coordinates: [[[38.5, 9.5]]] }),
  properties: fc.dictionary(text, fc.oneof(text, fc.constant({ deep: [['}']] }))),
})

const cuts = fc.array(fc.nat(), { maxLength: 8 })

test('a collection that arrives in any pieces has the features that JSON says', async () => {
  const property = fc.asyncProperty(
    fc.array(feature, { maxLength: 5 }),
    fc.constantFrom(undefined, 2),
    fc.dictionary(fc.constantFrom('name', 'bbox', 'note'), fc.oneof(text, fc.constant([1, [2]]))),
    cuts,
    async (features, indent, members, places) => {
      const body = JSON.stringify(
        { ...members, type: 'FeatureCollection', features, last: members },
        null,
        indent,
      )
      expect(await readAll('application/geo+json', body, places)).toEqual(features)
    },
  )
  await fc.assert(property, { numRuns: runsOf(300) })
})

test('lines and tables that arrive in any pieces have the features of the whole', async () => {
  const property = fc.asyncProperty(fc.array(feature, { maxLength: 5 }), cuts, async (features, places) => {
    const lines = features.map((one) => `${JSON.stringify(one)}\n`).join('')
    expect(await readAll('application/x-ndjson', lines, places)).toEqual(features)
    const wkt = 'POLYGON((38.5 9.5,38.6 9.5,38.6 9.6,38.5 9.5))'
    const rows = features.map(({ id }) => `"${id.replaceAll('"', '""')}",${csvRow([wkt])}`)
    const read = await readAll('text/csv', `id,wkt\r\n${rows.join('')}`, places)
    expect(read.map((one) => (one as { id: string }).id)).toEqual(features.map(({ id }) => id))
  })
  await fc.assert(property, { numRuns: runsOf(300) })
})

test('a file that ends within a line, has features twice or an open quote in a large table is refused with its reason', async () => {
  const read = (mediaType: string, body: string) => readAll(mediaType, body, [])
  const feature = '{"type":"Feature"}'
  await expect(read('application/x-ndjson', `${feature}\n${feature.slice(0, -1)}`)).rejects.toMatchObject({
    message: 'The body ends within a line.',
  })
  const twice = `{"type":"FeatureCollection",${'"features":[],'.repeat(2)}"name":"a"}`
  await expect(read('application/geo+json', twice)).rejects.toMatchObject({ code: 'INVALID_PARAMETERS' })
  const rows = 'a,"POLYGON((38 9,39 9,39 10,38 9))"\r'.repeat(40_000)
  await expect(read('text/csv', `id,wkt\r${rows}b,"c"d\r`)).rejects.toMatchObject({
    message: 'The body is not valid CSV: text follows a closing quote.',
  })
  expect(await read('text/csv', `id,wkt\r${rows}`)).toHaveLength(40_000)
})

test('a body over its limit, of other bytes than UTF-8 or with NUL is refused in the middle', async () => {
  const read = async (body: Buffer, most: number) => {
    for await (const _ of decodeTexts(cutAt(body, [1, 2, 3]), most));
  }
  await expect(read(Buffer.from('\n'.repeat(11)), 10)).rejects.toMatchObject({ code: 'BODY_TOO_LARGE' })
  await expect(read(Buffer.from([0x22, 0xff, 0x22]), 10)).rejects.toThrow(TextError)
  await expect(read(Buffer.from('a\0b'), 10)).rejects.toThrow(TextError)
  await expect(read(Buffer.from('é').subarray(0, 1), 10)).rejects.toThrow(TextError)
})

async function* cutAt(bytes: Buffer, places: number[]): AsyncGenerator<Buffer> {
  const ends = [...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  let begin = 0
  for (const end of ends) {
    yield bytes.subarray(begin, end)
    begin = end
  }
}

async function readAll(mediaType: string, body: string, places: number[]): Promise<unknown[]> {
  const read = FEATURE_READERS[mediaType] as (typeof FEATURE_READERS)[string]
  const features: unknown[] = []
  const texts = decodeTexts(cutAt(Buffer.from(body), places), Buffer.byteLength(body), undefined, 1)
  for await (const { value, properties } of read(texts)) {
    features.push(value)
    if (properties !== undefined)
      expect(JSON.parse(properties)).toEqual((value as GeoJSON.Feature).properties)
  }
  return features
}
