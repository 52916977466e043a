import { describe, expect, test } from 'vitest'
import { fieldOf, GEOJSON, keepFields } from '#test/setup/fields.ts'
import { openService } from '#test/setup/open-service.ts'

// Runs on a server alone: what bodies may be is the same on both.

const service = openService()

const FIELD = fieldOf('A')

const NDJSON = 'application/x-ndjson'

describe('an upload', () => {
  test('has its properties as they were sent: no number is rounded, in no format', async () => {
    const properties =
      '{"fayda":9999999999999999,"parcel":12345678901234567890,"soil":{"ph":0.123456789012345678901,"k":[1e400,-0,1.0]},"name":"ሰላም"}'
    const spaced = properties
      .replaceAll(':', ' :\n ')
      .replace('ሰላም', '\\u1230\\u120b\\u121d')
      .replace('{', '{ "k": 7, ')
    const feature = JSON.stringify({ ...FIELD, properties: 0 })
    const sent = feature.replace('"properties":0', `"properties":0, "properties" : ${spaced} `)
    const compact = properties.replace('{', '{"k":7,')
    const collection = `{"type":"FeatureCollection","features":[${sent}]}`
    const sequence = `\u001e${sent}\n`
    for (const [type, body] of [
      [GEOJSON, collection],
      [NDJSON, sent.replaceAll('\n', '')],
      [NDJSON, sequence],
      ['application/geo+json-seq', sequence],
    ] as const) {
      expect((await put('digits', body, type)).body).toMatchObject({ fields: 1, refused: 0 })
      expect((await get('/digits')).text).toContain(`"properties":${compact}}`)
      expect((await get('/digits', NDJSON)).text).toContain(`"properties":${compact}}`)
      expect((await get('/digits', GEOJSON)).text).toContain(`"properties":${compact}}`)
    }
    const table = (await get('/digits', 'text/csv')).text
    expect((await put('digits', table.replace('sep', ''), 'text/csv')).body.fields).toBe(1)
    expect((await get('/digits', GEOJSON)).text).toContain(`"properties":${compact}}`)
  })

  test('reads ids that are numbers as text, or says what to send', async () => {
    const of = (id: string) => `${JSON.stringify({ ...FIELD, id: 0 }).replace('"id":0', `"id":${id}`)}\n`
    const ids = ['7', '-1', '1e3', '1.5', '9007199254740991']
    const lost = ['12345678901234567890', '0.123456789012345678901', '1e400', 'true', '[1]']
    const { body } = await put('numbers', [...ids, ...lost].map(of).join(''), NDJSON)
    expect(await idsIn('numbers')).toEqual(['-1', '1.5', '1000', '7', '9007199254740991'])
    const rule =
      'id must be a text, or a number of at most 16 digits up to 9007199254740991: send longer ones as text.'
    expect(body.refusals.map(({ error }: { error: string }) => error)).toEqual(lost.map(() => rule))
  })

  test('comes as a table of any delimiter, without its empty rows, in an encoding that is declared', async () => {
    const wkt = 'POLYGON((38.5 9.5,38.501 9.5,38.501 9.501,38.5 9.501,38.5 9.5))'
    const expected = { id: 'A', name: 'Séra', properties: { name: 'Séra', 'column 4': 'x' } }
    for (const delimiter of [',', ';', '\t'])
      for (const line of ['', `sep=${delimiter}\r\n`]) {
        const rows = [
          ['id', 'name', 'wkt', ''],
          ['', ' ', '', ''],
          ['A', 'Séra', `"${wkt}"`, 'x'],
          ['', '""', '', '\u00a0'],
        ]
        const table = line + rows.map((row) => row.join(delimiter)).join('\r\n')
        const bytes = Buffer.from(table, 'latin1')
        const { body } = await put('table', bytes, 'text/csv; charset=windows-1252')
        expect(body).toMatchObject({ fields: 1, refused: 0 })
        expect((await get('/table')).body.items).toMatchObject([expected])
      }
    const twice = await put('table', `id,note,note,wkt\nA,1,2,"${wkt}"`, 'text/csv')
    expect(twice.body.error).toBe('The first line names more than one column note.')
  })

  test('has its features of too many members refused, before they are parsed', async () => {
    const members = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`a${at}`, 0]))
    const sent = [
      { ...FIELD, properties: members(400) },
      { ...FIELD, id: 'B', ...members(1001) },
    ]
    const { body } = await put('members', sent.map((one) => `${JSON.stringify(one)}\n`).join(''), NDJSON)
    expect(body).toMatchObject({ fields: 1, refused: 1 })
    const error = 'The feature has an object with more than 1000 members.'
    expect(body.refusals).toEqual([{ row: 2, error, code: 'MALFORMED_JSON' }])
  })

  test('refuses a field with a long cell by its column, and a long name of a column as a whole', async () => {
    const wkt = 'POLYGON((38.5 9.5,38.501 9.5,38.501 9.501,38.5 9.501,38.5 9.5))'
    const rows = [`A,"${'""'.repeat(2001)}","${wkt}"`, `B,"${'""'.repeat(4001)}","${wkt}"`, `C,x,"${wkt}"`]
    const { body } = await put('long', `id,soil,wkt\n${rows.join('\n')}\n`, 'text/csv')
    expect(body.refusals.map(({ id, error }: { id: string; error: string }) => [id, error])).toEqual([
      ['A', 'properties must have at most 4000 characters as JSON.'],
      ['B', 'soil must be at most 4000 characters long.'],
    ])
    const named = await put('long', `id,wkt,${'x'.repeat(4001)}\nA,"${wkt}",1`, 'text/csv')
    expect(named.body.error).toBe('The name of column 3 must be at most 4000 characters long.')
  })

  test('reads a shape of up to 10,000 vertices, and no text that could have more', async () => {
    const ringOf = (count: number) => {
      const corners = Array.from({ length: count - 1 }, (_, at) => {
        const angle = (2 * Math.PI * at) / (count - 1)
        return `${(38.5 + Math.cos(angle) / 100).toFixed(9)} ${(9.5 + Math.sin(angle) / 100).toFixed(9)}`
      })
      return [...corners, corners[0]].join()
    }
    const shapes = [
      `POLYGON((${ringOf(10_000)}))`,
      `POLYGON((${ringOf(10_001)}))`,
      `POLYGON${'('.repeat(20_001)}`,
      `POLYGON((${'1'.repeat(100_000)} 9,38.6 9,38.6 9.6,38.5 9))`,
    ]
    const table = `id,wkt\n${shapes.map((wkt, at) => `${at},"${wkt}"`).join('\n')}`
    const { body } = await put('shapes', table, 'text/csv')
    expect(body.refusals.map(({ error }: { error: string }) => error)).toEqual([
      'geometry must have at most 10000 vertices; simplify it, or ask in parts.',
      'geometry must have at most 10000 vertices; simplify it, or ask in parts.',
      'wkt must be well-known text, such as POLYGON((38 9,39 9,39 10,38 9)).',
    ])
  })
})

const put = (name: string, payload: string | Buffer, type = GEOJSON) =>
  keepFields(service, name, payload, { type })

const get = (path: string, accept = 'application/json') =>
  service.get(`/fields${path}`, { by: service.person, headers: { accept } })

async function idsIn(name: string): Promise<string[]> {
  const { body } = await get(`/${name}`)
  return body.items.map(({ id }: { id: string }) => id).sort()
}
