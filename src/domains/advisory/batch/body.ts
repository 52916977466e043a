import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { BATCH_LIMITS } from '#schemas/batch-forms.ts'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { isUntypedJson, NOT_UTF8, nestingError, turnToParse } from '#src/http/plugins/body-parser.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { Place } from '#src/lib/byte-room.ts'
import { FORMS, type Form, readBatch, type SentBatch } from './sent.ts'

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

  async function readBody(request: FastifyRequest, form: Form, body: Buffer): Promise<SentBatch | undefined> {
    await turnToParse(app, request, body)
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
      if (length <= limit && (request.place?.growTo(length) ?? true)) {
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

/**
 * Gives back what a call holds of the room as its answer is made.
 *
 * @param left what the rest of the answer is made of, of which each piece takes one
 */
export async function* givingBack(
  place: Place | null,
  left: readonly unknown[],
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const bytesEach = (place?.bytes ?? 0) / left.length
  for await (const piece of pieces) {
    place?.shrinkTo(left.length * bytesEach)
    yield piece
  }
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
