import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { FastifyRequest, RequestPayload } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import { findExcess } from '#src/lib/json.ts'
import type { App } from '../app.ts'
import { clientKeyOf } from '../request.ts'
import { waitWhileConnected } from './time-budget.ts'

/** Nested lists and objects. A writer of JSON needs stack for each level, of which it has some thousands. */
const MOST_LEVELS = 64

/** Several times the positions of a polygon. A million bytes could have 300,000, and take as long as 100,000 points. */
const MOST_LISTS = 50_000

/** A shorter body is parsed as fast as a few points are answered. */
const SOON_PARSED_BYTES = 8192

export const NOT_UTF8 = 'The body is not valid UTF-8.'

/** An empty body of any type is none: generated clients send a JSON type with each request, and curl's `-d ''` a form. */
export const bodyParser = fp(
  async (app: App) => {
    app.removeAllContentTypeParsers()
    const readJson = jsonReader(app)
    app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, readJson)
    app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, body, done) => {
      if (body.length === 0) done(null, undefined)
      else if (isUntypedJson(request, body)) readJson(request, body, done)
      else done(new ApiError('UNSUPPORTED_MEDIA_TYPE', 'Send the body as application/json.'))
    })
  },
  { name: 'body-parser' },
)

export function jsonReader(app: App) {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  type Done = (error: Error | null, body?: unknown) => void

  function read(request: FastifyRequest, body: Buffer, done: Done): void {
    // Different invalid bytes would decode to the same characters, also of passwords.
    if (!isUtf8(body)) {
      done(new ApiError('MALFORMED_BODY', NOT_UTF8))
      return
    }
    const json = body.toString()
    if (json.trim() === '') {
      done(null, undefined)
      return
    }
    const excess = nestingError(json, 'body')
    if (excess) done(excess)
    else void parseJson(request, json, done)
  }

  return (request: FastifyRequest, body: Buffer, done: Done): void => {
    if (body.length <= SOON_PARSED_BYTES) read(request, body, done)
    else waitToParse(app, request, body).then(() => read(request, body, done), done)
  }
}

/** A long body waits for a slice of the event loop, so that points do not wait for several of them. */
export async function waitToParse({ turns }: App, request: FastifyRequest, body: Buffer): Promise<void> {
  if (body.length <= SOON_PARSED_BYTES) return
  await waitWhileConnected(request, (signal) => turns.next(clientKeyOf(request), signal))
}

/** The error of JSON with too many or too deeply nested lists and objects, which would take long. */
export function nestingError(json: string, what: 'body' | 'line', lists = MOST_LISTS): ApiError | undefined {
  // Each level has two brackets.
  if (json.length <= 2 * MOST_LEVELS) return undefined
  const excess = findExcess(json, { levels: MOST_LEVELS, lists })
  if (excess === undefined) return undefined
  const rule = {
    levels: `lists or objects within each other on more than ${MOST_LEVELS} levels`,
    lists: `more than ${lists} lists and objects`,
  }
  return new ApiError('MALFORMED_JSON', `The ${what} has ${rule[excess]}.`)
}

/** Some clients send JSON so. Browsers do without a preflight, which is no danger: callers have a token, and no cookie. */
export function isUntypedJson({ headers }: FastifyRequest, body: Buffer): boolean {
  const type = headers['content-type']
  if (type !== undefined && !/^text\/plain\s*(;|$)/i.test(type)) return false
  return isUtf8(body) && /^\s*[{[]/.test(body.toString('utf8', 0, LONGEST_LEAD))
}

const LONGEST_LEAD = 64

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

const ACCEPTED = 'gzip, deflate, br'

/** Decodes bodies with a Content-Encoding up to the limit of the route: a few bytes may decode to gigabytes. */
export const encodedBodies = fp(
  async (app: App) => {
    app.addHook('preParsing', (request, _reply, payload, done) => {
      if (request.headers['content-encoding'] === undefined || isWithoutBody(request)) done(null, payload)
      else decode(request, payload, done)
    })
  },
  { name: 'encoded-bodies' },
)

function decode(
  { headers, raw, routeOptions }: FastifyRequest,
  payload: RequestPayload,
  done: (error: Error | null, payload?: RequestPayload) => void,
): void {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (encoding === 'identity') {
    done(null, payload)
    return
  }
  const createDecoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding] : undefined
  if (createDecoder) done(null, decoded(raw, createDecoder(), routeOptions.bodyLimit))
  else {
    const sentence = `Send the body as it is, or with one Content-Encoding of ${ACCEPTED}.`
    done(new ApiError('UNSUPPORTED_MEDIA_TYPE', sentence).withHeader('accept-encoding', ACCEPTED))
  }
}

/** No body has any encoding, and the body of a GET is not read. */
function isWithoutBody({ method, headers }: FastifyRequest): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': transfer } = headers
  return method === 'GET' || method === 'HEAD' || (length === '0' && transfer === undefined)
}

/** The request is never destroyed, since its answer has the same connection. */
function decoded(raw: IncomingMessage, decoder: Transform, limit: number): RequestPayload {
  let encodedBytes = 0
  let bytes = 0
  const body: RequestPayload & Transform = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length
      done(bytes > limit ? new ApiError('BODY_TOO_LARGE', 'The body is too large.') : null, chunk)
    },
    destroy(error, done) {
      raw.unpipe(decoder)
      // The rest is dropped.
      raw.resume()
      decoder.destroy()
      done(error)
    },
  })
  raw.on('data', (chunk: Buffer) => {
    encodedBytes += chunk.length
    // Fastify compares it with Content-Length.
    body.receivedEncodedLength = encodedBytes
  })
  raw.once('error', (error) => body.destroy(error))
  // A reader that found it too large listens no more.
  body.on('error', () => {})
  decoder.once('error', () =>
    body.destroy(new ApiError('MALFORMED_BODY', 'The body is not what its Content-Encoding says.')),
  )
  raw.pipe(decoder).pipe(body)
  return body
}
