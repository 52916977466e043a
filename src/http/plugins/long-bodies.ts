import type { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import { isObject } from '#src/lib/collections.ts'
import { createLimiter, type Permit } from '#src/lib/limiter.ts'
import { createDeadline } from '#src/lib/time-budget.ts'
import type { App } from '../app.ts'
import { clientKeyOf } from '../request.ts'
import { NOT_UTF8, nestingError } from './body-parser.ts'
import { overloaded } from './overload.ts'
import { waitWhileConnected, whenOver } from './time-budget.ts'

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

/** Characters of all texts of a schema at their longest. */
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
    /** Permit of a long body and of the work on it. */
    place: Permit | null
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

    app.decorateRequest('place', null)
    app.addHook('onRoute', (route) => {
      if (!route.config?.longBody) return
      const { bodyLimit = longest } = route
      route.preParsing = async (request: FastifyRequest, reply: FastifyReply, payload: unknown) => {
        const bytes = expectedBytes(request, bodyLimit)
        if (bytes > SHORT_BYTES) await enter(request, reply, bytes)
        // A decoder that failed meanwhile emits no second error.
        const { errored } = payload as Readable
        if (errored) throw errored
      }
    })

    async function enter(request: FastifyRequest, reply: FastifyReply, bytes: number): Promise<void> {
      try {
        const place = await waitWhileConnected(request, (signal) => {
          const deadline = createDeadline(signal)
          deadline.setDue(SLOW_CLIENT_MS, overloaded)
          return limiter.hold(clientKeyOf(request), bytes, deadline.signal).finally(deadline.end)
        })
        request.place = place
        whenOver(request, reply, place.release)
        // The client may have gone before.
        if (request.raw.socket.destroyed) place.release()
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
const MOST_LISTS = 200_000

/** Reads a long body within the limit and its permit. */
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
      if (length <= limit && (request.place?.growTo(length) ?? true)) {
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

const UTF_8 = new TextDecoder('utf-8', { fatal: true })

/** Decodes a long body, without its byte order mark. */
export function decodeBody(body: Buffer): string {
  let text: string
  try {
    text = UTF_8.decode(body)
  } catch {
    throw new ApiError('MALFORMED_BODY', NOT_UTF8)
  }
  if (text.includes('\0')) throw new ApiError('MALFORMED_BODY', 'The body contains NUL characters.')
  return text
}

/** Makes the parser of long JSON bodies; it throws the error to answer with. */
export function longJsonParser(app: App): (request: FastifyRequest, json: string) => unknown {
  const jsonParser = app.getDefaultJsonParser('error', 'error')
  return (request, json) => {
    const excess = nestingError(json, 'body', MOST_LISTS)
    if (excess) throw excess
    let parsed: unknown
    // The parser calls back before it returns.
    void jsonParser(request, json, (error, body) => {
      if (error) throw error
      parsed = body
    })
    return parsed
  }
}
