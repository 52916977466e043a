import { once } from 'node:events'
import { type AddressInfo, connect } from 'node:net'
import { brotliCompressSync, createGunzip, deflateSync, gzipSync } from 'node:zlib'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { openService } from '#test/setup/open-service.ts'

const service = openService()
let port: number
beforeAll(async () => {
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  port = (service.app.server.address() as AddressInfo).port
})

const POINT = '{"lat":9.5,"lng":38.5}'
const FIELD = '{"type":"Polygon","coordinates":[[[38.5,9.5],[38.6,9.5],[38.6,9.6],[38.5,9.5]]]}'
const [POINT_URL, POINTS_URL] = ['/advisory/yield/point', '/advisory/yield/points']
const FIELD_URL = '/advisory/yield'
const [JSON_TYPE, NDJSON] = ['application/json', 'application/x-ndjson']

const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const listOf = (count: number) => `[${'[],'.repeat(count - 1)}[]]`

test.each<[string, string, (deep: string) => string]>([
  ['an unknown field', POINT_URL, (deep) => `{"lat":9.5,"lng":38.5,"more":${deep}}`],
  ['a type', FIELD_URL, (deep) => `{"geometry":{"type":${deep}}}`],
  ['a position', FIELD_URL, (deep) => `{"geometry":{"type":"Polygon","coordinates":[[${deep},1,2,3]]}}`],
  [
    'the properties of a Feature',
    FIELD_URL,
    (deep) => `{"geometry":{"type":"Feature","properties":{"objects":{"in":${deep}}},"geometry":${FIELD}}}`,
  ],
])('bodies with too many levels are refused, whatever comes after: in %s', async (_place, url, bodyWith) => {
  for (const levels of url === POINT_URL ? [100, 4000] : [100, 400_000]) {
    const error = 'The body has lists or objects within each other on more than 64 levels.'
    const answer = await send(url, bodyWith(nested(levels)))
    expect(answer).toMatchObject(refusal(400, 'MALFORMED_JSON', error))
  }
})

test('bodies are nested too deeply from 65 levels on, those of objects included', async () => {
  const bodyOf = (levels: number) => `{"lat":9.5,"lng":38.5,"more":{"a":${nested(levels - 2)}}}`
  expect(await send(POINT_URL, bodyOf(64))).toMatchObject({ status: 200 })
  expect(await send(POINT_URL, bodyOf(65))).toMatchObject({ status: 400 })
})

test('brackets in texts and lists beside each other are no levels', async () => {
  const name = '['.repeat(200)
  const sent = `{"lat":9.5,"lng":38.5,"name":"${name}","more":${listOf(200)}}`
  const { status, body } = await send(POINT_URL, sent)
  expect([status, body.location.name]).toEqual([200, name])
})

test('bodies are refused from 50,001 lists and objects on', async () => {
  const bodyOf = (lists: number) => `{"geometry":{"type":"Point","coordinates":${listOf(lists - 3)}}}`
  expect(await send(FIELD_URL, bodyOf(50_001))).toMatchObject(
    refusal(400, 'MALFORMED_JSON', 'The body has more than 50000 lists and objects.'),
  )
  expect((await send(FIELD_URL, bodyOf(50_000))).body.code).toBe('INVALID_GEOMETRY')
})

test.each([
  [FIELD_URL, nested(500_000)],
  [FIELD_URL, listOf(300_000)],
  [POINTS_URL, nested(500_000)],
  [POINTS_URL, listOf(300_000)],
])('bodies with too many lists are refused before they are parsed: %s', async (url, body) => {
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  expect((await send(url, body)).status).toBe(400)
  const lengths = parse.mock.calls.map(([text]) => String(text).length)
  expect(Math.max(0, ...lengths)).toBeLessThan(1000)
})

test('a line that is nested too deeply spoils no other', async () => {
  const sent = [POINT, nested(100), POINT].join('\n')
  const { text } = await send(POINTS_URL, sent, { 'content-type': NDJSON })
  const lines = text.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).error)).toEqual([
    undefined,
    'The line has lists or objects within each other on more than 64 levels.',
    undefined,
  ])
})

/** Each of these bytes would become the same character. */
const withByte = (json: string, byte: number) => {
  const [before = '', after = ''] = json.split('?')
  return Buffer.concat([Buffer.from(before), Buffer.from([byte]), Buffer.from(after)])
}

test.each([
  [POINT_URL, JSON_TYPE, '{"lat":9.5,"lng":38.5,"name":"?"}'],
  [POINTS_URL, JSON_TYPE, '{"points":[{"lat":9.5,"lng":38.5,"id":"?"}]}'],
  [FIELD_URL, JSON_TYPE, `{"geometry":${FIELD},"name":"?"}`],
  [FIELD_URL, 'application/geo+json', `{"type":"Feature","properties":{"name":"?"},"geometry":${FIELD}}`],
  ['/auth/login', JSON_TYPE, '{"email":"amina@example.org","password":"teff grows at ?"}'],
])('bodies that are not UTF-8 are refused: of POST %s as %s', async (url, type, json) => {
  const headers = { ...service.person.headers, 'content-type': type }
  for (const byte of [0xff, 0xc3, 0x80])
    expect(await send(url, withByte(json, byte), headers)).toMatchObject(
      refusal(400, 'MALFORMED_BODY', expect.stringMatching(/^The body is not UTF-8, from line 1 on/)),
    )
})

test('the character that stands for others is UTF-8', async () => {
  const { status, body } = await send(POINT_URL, '{"lat":9.5,"lng":38.5,"name":"\ufffd"}')
  expect([status, body.location.name]).toEqual([200, '\ufffd'])
})

const NAMED = '{"lat":9.5,"lng":38.5,"name":"Ḳälo 🌾"}'

async function sendAs(type: string | undefined, url: string, content: string | Buffer) {
  const headers: Record<string, string> = type === undefined ? {} : { 'content-type': type }
  // A type would be named for text.
  const payload = Buffer.from(content)
  const { status, body } = await service.post(url, { headers, payload })
  return { status, name: body.location?.name, id: body.items?.[0].id, error: body.error }
}

test.each([undefined, 'text/plain', 'Text/Plain ; charset=utf-8', 'application/x-www-form-urlencoded'])(
  'JSON of the type %s is read, and told what is wrong with it',
  async (type) => {
    expect(await sendAs(type, POINT_URL, `\n ${NAMED}`)).toMatchObject({ status: 200, name: 'Ḳälo 🌾' })
    const points = '{"points":[{"id":"a","lat":9.5,"lng":38.5}]}'
    expect(await sendAs(type, POINTS_URL, points)).toMatchObject({ status: 200, id: 'a' })
    const error = 'The body is not valid JSON at line 1, column 8: close it with }.'
    for (const url of [POINT_URL, POINTS_URL])
      expect(await sendAs(type, url, '{"lat":')).toMatchObject({ status: 400, error })
  },
)

test.each([
  ['text', undefined, 'lat=9.5'],
  ['what is not UTF-8', undefined, Buffer.from([0x7b, 0xff, 0x7d])],
  ['JSON of another type', 'text/plaintext', NAMED],
  ['JSON of a form of parts', 'multipart/form-data', NAMED],
])('a body of another type is not guessed: %s', async (_what, type, payload) => {
  const error = 'Send the body as application/json.'
  expect(await sendAs(type, POINT_URL, payload)).toMatchObject({ status: 415, error })
  expect(await sendAs(type, POINTS_URL, payload)).toMatchObject({ status: 415 })
})

const point = (encoding: string, payload: Buffer | string) =>
  send(POINT_URL, payload, { 'content-encoding': encoding })
const batch = (encoding: string, payload: Buffer | string) =>
  send(POINTS_URL, payload, { 'content-encoding': encoding, 'content-type': NDJSON })
const plain = () => send(POINT_URL, POINT, {})

test.each([
  ['x-gzip', gzipSync(POINT)],
  ['GZip', gzipSync(POINT)],
  ['deflate', deflateSync(POINT)],
  ['br', brotliCompressSync(POINT)],
  ['identity', Buffer.from(POINT)],
])('a body is read as what was encoded: %s', async (encoding, payload) => {
  const { status, body } = await point(encoding, payload)
  expect([status, body]).toEqual([200, (await plain()).body])
})

test.each([
  ['gzip', gzipSync],
  ['br', brotliCompressSync],
])('an encoded body is read in calls with many points, and may be empty: %s', async (encoding, encode) => {
  const { status, text } = await batch(encoding, encode(`${POINT}\n`.repeat(1000)))
  // Points without a country say that theirs is the place's.
  const line = JSON.stringify((await plain()).body).replace('true,', 'true,"country_source":"place",')
  expect([status, text]).toEqual([200, `${line}\n`.repeat(1000)])
  const empty = await send(`${POINT_URL}?lat=9.5&lng=38.5`, '', { 'content-encoding': encoding })
  expect(empty.status).toBe(200)
})

test.each([
  ['something else', 'gzip', Buffer.from(POINT)],
  ['cut off', 'gzip', gzipSync(POINT).subarray(0, -9)],
  ['cut off', 'br', brotliCompressSync(POINT).subarray(0, -3)],
])('an encoded body that is %s is 400: %s', async (_, encoding, payload) => {
  for (const answer of [await point(encoding, payload), await batch(encoding, payload)])
    expect(answer).toMatchObject(refusal(400, 'MALFORMED_BODY'))
})

test.each(['gzip, gzip', 'zstd', 'constructor', ''])('a Content-Encoding of %j is 415', async (encoding) => {
  for (const answer of [await point(encoding, 'x'), await batch(encoding, 'x')]) {
    const error = 'Send the body as it is, or with one Content-Encoding of gzip, deflate, br.'
    expect(answer).toMatchObject(refusal(415, 'UNSUPPORTED_MEDIA_TYPE', error))
    expect(answer.headers['accept-encoding']).toBe('gzip, deflate, br')
  }
})

test('a body that decodes to more than its limit is given up there, whoever reads it', async () => {
  const bomb = gzipSync(Buffer.alloc(100_000_000), { level: 9 })
  expect(bomb.length).toBeLessThan(131_072)
  const decoder = Object.getPrototypeOf(createGunzip())
  const { push } = decoder
  let decoded = 0
  decoder.push = function count(chunk: Buffer | null) {
    decoded += chunk?.length ?? 0
    return push.call(this, chunk)
  }
  onTestFinished(() => void delete decoder.push)
  for (const [path, type] of [
    [POINT_URL, JSON_TYPE],
    [POINTS_URL, NDJSON],
  ]) {
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: ${type}\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n`,
    )
    socket.write(`${bomb.length.toString(16)}\r\n`)
    socket.write(bomb)
    socket.write('\r\n0\r\n\r\n')
    const [answer] = await once(socket, 'data')
    expect(String(answer)).toMatch(/^HTTP\/1.1 413 /)
    socket.destroy()
  }
  expect(decoded).toBeGreaterThan(0)
  expect(decoded).toBeLessThan(10_000_000)
})

const SHEAF = '🌾'
const ascii = (body: unknown) =>
  JSON.stringify(body).replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16)}`)

test.each([
  [POINT_URL, 12_128, POINT],
  ['/advisory/point', 12_128, POINT],
  ['/validate_location', 8192, POINT],
  [FIELD_URL, 1_048_576, `{"geometry":${FIELD}}`],
])(
  'a body may have the bytes that its fields take, encoded or not: POST %s, %i',
  async (url, limit, body) => {
    const headers = { ...service.person.headers, 'content-encoding': 'gzip' }
    for (const [bytes, status] of [
      [limit, 200],
      [limit + 1, 413],
    ] as const) {
      const padded = body.padEnd(bytes)
      const answers = [await send(url, padded), await send(url, gzipSync(padded), headers)]
      expect(answers.map((answer) => [answer.status, answer.body.code])).toEqual(
        Array(2).fill([status, status === 200 ? undefined : 'BODY_TOO_LARGE']),
      )
    }
  },
)

test('a registration and a comment may be as long as their fields, written in ASCII', async () => {
  const account = {
    email: `${'a'.repeat(60)}@${'b.'.repeat(94)}org`,
    password: SHEAF.repeat(256),
    name: SHEAF.repeat(200),
    organisation: SHEAF.repeat(200),
  }
  const registered = await send('/auth/register', ascii(account))
  expect([registered.status, registered.body.name]).toEqual([201, account.name])
  const { email, password } = account
  expect((await send('/auth/login', ascii({ email, password }))).status).toBe(200)
  const { body: advisory } = await send(POINT_URL, POINT)
  const comment = SHEAF.repeat(2000)
  const feedback = ascii({ rating: 4, comment })
  const rated = await send(`/history/${advisory.history_id}/feedback`, feedback)
  expect([rated.status, rated.body.comment]).toEqual([200, comment])
})

test('long bodies that come together are parsed by turns, and a point that came last is answered in between', async () => {
  const long = `{"geometry":{"type":"Point","coordinates":[${Array(200_000).fill('1.5').join(',')}]}}`
  const order: string[] = []
  const note = (name: string) => (answer: { status: number }) => order.push(`${name} ${answer.status}`)
  // What has been asked once is in memory, and what nobody keeps waits for no database.
  const askPoint = () => send(POINT_URL, POINT, {})
  await askPoint()
  await Promise.all([
    ...Array.from({ length: 10 }, () => send(FIELD_URL, long).then(note('polygon'))),
    askPoint().then(note('point')),
  ])
  expect(order).toHaveLength(11)
  expect(order.indexOf('point 200')).toBeLessThan(3)
})

/** Sends a body, as the service's person where no other headers are given. */
function send(
  url: string,
  payload: string | Buffer,
  headers: Record<string, string> = service.person.headers,
) {
  const all = { 'content-type': JSON_TYPE, ...headers }
  return service.post(url, { payload, headers: all })
}

const refusal = (status: number, code: string, error: string | object = expect.any(String)) => ({
  status,
  body: { error, code },
})
