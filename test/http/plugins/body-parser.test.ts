import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson()
})
afterAll(() => service.close())

async function send(url: string, payload: string | Buffer, person: { headers: object } = service.person) {
  const headers = { ...person.headers, 'content-type': 'application/json' }
  const response = await service.app.inject({ method: 'POST', url, headers, payload })
  return { status: response.statusCode, body: response.json() }
}

/** A value within so many arrays. */
const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const RING = '[[38.5,9.5],[38.6,9.5],[38.6,9.6],[38.5,9.5]]'
const POINT = '{"lat":9.5,"lng":38.5}'
const FIELD = `{"type":"Polygon","coordinates":[${RING}]}`

const PLACES: [string, string, (deep: string) => string][] = [
  ['an unknown field', '/advisory/yield/point', (deep) => `{"lat":9.5,"lng":38.5,"more":${deep}}`],
  ['a type', '/advisory/yield', (deep) => `{"geometry":{"type":${deep}}}`],
  [
    'a position',
    '/advisory/yield',
    (deep) => `{"geometry":{"type":"Polygon","coordinates":[[${deep},1,2,3]]}}`,
  ],
  [
    'the properties of a Feature',
    '/advisory/yield',
    (deep) => `{"geometry":{"type":"Feature","properties":{"objects":{"in":${deep}}},"geometry":${FIELD}}}`,
  ],
  [
    'a selection of an area',
    '/advisory/yield',
    (deep) => `{"admin":{"country_code":"eth","code":"ETH-01","more":${deep}}}`,
  ],
]

describe('bodies that are nested deeper than anybody needs', () => {
  test.each(PLACES)('are refused, whatever comes after: in %s', async (_place, url, bodyWith) => {
    for (const levels of url === '/advisory/yield' ? [100, 10_000, 400_000] : [100, 4000]) {
      expect(await send(url, bodyWith(nested(levels)))).toEqual({
        status: 400,
        body: {
          error: 'The body has lists or objects within each other on more than 64 levels.',
          code: 'MALFORMED_JSON',
          request_id: expect.any(String),
        },
      })
    }
  })

  test('begin at 65 levels, those of objects included', async () => {
    const bodyOf = (levels: number) => `{"lat":9.5,"lng":38.5,"more":{"a":${nested(levels - 2)}}}`
    expect(await send('/advisory/yield/point', bodyOf(64))).toMatchObject({ status: 200 })
    expect(await send('/advisory/yield/point', bodyOf(65))).toMatchObject({ status: 400 })
  })
})

test('brackets in texts and lists beside each other are no levels', async () => {
  const name = '['.repeat(200)
  const more = `[${Array.from({ length: 200 }, () => '[]').join()}]`
  const { status, body } = await send(
    '/advisory/yield/point',
    `{"lat":9.5,"lng":38.5,"name":"${name}","more":${more}}`,
  )
  expect([status, body.location.name]).toEqual([200, name])
})

describe('bodies with more lists than anybody needs', () => {
  const listOf = (count: number) => `[${'[],'.repeat(count - 1)}[]]`
  const bodyOf = (lists: number) => `{"geometry":{"type":"Point","coordinates":${listOf(lists - 3)}}}`

  test('begin at 50,001 lists and objects', async () => {
    expect(await send('/advisory/yield', bodyOf(50_001))).toEqual({
      status: 400,
      body: {
        error: 'The body has more than 50000 lists and objects.',
        code: 'MALFORMED_JSON',
        request_id: expect.any(String),
      },
    })
    expect(await send('/advisory/yield', bodyOf(50_000))).toMatchObject({
      body: { code: 'INVALID_GEOMETRY' },
    })
  })

  test.each([
    ['/advisory/yield', nested(500_000)],
    ['/advisory/yield', listOf(300_000)],
    ['/advisory/yield/points', nested(500_000)],
    ['/advisory/yield/points', listOf(300_000)],
  ])('are refused before they are parsed: %s', async (url, body) => {
    const used = process.cpuUsage()
    for (let call = 0; call < 5; call++) expect((await send(url, body)).status).toBe(400)
    // To parse one would take some hundred milliseconds.
    expect(process.cpuUsage(used).user / 1000).toBeLessThan(400)
  })

  test('a line of them spoils no other', async () => {
    const headers = { 'content-type': 'application/x-ndjson' }
    const point = '{"lat":9.5,"lng":38.5}'
    const payload = [point, nested(100), point].join('\n')
    const response = await service.app.inject({
      method: 'POST',
      url: '/advisory/yield/points',
      headers,
      payload,
    })
    expect(
      response.body
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).error),
    ).toEqual([
      undefined,
      'The line has lists or objects within each other on more than 64 levels.',
      undefined,
    ])
  })
})

describe('bodies that are not UTF-8', () => {
  /** Each of these bytes would become the same character. */
  const withByte = (json: string, byte: number) => {
    const [before = '', after = ''] = json.split('?')
    return Buffer.concat([Buffer.from(before), Buffer.from([byte]), Buffer.from(after)])
  }
  const NOT_UTF8 = { status: 400, body: { error: 'The body is not valid UTF-8.', code: 'MALFORMED_BODY' } }

  test.each([
    ['/advisory/yield/point', '{"lat":9.5,"lng":38.5,"name":"?"}'],
    ['/advisory/yield/points', '{"points":[{"lat":9.5,"lng":38.5,"id":"?"}]}'],
    ['/advisory/yield', `{"geometry":${FIELD},"name":"?"}`],
    ['/auth/login', '{"email":"amina@example.org","password":"teff grows at ?"}'],
    ['/auth/register', '{"email":"new@example.org","password":"teff grows at ?","name":"Amina"}'],
  ])('are refused: of POST %s', async (url, json) => {
    for (const byte of [0xff, 0xc3, 0x80])
      expect(await send(url, withByte(json, byte))).toMatchObject(NOT_UTF8)
  })

  test('are refused: of GeoJSON', async () => {
    const payload = withByte(`{"type":"Feature","properties":{"name":"?"},"geometry":${FIELD}}`, 0xff)
    const headers = { ...service.person.headers, 'content-type': 'application/geo+json' }
    const response = await service.app.inject({ method: 'POST', url: '/advisory/yield', headers, payload })
    expect({ status: response.statusCode, body: response.json() }).toMatchObject(NOT_UTF8)
  })

  test('are not those with the character that stands for others', async () => {
    const { status, body } = await send('/advisory/yield/point', '{"lat":9.5,"lng":38.5,"name":"\ufffd"}')
    expect([status, body.location.name]).toEqual([200, '\ufffd'])
  })
})

describe('bodies that are JSON though nothing says so', () => {
  const POINT = '{"lat":9.5,"lng":38.5,"name":"Ḳälo 🌾"}'
  const POINTS = '{"points":[{"id":"a","lat":9.5,"lng":38.5}]}'

  async function sendAs(type: string | undefined, url: string, payload: string | Buffer) {
    const response = await service.app.inject({
      method: 'POST',
      url,
      // inject would name a type for text.
      payload: Buffer.from(payload),
      ...(type !== undefined && { headers: { 'content-type': type } }),
    })
    const { location, items, error } = response.json()
    return { status: response.statusCode, name: location?.name, id: items?.[0].id, error }
  }

  test.each([undefined, 'text/plain', 'text/plain;charset=UTF-8', 'Text/Plain ; charset=utf-8'])(
    'are read: of the type %s',
    async (type) => {
      expect(await sendAs(type, '/advisory/yield/point', POINT)).toMatchObject({
        status: 200,
        name: 'Ḳälo 🌾',
      })
      expect(await sendAs(type, '/advisory/yield/point', `\n ${POINT}`)).toMatchObject({ status: 200 })
      expect(await sendAs(type, '/advisory/yield/points', POINTS)).toMatchObject({ status: 200, id: 'a' })
    },
  )

  test.each([undefined, 'text/plain'])('are told what is wrong with them: of the type %s', async (type) => {
    const error = 'The body is not valid JSON.'
    expect(await sendAs(type, '/advisory/yield/point', '{"lat":')).toMatchObject({ status: 400, error })
    expect(await sendAs(type, '/advisory/yield/points', '{"points":')).toMatchObject({ status: 400, error })
  })

  test.each([
    ['text', undefined, 'lat=9.5'],
    ['what is not UTF-8', undefined, Buffer.from([0x7b, 0xff, 0x7d])],
    ['JSON of another type', 'text/plaintext', POINT],
    ['JSON that is called a form', 'application/x-www-form-urlencoded', POINT],
  ])('are not guessed: %s', async (_what, type, payload) => {
    expect(await sendAs(type, '/advisory/yield/point', payload)).toMatchObject({ status: 415 })
    expect(await sendAs(type, '/advisory/yield/points', payload)).toMatchObject({ status: 415 })
  })
})

test('long bodies that come together are parsed by turns, and a point that came last is answered in between', async () => {
  const long = `{"geometry":{"type":"Point","coordinates":[${Array(200_000).fill('1.5').join(',')}]}}`
  const order: string[] = []
  const note = (name: string) => (answer: { status: number }) => order.push(`${name} ${answer.status}`)
  // What has been asked once is in memory, and what nobody keeps waits for no database.
  const askPoint = () => send('/advisory/yield/point', POINT, { headers: {} })
  await askPoint()
  await Promise.all([
    ...Array.from({ length: 10 }, () => send('/advisory/yield', long).then(note('polygon'))),
    askPoint().then(note('point')),
  ])
  expect(order).toHaveLength(11)
  expect(order.indexOf('point 200')).toBeLessThan(3)
})
