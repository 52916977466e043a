import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { type Draft, plainBodyOf } from './draft.ts'

/** Something about a request that is not as it would be, in one place. */
export type Twist = (draft: Draft) => void

const nested = (levels: number, innermost: unknown = 0): unknown =>
  levels === 0 ? innermost : [nested(levels - 1, innermost)]

const REMOVED = Symbol('removed')

/** What is put where something else was. */
const WRONG: unknown[] = [
  ...[REMOVED, null, true, [], {}, [[]], { toString: 1 }, nested(70)],
  ...['', ' ', '\0', '\ud800', '\u202etxt', 'x'.repeat(300), 'ß'.repeat(3000)],
  ...['NaN', '1', '9.5', '__proto__'],
  ...["' or 1=1 --", '$' + '{7*7}', '../../etc/passwd', '%00', '=cmd()', '<script>', 'null', '2026-02-30'],
  ...[-1, 0, 0.5, 6, 91, -181, 1e308, -1e-320, 2 ** 53, -(2 ** 63)],
]

const NAMES = ['x', '__proto__', 'constructor', 'toString', 'length', '', 'role', 'user_id', 'lat[]', 'ዓ']

/** Bodies that are none of their media type, or of no use. */
const BODIES = [
  ...['', ' ', '{', '[]', 'null', '"x"', '0', '{}', '[{}]'],
  ...['{"lat":1e999,"lng":0}', '{"lat":NaN}', "{'lat':1}"],
  ...['{"lat":1,"lat":2,"lng":3}', '\ufeff{"lat":9.5,"lng":38.5}', '{"lat":9.5,"lng":38.5}x', '\0\0\0\0'],
  ...['lat=9.5&lng=38.5', 'lat,lng\n9.5,38.5\n', 'id,lat,lng\n"a', '{"lat":9.5,"lng":38.5}\n\n{', '<a/>'],
  ...['[', '{"a":'].map((opening) => opening.repeat(3000)),
].map((text) => Buffer.from(text))

const MEDIA_TYPES = [
  ...['application/json', 'APPLICATION/JSON; Charset="utf-8"', 'application/json; charset=latin1'],
  ...['text/plain', 'application/xml', 'application/x-www-form-urlencoded', 'text/csv'],
  'multipart/form-data; boundary=x',
  ...['application/geo+json', 'application/x-ndjson', 'application/', 'a', ';', 'application/json, text/csv'],
]

const ENCODERS: Record<string, (bytes: Buffer) => Buffer> = {
  gzip: gzipSync,
  deflate: deflateSync,
  br: brotliCompressSync,
}

/** Values of headers that services may read. */
const VALUES: Record<string, string[]> = {
  Accept: ['image/png', '*/*;q=0', 'text/csv;q=0.5, */*;q=0.1', 'application/json;q=x', ';;;'],
  'Accept-Encoding': ['gzip', 'gzip;q=0, *', 'x'.repeat(200)],
  Prefer: ['history=none', 'server-timing, history=none', 'history="', 'x=y;z'],
  'If-None-Match': ['*', '"x"', 'W/"x", "y"', '"'],
  'Idempotency-Key': ['fuzz', 'another', '8e03978e-40d5-43dd-bc93-6894a57f9324', ' ', 'x'.repeat(256), 'ዓ'],
  'X-Request-Id': ['mine', 'x'.repeat(129), '"><script>', '{base path}'],
  Origin: ['https://example.org', 'null'],
  Range: ['bytes=0-1'],
  Expect: ['100-continue'],
  'X-Forwarded-Prefix': ['//evil.example'],
  'X-HTTP-Method-Override': ['DELETE'],
  Cookie: ['session=1'],
}

const HEADERS = Object.entries(VALUES).flatMap(([name, values]) =>
  values.map((value): [string, string] => [name, value]),
)

/** Whether the draft has a body of the kind that its operation takes. */
const hasBody = ({ body, bytes }: Draft) => body !== undefined || bytes !== undefined

interface Place {
  holder: Record<string, unknown>
  name: string
}

/** Every place of a value that something else can be put into. */
function placesIn(value: unknown): Place[] {
  if (value === null || typeof value !== 'object') return []
  const holder = value as Record<string, unknown>
  return Object.keys(holder).flatMap((name) => [{ holder, name }, ...placesIn(holder[name])])
}

function put({ holder, name }: Place, wrong: unknown): void {
  if (wrong !== REMOVED) holder[name] = wrong
  else if (Array.isArray(holder)) holder.splice(Number(name), 1)
  else delete holder[name]
}

const changedMember = fc.tuple(fc.nat(), fc.constantFrom(...WRONG)).map(
  ([at, wrong]): Twist =>
    (draft) => {
      // Text has no members.
      if (!hasBody(draft) || typeof draft.body === 'string') return
      const root = { body: structuredClone(draft.body) }
      const places = placesIn(root)
      put(places[at % places.length] as Place, wrong)
      draft.body = root.body
    },
)

const addedMember = fc.tuple(fc.nat(), fc.constantFrom(...NAMES), fc.constantFrom(...WRONG.slice(1))).map(
  ([at, name, value]): Twist =>
    (draft) => {
      const root = { body: structuredClone(draft.body) }
      const holders = [...placesIn(root)].flatMap(({ holder, name }) =>
        holder[name] !== null && typeof holder[name] === 'object' && !Array.isArray(holder[name])
          ? [holder[name]]
          : [],
      )
      const holder = holders[at % Math.max(1, holders.length)]
      if (!holder) return
      Object.defineProperty(holder, name, { value, enumerable: true, configurable: true, writable: true })
      // Refused because of what some libraries make of it.
      if (name === '__proto__' || name === 'constructor') draft.unclear = true
      draft.body = root.body
    },
)

const changedText = fc
  .tuple(
    fc.nat(),
    fc.nat(5),
    fc.constantFrom('', ',', '"', '\n', '\0', '{', '}', 'x', '=1+1', '\ufeff', '9'.repeat(400)),
  )
  .map(
    ([at, count, inserted]): Twist =>
      (draft) => {
        if (!hasBody(draft) || draft.bytes) return
        const text = typeof draft.body === 'string' ? draft.body : JSON.stringify(draft.body)
        const from = at % (text.length + 1)
        draft.bytes = Buffer.from(text.slice(0, from) + inserted + text.slice(from + count))
      },
  )

const otherBody = fc.oneof(fc.constantFrom(...BODIES), fc.uint8Array({ maxLength: 60 }).map(Buffer.from)).map(
  (bytes): Twist =>
    (draft) => {
      draft.bytes = bytes
      draft.mediaType ??= 'application/json'
    },
)

const changedQuery = fc
  .tuple(fc.nat(), fc.constantFrom(...WRONG.filter((value) => typeof value !== 'object')), fc.boolean())
  .map(
    ([at, wrong, again]): Twist =>
      (draft) => {
        const names = (draft.operation.parameters ?? []).flatMap((parameter) =>
          parameter.in === 'query' ? [parameter.name] : [],
        )
        const name = names[at % Math.max(1, names.length)] ?? 'x'
        if (!again) draft.query = draft.query.filter(([other]) => other !== name)
        // An escape of half a character is another text.
        if (wrong !== REMOVED) draft.query.push([name, String(wrong).toWellFormed()])
      },
  )

const addedQuery = fc.tuple(fc.constantFrom(...NAMES), fc.constantFrom('', '1', 'x')).map(
  ([name, value]): Twist =>
    ({ query }) =>
      void query.push([name, value]),
)

/** What makes a path of its own where it stands for a parameter. */
const ELSEWHERE = new Set(['', '.', '..', 'my'])

const PLACES_OF_PATHS = [
  ...['', '.', '..', '%', 'x', '\0', 'my', 'x'.repeat(200), 'ዓ', "' or 1=1", '1e9', '/', '\\', '00000000'],
]

const changedPath = fc.constantFrom(...PLACES_OF_PATHS).map(
  (value): Twist =>
    (draft) => {
      const [name] = Object.keys(draft.path)
      if (name === undefined) return
      draft.path[name] = value
      draft.elsewhere = ELSEWHERE.has(value)
    },
)

const otherMethod = fc
  .constantFrom('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'PROPFIND', 'QUERY')
  .map(
    (method): Twist =>
      (draft) => {
        draft.method = method
      },
  )

const otherMediaType = fc.constantFrom(...MEDIA_TYPES).map(
  (mediaType): Twist =>
    (draft) => {
      // The same bytes, whatever they are said to be.
      draft.bytes = plainBodyOf(draft)
      if (draft.bytes) draft.mediaType = mediaType
    },
)

const addedHeader = fc.constantFrom(...HEADERS).map(
  (header): Twist =>
    ({ headers }) =>
      void headers.push(header),
)

const encodedBody = fc
  .tuple(
    fc.constantFrom(...Object.keys(ENCODERS)),
    fc.constantFrom('right', 'right', 'cut', 'plain', 'unknown'),
  )
  .map(
    ([coding, how]): Twist =>
      (draft) => {
        if (!hasBody(draft)) return
        const encode = ENCODERS[coding] as (bytes: Buffer) => Buffer
        if (how === 'right') draft.encoded = { coding, encode }
        else if (how === 'cut') draft.encoded = { coding, encode: (bytes) => encode(bytes).subarray(0, 12) }
        else if (how === 'plain') draft.encoded = { coding, encode: (bytes) => bytes }
        else draft.encoded = { coding: 'zstd, gzip', encode }
        draft.broken = how !== 'right' && draft.operation.requestBody !== undefined
      },
  )

const chunkedBody = fc.constant<Twist>((draft) => {
  draft.chunked = hasBody(draft)
})

/** What may be wrong with a request that a client library sends; several of it at once, too. */
export const TWISTS: fc.Arbitrary<Twist> = fc.oneof(
  { arbitrary: changedMember, weight: 6 },
  { arbitrary: changedQuery, weight: 4 },
  { arbitrary: addedHeader, weight: 4 },
  { arbitrary: addedMember, weight: 2 },
  { arbitrary: changedText, weight: 2 },
  { arbitrary: otherBody, weight: 2 },
  { arbitrary: changedPath, weight: 2 },
  { arbitrary: encodedBody, weight: 2 },
  { arbitrary: otherMediaType, weight: 2 },
  addedQuery,
  otherMethod,
  chunkedBody,
)
