import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { FastifyRequest, RequestPayload } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import { excessOf } from '#src/lib/json.ts'
import type { App } from '../app.ts'
import { retryIfReplaced } from '../deadline.ts'
import { clientKeyOf } from '../request.ts'

/**
 * Lists and objects within each other. What is sent may be shown in an error or kept, and to write JSON
 * takes stack for each level: some thousands of them would end in an internal error.
 */
const MOST_LEVELS = 64

/** Several times as many as a polygon has positions. A million bytes could have 300,000, and take as long as 100,000 points. */
const MOST_LISTS = 50_000

/** What is shorter takes no longer to parse than a few points take to answer. */
const SOON_PARSED_BYTES = 8192

export const NOT_UTF8 = 'The body is not valid UTF-8.'

/**
 * Reads JSON bodies, and takes an empty body for none whatever its type is said to be: generated
 * clients send `Content-Type: application/json` with every request, and curl's `-d ''` sends a form.
 */
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

/** Makes what reads a body as JSON. */
export function jsonReader(app: App) {
  const parseJson = app.getDefaultJsonParser('error', 'error')
  type Done = (error: Error | null, body?: unknown) => void

  function read(request: FastifyRequest, body: Buffer, done: Done): void {
    // Decoded, bytes that differ would become the same characters: of two passwords, too.
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
    else turnToParse(app, request, body).then(() => read(request, body, done), done)
  }
}

/**
 * Waits until a body may be parsed. Long ones would otherwise be parsed one right after the other as they arrive,
 * and points wait for all of them.
 */
export async function turnToParse({ turns }: App, request: FastifyRequest, body: Buffer): Promise<void> {
  if (body.length <= SOON_PARSED_BYTES) return
  await retryIfReplaced(request, (signal) => turns.next(clientKeyOf(request), signal))
}

/**
 * What is answered to JSON that would take long to parse, or to write, for its lists; nothing where it would not.
 *
 * @param what it is the whole of
 * @param lists so many lists and objects are not too many
 */
export function nestingError(json: string, what: 'body' | 'line', lists = MOST_LISTS): ApiError | undefined {
  // Each level takes two brackets: short texts need not be looked at.
  if (json.length <= 2 * MOST_LEVELS) return undefined
  const excess = excessOf(json, { levels: MOST_LEVELS, lists })
  if (excess === undefined) return undefined
  const rule = {
    levels: `lists or objects within each other on more than ${MOST_LEVELS} levels`,
    lists: `more than ${lists} lists and objects`,
  }
  return new ApiError('MALFORMED_JSON', `The ${what} has ${rule[excess]}.`)
}

/**
 * Whether a body is JSON though nothing says so: clients that are given a text for the body call it
 * text/plain, and some call it nothing. Browsers let pages of any origin send such bodies without asking
 * (CORS). That is no danger: what acts for somebody has a token in a header, which a page must have been
 * given, and no cookie, which a browser would add by itself.
 */
export function isUntypedJson({ headers }: FastifyRequest, body: Buffer): boolean {
  const type = headers['content-type']
  if (type !== undefined && !/^text\/plain\s*(;|$)/i.test(type)) return false
  return isUtf8(body) && /^\s*[{[]/.test(body.toString('utf8', 0, LONGEST_LEAD))
}

/** So many bytes of a body tell what it begins with. */
const LONGEST_LEAD = 64

const DECODERS: Record<string, () => Transform> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/** What is told to those who send something else. */
const ACCEPTED = 'gzip, deflate, br'

/**
 * Reads bodies with a Content-Encoding: what parses them meets what was encoded. What is longer than a body of
 * its route may be is not decoded to its end: a few bytes may be the beginning of gigabytes.
 */
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
    const error = new ApiError(
      'UNSUPPORTED_MEDIA_TYPE',
      `Send the body as it is, or with one Content-Encoding of ${ACCEPTED}.`,
    )
    done(error.withHeader('accept-encoding', ACCEPTED))
  }
}

/** No body at all is legal, whatever is said of it; and nobody reads that of a GET. */
function isWithoutBody({ method, headers }: FastifyRequest): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': transfer } = headers
  return method === 'GET' || method === 'HEAD' || (length === '0' && transfer === undefined)
}

/** The decoded body. The request itself is never destroyed: its answer goes over the same connection. */
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
      // What else comes is thrown away.
      raw.resume()
      decoder.destroy()
      done(error)
    },
  })
  raw.on('data', (chunk: Buffer) => {
    encodedBytes += chunk.length
    // What Fastify compares with Content-Length.
    body.receivedEncodedLength = encodedBytes
  })
  raw.once('error', (error) => body.destroy(error))
  // Whoever reads it may have found it too large before, and listens no more.
  body.on('error', () => {})
  decoder.once('error', () =>
    body.destroy(new ApiError('MALFORMED_BODY', 'The body is not what its Content-Encoding says.')),
  )
  raw.pipe(decoder).pipe(body)
  return body
}
