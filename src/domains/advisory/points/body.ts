import type { FastifyRequest } from 'fastify'
import { BATCH_LIMITS } from '#schemas/points.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/plugins/app.ts'
import { FORMS, readBatch, type SentBatch } from './sent.ts'

/** How to have more points answered. */
function hint({ user }: FastifyRequest): string {
  return user === null
    ? `Without a token a call may have ${BATCH_LIMITS.anonymous} points, with one (\`Authorization: Bearer ...\`) ${BATCH_LIMITS.withToken}.`
    : `A call may have ${BATCH_LIMITS.withToken} points: send several.`
}

/**
 * Makes a scope read bodies in all forms in which many points are sent. How long they may be depends on
 * whether the caller has a token, so they are collected here and not by Fastify.
 */
export function readBatchBodies(app: App): void {
  const { BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES } = app.config
  const jsonParser = app.getDefaultJsonParser('error', 'error')

  const limitOf = ({ user }: FastifyRequest) =>
    user === null ? BODY_LIMIT_BYTES : Math.max(BODY_LIMIT_BYTES, BATCH_BODY_LIMIT_BYTES)

  app.removeAllContentTypeParsers()
  for (const form of FORMS) {
    app.addContentTypeParser(form, async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
      const text = textOf(await collect(request, stream, limitOf(request)))
      if (text.trim() === '') return undefined
      return readBatch(form, text, (json) => parseJson(request, json))
    })
  }
  app.addContentTypeParser('*', async (request: FastifyRequest, stream: NodeJS.ReadableStream) => {
    const body = await collect(request, stream, limitOf(request))
    if (body.length === 0) return undefined
    throw new ApiError('UNSUPPORTED_MEDIA_TYPE', `Send the body as one of ${FORMS.join(', ')}.`)
  })

  function parseJson(request: FastifyRequest, json: string): unknown {
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
  throw new ApiError('TOO_MANY_POINTS', `The call has ${count} points. ${hint(request)}`)
}

/** The bytes of a body, not more than the limit of them. */
function collect(request: FastifyRequest, stream: NodeJS.ReadableStream, limit: number): Promise<Buffer> {
  const tooLarge = () =>
    new ApiError('BODY_TOO_LARGE', `The body is larger than ${limit} bytes. ${hint(request)}`)
  if (Number(request.headers['content-length']) > limit) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let length = 0
    stream.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length > limit) {
        // What else comes is read by nobody, and thrown away by Node.
        stream.removeAllListeners('data')
        reject(tooLarge())
      } else {
        chunks.push(chunk)
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
    throw new ApiError('MALFORMED_BODY', 'The body is not valid UTF-8.')
  }
  if (text.includes('\0')) throw new ApiError('MALFORMED_BODY', 'The body contains NUL characters.')
  return text
}
