import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, overloaded } from '#src/errors.ts'
import { findExcess, findJsonFault, isObject } from '#src/lib/json.ts'
import { createLimiter, type Permit } from '#src/lib/limiter.ts'
import { decodeText } from '#src/lib/text.ts'
import { createDeadline } from '#src/lib/time-budget.ts'
import type { App } from '../app.ts'
import type { Exchange } from '../exchange.ts'
import { waitWhileConnected, whenOver } from './time-budget.ts'

/** Nested lists and objects. A writer of JSON needs stack for each level, of which it has some thousands. */
const MOST_LEVELS = 64

/** Several times the positions of a polygon. A million bytes could have 300,000, and take as long as 100,000 points. */
const MOST_LISTS = 50_000

/** Of one object, as many as a table has columns: making an object of 80,000 names takes a fifth of a second. */
const MOST_MEMBERS = 1000

/** A shorter body is parsed as fast as a few points are answered. */
const SOON_PARSED_BYTES = 8192

/** An empty body of any type is none: generated clients send a JSON type with each request, and curl's `-d ''` a form. */
export const bodyParser = fp(
  async (app: App) => {
    app.removeAllContentTypeParsers()
    const readJson = jsonReader(app)
    app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, readJson)
    app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, (request, body, done) => {
      if (body.length === 0) done(null, undefined)
      else if (isUntypedJson(request, body)) readJson(request, body, done)
      else done(unsupported(request, 'Send the body as application/json.'))
    })
  },
  { name: 'body-parser' },
)

export function jsonReader(app: App) {
  const parse = jsonParser(app, MOST_LISTS)
  type Done = (error: Error | null, body?: unknown) => void

  function read(request: FastifyRequest, body: Buffer, done: Done): void {
    let parsed: unknown
    try {
      const json = decodeBody(body, request)
      parsed = json.trim() === '' ? undefined : parse(request, json)
    } catch (error) {
      done(error as Error)
      return
    }
    done(null, parsed)
  }

  return (request: FastifyRequest, body: Buffer, done: Done): void => {
    if (body.length <= SOON_PARSED_BYTES) read(request, body, done)
    else waitToParse(request, body).then(() => read(request, body, done), done)
  }
}

/** A long body waits for a slice of the event loop, so that points do not wait for several of them. */
export async function waitToParse(request: FastifyRequest, body: Buffer): Promise<void> {
  if (body.length <= SOON_PARSED_BYTES) return
  await waitWhileConnected(request, (signal) => request.exchange.nextSlice(signal))
}

/** The error of JSON with too many members, or too many or too deeply nested lists and objects: it would take long. */
export function nestingError(
  json: string,
  what: 'body' | 'line' | 'feature',
  lists = MOST_LISTS,
): ApiError | undefined {
  // Each level has two brackets.
  if (json.length <= 2 * MOST_LEVELS) return undefined
  const excess = findExcess(json, { levels: MOST_LEVELS, lists, members: MOST_MEMBERS })
  if (excess === undefined) return undefined
  const rule = {
    levels: `lists or objects within each other on more than ${MOST_LEVELS} levels`,
    lists: `more than ${lists} lists and objects`,
    members: `an object with more than ${MOST_MEMBERS} members`,
  }
  return new ApiError('MALFORMED_JSON', `The ${what} has ${rule[excess]}.`)
}

/** A longer text takes too long to search; of lines there are many. */
const LONGEST_SEARCHED = { body: 65_536, line: 8192 } as const

/** Names the position of the first mistake of a body or line that is no JSON, and its remedy. */
export function malformedJson(json: string, what: 'body' | 'line' = 'body'): ApiError {
  const fault = json.length <= LONGEST_SEARCHED[what] ? findJsonFault(json) : undefined
  if (!fault) return new ApiError('MALFORMED_JSON', `The ${what} is not valid JSON.`)
  const { line, column, remedy } = fault
  const position = what === 'line' ? `column ${column}` : `line ${line}, column ${column}`
  return new ApiError(
    'MALFORMED_JSON',
    `The ${what} is not valid JSON at ${position}${remedy === undefined ? '' : `: ${remedy}`}.`,
  )
}

const FORM = /^application\/x-www-form-urlencoded\s*(;|$)/i

/** @param sentence what to send instead */
export function unsupported({ headers }: FastifyRequest, sentence: string): ApiError {
  const isForm = FORM.test(headers['content-type'] ?? '')
  const hint = isForm
    ? " You sent a form, as curl's -d does: send JSON with --json, or the same in the query."
    : ''
  return new ApiError('UNSUPPORTED_MEDIA_TYPE', sentence + hint)
}

/**
 * Some clients send JSON so, and curl's `-d` as a form. Browsers do without a preflight, which is no danger: callers have a
 * token, and no cookie.
 */
export function isUntypedJson({ headers }: FastifyRequest, body: Buffer): boolean {
  const type = headers['content-type']
  if (type !== undefined && !/^text\/plain\s*(;|$)/i.test(type) && !FORM.test(type)) return false
  return isUtf8(body) && /^\s*[{[]/.test(body.toString('utf8', 0, LONGEST_LEAD))
}

const LONGEST_LEAD = 64

/** Enough for each body without many points or an outline. */
const SHORT_BODY_BYTES = 8192

/** A character beyond the first 65,536 in ASCII: `\ud83c\udf3e`. */
const LONGEST_CHARACTER_BYTES = 12

/** Bytes of a body around its texts. */
const REMAINDER_BYTES = 2048

/** Limits the body of each route without a `bodyLimit` to 8 kB, or to its texts at their longest. */
export const bodyLimits = fp(
  async (app: App) => {
    app.addHook('onRoute', function (route) {
      if (route.bodyLimit !== undefined) return
      const texts = LONGEST_CHARACTER_BYTES * countCharacters(route.schema?.body, (id) => this.getSchema(id))
      const needed = Math.max(SHORT_BODY_BYTES, texts + REMAINDER_BYTES)
      route.bodyLimit = Math.min(needed, app.config.BODY_LIMIT_BYTES)
    })
  },
  { name: 'body-limits' },
)

function countCharacters(schema: unknown, schemaOf: (id: string) => unknown): number {
  if (Array.isArray(schema)) return schema.reduce((sum, part) => sum + countCharacters(part, schemaOf), 0)
  if (!isObject(schema)) return 0
  const { $ref, maxLength, ...parts } = schema
  if (typeof $ref === 'string') return countCharacters(schemaOf($ref.replace('#', '')), schemaOf)
  return (typeof maxLength === 'number' ? maxLength : 0) + countCharacters(Object.values(parts), schemaOf)
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Long bodies wait for a permit before they are received. */
    longBody?: true
  }
  interface FastifyRequest {
    bodyPermit: Permit | null
  }
}

/** Some 1,000 points. A body of this length needs no permit: the first read holds as much anyway. */
const SHORT_BYTES = 65_536

/** Permit of a body without a length, or with an encoding. */
const EXPECTED_BYTES = 1_048_576

/** Bodies of full length in memory: one of a caller, two of a network. */
const LONGEST_BODIES = 4
const LONGEST_BODIES_EACH_NETWORK = 2

/** Each waiting body has a few thousand bytes here, and the rest with its client. */
const MOST_WAITING = 100

/** Bounds the bytes of long bodies in memory, until they are answered. Without a permit the client waits, unread. */
export const longBodies = fp(
  async (app: App) => {
    const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES, SLOW_CLIENT_MS } = app.config
    const longest = Math.max(BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES)
    const limits = {
      running: LONGEST_BODIES * longest,
      runningEachNetwork: LONGEST_BODIES_EACH_NETWORK * longest,
      runningEach: longest,
      waiting: MOST_WAITING,
    }
    const limiter = createLimiter(limits, overloaded)

    app.decorateRequest('bodyPermit', null)
    app.addHook('onRoute', (route) => {
      if (!route.config?.longBody) return
      const { bodyLimit = longest } = route
      route.preParsing = async (request: FastifyRequest, _reply: FastifyReply, payload: unknown) => {
        const bytes = expectedBytes(request, bodyLimit)
        if (bytes > SHORT_BYTES) await enter(request.exchange, bytes)
        // A decoder that failed meanwhile emits no second error.
        const { errored } = payload as Readable
        if (errored) throw errored
      }
    })

    async function enter(exchange: Exchange, bytes: number): Promise<void> {
      const { request, reply } = exchange
      try {
        const permit = await waitWhileConnected(request, (signal) => {
          const deadline = createDeadline(signal)
          deadline.setDue(SLOW_CLIENT_MS, overloaded)
          return limiter.hold(exchange.clientKey, bytes, deadline.signal).finally(deadline.end)
        })
        request.bodyPermit = permit
        whenOver(exchange, permit.release)
        // The client may have gone before.
        if (request.raw.socket.destroyed) permit.release()
      } catch (error) {
        // The rest of the body would be received for nothing.
        reply.header('connection', 'close')
        throw error
      }
    }
  },
  { name: 'long-bodies', dependencies: ['error-handler'] },
)

/** 0 for a body over the limit, which is refused without a permit. */
function expectedBytes({ headers }: FastifyRequest, limit: number): number {
  const { 'content-length': length, 'content-encoding': encoding, 'transfer-encoding': transfer } = headers
  if (transfer !== undefined || (encoding !== undefined && length !== '0'))
    return Math.min(EXPECTED_BYTES, limit)
  const announced = Number(length ?? 0)
  return announced > limit ? 0 : announced
}

/** Several times as many as the points of a call as features, or the positions of its polygons. */
const MOST_LONG_LISTS = 200_000

export function collectBody(
  request: FastifyRequest,
  stream: NodeJS.ReadableStream,
  limit: number,
  tooLarge: (bytes: number) => Error,
): Promise<Buffer> {
  const announced = Number(request.headers['content-length'])
  if (announced > limit) return Promise.reject(tooLarge(announced))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= limit && (request.bodyPermit?.growTo(length) ?? true)) {
        chunks.push(chunk)
      } else {
        // Node drops the rest; the decoder ends.
        stream.removeAllListeners('data')
        if (stream !== request.raw) (stream as Readable).destroy()
        reject(length > limit ? tooLarge(length) : overloaded())
      }
    })
    stream.on('end', () => resolve(Buffer.concat(chunks, length)))
    stream.on('error', reject)
  })
}

/** The encoding that the media type of a body declares. */
export function declaredCharset({ headers }: FastifyRequest): string | undefined {
  return /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(headers['content-type'] ?? '')?.[1]
}

/** What errors of the text of a body say. */
export const BODY_TEXT = {
  source: 'The body',
  remedy: 'Send UTF-8, or declare the encoding in Content-Type, such as `; charset=windows-1252`.',
}

/** Different invalid bytes would decode to the same characters, also of passwords. @throws {TextError} */
export function decodeBody(body: Buffer, request: FastifyRequest): string {
  // Clients declare their system's encoding for what they write in UTF-8.
  return decodeText(body, isUtf8(body) ? BODY_TEXT : { ...BODY_TEXT, declared: declaredCharset(request) })
    .text
}

/** @throws {ApiError} MALFORMED_JSON */
export function jsonParser(
  app: App,
  lists = MOST_LONG_LISTS,
): (request: FastifyRequest, json: string) => unknown {
  const parser = app.getDefaultJsonParser('error', 'error')
  return (request, json) => {
    const excess = nestingError(json, 'body', lists)
    if (excess) throw excess
    let parsed: unknown
    // The parser calls back before it returns.
    void parser(request, json, (error, body) => {
      if (error) throw malformedJson(json)
      parsed = body
    })
    return parsed
  }
}
