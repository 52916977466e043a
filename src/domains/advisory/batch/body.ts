import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { BATCH_LIMITS } from '#schemas/batch-forms.ts'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { isUntypedJson, NOT_UTF8, nestingError } from '#src/http/plugins/body-parser.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { FORMS, type Form, readBatch, type SentBatch } from './sent.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether there is room for so many bytes of its body; null for calls with one point. */
    hasRoomFor: ((bytes: number) => boolean) | null
  }
}

/** Several times as many as features of as many points as a call may have. */
const MOST_LISTS = 200_000

export const UNSUPPORTED_FORM = `Send the body as one of ${FORMS.join(', ')}.`

/** How to have more points answered. */
function hint({ user }: FastifyRequest): string {
  return user === null
    ? `Without a token a call may have ${BATCH_LIMITS.anonymous} points, with one (log in with POST ${BASE}/auth/login) ${BATCH_LIMITS.withToken}.`
    : `A call may have ${BATCH_LIMITS.withToken} points: send several.`
}

/**
 * Makes a scope read bodies in all forms in which many points are sent. How long they may be depends on
 * whether the caller has a token, so they are collected here and not by Fastify.
 *
 * @returns how many bytes a body may have of any caller
 */
export function readBatchBodies(app: App): number {
  const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES } = app.config
  const jsonParser = app.getDefaultJsonParser('error', 'error')

  const longest = Math.max(BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES)
  const limitsOf = ({ user }: FastifyRequest) => ({
    limit: user === null ? BODY_LIMIT_BYTES : longest,
    longest,
  })

  const admit = createAdmission(BODIES_IN_WORK * BATCH_BODY_LIMIT_BYTES)
  app.decorateRequest('hasRoomFor', null)
  app.addHook('onRequest', async (request, reply) => {
    request.hasRoomFor = admit(reply.raw)
  })

  app.removeAllContentTypeParsers()
  for (const form of FORMS) {
    app.addContentTypeParser(form, async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
      return readBody(request, form, await collect(request, stream, limitsOf(request)))
    })
  }
  app.addContentTypeParser('*', async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
    const body = await collect(request, stream, limitsOf(request))
    if (body.length === 0) return undefined
    if (isUntypedJson(request, body)) return readBody(request, 'application/json', body)
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', UNSUPPORTED_FORM)
  })
  return longest

  function readBody(request: FastifyRequest, form: Form, body: Buffer): SentBatch | undefined {
    const text = textOf(body)
    if (text.trim() === '') return undefined
    return readBatch(form, text, (json) => parseJson(request, json))
  }

  function parseJson(request: FastifyRequest, json: string): unknown {
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

/**
 * @throws {ApiError} TOO_MANY_POINTS, where the call has more than its caller may send
 */
export function refuseTooMany(request: FastifyRequest, { points }: SentBatch): void {
  const limit = request.user === null ? BATCH_LIMITS.anonymous : BATCH_LIMITS.withToken
  if (points.count <= limit) return
  const count = points.count > BATCH_LIMITS.withToken ? `more than ${BATCH_LIMITS.withToken}` : points.count
  const tooMany = new ApiError('TOO_MANY_POINTS', `The call has ${count} points. ${hint(request)}`)
  throw refusalOf(request, tooMany, points.count <= BATCH_LIMITS.withToken)
}

/**
 * What a call is refused with that is too large.
 *
 * @param needsCaller whether it is not too large for callers with a token: then it matters first that there
 * was one which is of no use
 */
function refusalOf({ callerError }: FastifyRequest, tooLarge: ApiError, needsCaller: boolean): Error {
  return (needsCaller && callerError) || tooLarge
}

/** Some 1,000 points: as with calls without a token, which may not have more, there is always room for them. */
const SHORT_BODY_BYTES = 131_072

/** So many bodies of full length are worked on at a time; an answer takes a few times the memory of its body. */
const BODIES_IN_WORK = 4

/**
 * Bounds the bytes of all long bodies of callers with a token that are worked on at the same time, from their
 * arrival until their answers have been sent. One alone always has room.
 */
function createAdmission(limit: number) {
  let taken = 0
  return (response: ServerResponse): ((bytes: number) => boolean) => {
    let own = 0
    response.once('close', () => {
      taken -= own
    })
    return (bytes) => {
      if (bytes <= SHORT_BODY_BYTES) return true
      const others = taken - own
      if (others > 0 && others + bytes > limit) return false
      taken = others + bytes
      own = bytes
      return true
    }
  }
}

/** How many bytes a body may have of this caller, and of any. */
interface Limits {
  limit: number
  longest: number
}

/** The bytes of a body, not more than the limit of them. */
function collect(
  request: FastifyRequest,
  stream: NodeJS.ReadableStream,
  { limit, longest }: Limits,
): Promise<Buffer> {
  const tooLarge = (bytes: number) => {
    const error = new ApiError('BODY_TOO_LARGE', `The body is larger than ${limit} bytes. ${hint(request)}`)
    return refusalOf(request, error, bytes <= longest)
  }
  const announced = Number(request.headers['content-length'])
  if (announced > limit) return Promise.reject(tooLarge(announced))
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= limit && (request.user === null || request.hasRoomFor?.(length))) {
        chunks.push(chunk)
      } else {
        // What else comes is read by nobody, and thrown away by Node; what decodes it ends.
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

/** The text of a body, without a byte order mark. */
function textOf(body: Buffer): string {
  let text: string
  try {
    text = UTF_8.decode(body)
  } catch {
    throw new ApiError('MALFORMED_BODY', NOT_UTF8)
  }
  if (text.includes('\0')) throw new ApiError('MALFORMED_BODY', 'The body contains NUL characters.')
  return text
}
