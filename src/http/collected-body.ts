import type { Readable } from 'node:stream'
import type { FastifyRequest } from 'fastify'
import { ApiError } from '#src/errors.ts'
import type { Place } from '#src/lib/byte-room.ts'
import type { App } from './app.ts'
import { NOT_UTF8, nestingError } from './plugins/body-parser.ts'
import { overloaded } from './plugins/overload.ts'

/** Several times as many as features of as many points as a call may have, or positions of its polygons. */
const MOST_LISTS = 200_000

/**
 * The bytes of a long body, not more than the limit of them, nor than there is room for.
 *
 * @param tooLarge makes what is answered to more bytes than the limit
 */
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

/** The text of a long body, without a byte order mark. */
export function textOf(body: Buffer): string {
  let text: string
  try {
    text = UTF_8.decode(body)
  } catch {
    throw new ApiError('MALFORMED_BODY', NOT_UTF8)
  }
  if (text.includes('\0')) throw new ApiError('MALFORMED_BODY', 'The body contains NUL characters.')
  return text
}

/** Makes what parses the text of a long body, and throws what is answered where it is no JSON. */
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

/**
 * Gives back what a call holds of the room as its answer is made.
 *
 * @param left says how much the rest of the answer is made of, in any unit
 */
export async function* givingBack(
  place: Place | null,
  left: () => number,
  pieces: AsyncGenerator<Buffer>,
): AsyncGenerator<Buffer> {
  const bytesPerUnit = (place?.bytes ?? 0) / left()
  for await (const piece of pieces) {
    place?.shrinkTo(left() * bytesPerUnit)
    yield piece
  }
}
