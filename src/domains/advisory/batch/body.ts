import type { FastifyRequest } from 'fastify'
import { BATCH_LIMITS } from '#schemas/batch-forms.ts'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { collectBody, longJsonParser, textOf } from '#src/http/collected-body.ts'
import { FORMS, type Form } from '#src/http/forms.ts'
import { isUntypedJson, turnToParse } from '#src/http/plugins/body-parser.ts'
import { readBatch, type SentBatch } from './sent.ts'

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
  const parseJson = longJsonParser(app)

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

/** The bytes of a body, as many as its caller may send. */
function collect(
  request: FastifyRequest,
  stream: NodeJS.ReadableStream,
  { limit, longest }: Limits,
): Promise<Buffer> {
  return collectBody(request, stream, limit, (bytes) => {
    const error = new ApiError('BODY_TOO_LARGE', `The body is larger than ${limit} bytes. ${hint(request)}`)
    return refusalOf(request, error, bytes <= longest)
  })
}
