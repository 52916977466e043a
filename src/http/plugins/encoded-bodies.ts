import type { IncomingMessage } from 'node:http'
import { Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import type { FastifyRequest, RequestPayload } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import type { App } from '../app.ts'

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
