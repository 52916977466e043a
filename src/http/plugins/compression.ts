import { ReadStream } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { pipeline, Readable, Transform } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import {
  brotliCompress,
  constants,
  createBrotliDecompress,
  createGunzip,
  createGzip,
  createInflate,
  gzip,
} from 'node:zlib'
import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import { Cache } from '#src/lib/cache.ts'
import type { App } from '../app.ts'
import { allowedCodings, varyBy } from '../request.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Answers with a secret beside sent texts are never compressed: their length would reveal common parts. */
    secret?: boolean
  }
}

/** A smaller answer fits into a packet. */
const LEAST_BYTES = 1024

/** Pictures and fonts are compressed already. */
const COMPRESSIBLE = /^(text\/|image\/svg|application\/(json|geo\+json|x-ndjson|(x-)?yaml|javascript))/

/** For assets a third of a second for a megabyte is worth a seventh of its size. */
const BROTLI_QUALITY = 9

/** Pages have a hundred files at most, and the document sixteen texts. */
const ASSETS_KEPT = 250

type Coding = 'br' | 'gzip'

const compress: Record<Coding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (body) => promisify(gzip)(body),
}

/** Compresses answers by `Accept-Encoding`, streams piece by piece. Files of pages and the document are compressed once. */
export const compression = fp(
  async (app: App) => {
    const assets = new Cache<string, Buffer>('compressed assets', { max: ASSETS_KEPT })

    function assetIn(coding: Coding, asset: ReadStream | string, tag: unknown): Promise<Buffer> {
      const isFile = asset instanceof ReadStream
      // A file has many URLs and one path; the tag of a text is its digest.
      const key = `${coding} ${isFile ? asset.path : tag}`
      let isLoaded = false
      const compressed = assets.load(key, async () => {
        isLoaded = true
        return compress[coding](isFile ? await buffer(asset) : Buffer.from(asset))
      })
      // It may have been removed meanwhile, and nothing else listens for that.
      if (isFile && !isLoaded) asset.on('error', () => {}).destroy()
      return compressed
    }

    async function compressed(
      coding: Coding,
      { method, routeOptions }: FastifyRequest,
      payload: string | Buffer | Readable,
      tag: unknown,
    ): Promise<Buffer | Readable> {
      const isAsset = isCompressedOnce(routeOptions)
      if (isAsset && typeof payload === 'string') return assetIn(coding, payload, tag)
      if (!(payload instanceof Readable)) return compress[coding](Buffer.from(payload))
      // Its body is not sent, and its file not open.
      if (method === 'HEAD') return payload
      if (isAsset && payload instanceof ReadStream) return assetIn(coding, payload, tag)
      // Written pieces are flushed at once.
      return pipeline(payload, createGzip({ flush: constants.Z_SYNC_FLUSH }), () => {})
    }

    app.addHook('onSend', (request, reply, payload, done) => {
      const accept = request.headers['accept-encoding']
      // Most requests are points of programs without the header.
      if (accept === undefined && request.method === 'POST') {
        done()
        return
      }
      const compressible = !request.routeOptions.config.secret && isCompressible(reply, payload)
      // A 304 has it too.
      if (request.method !== 'POST' && (compressible || reply.hasHeader('etag')))
        varyBy(reply, 'Accept-Encoding')
      const coding = compressible ? codingFor(request, accept ?? '') : undefined
      if (coding === undefined) {
        done()
        return
      }
      compressed(coding, request, payload as string | Buffer | Readable, reply.getHeader('etag')).then(
        (body) => {
          describe(reply, coding)
          done(null, body)
        },
        done,
      )
    })
  },
  { name: 'compression' },
)

function isCompressedOnce({ config: { caching } }: FastifyRequest['routeOptions']): boolean {
  return caching === 'asset' || caching === 'document'
}

/** Brotli is slow, and is for assets alone. */
function codingFor({ routeOptions }: FastifyRequest, accept: string): Coding | undefined {
  const offers: Coding[] = isCompressedOnce(routeOptions) ? ['br', 'gzip'] : ['gzip']
  const accepted = allowedCodings(accept, offers)
  return offers.find((coding) => accepted.includes(coding))
}

function isCompressible(reply: FastifyReply, payload: unknown): boolean {
  if (reply.statusCode === 206 || reply.hasHeader('content-encoding')) return false
  const type = reply.getHeader('content-type')
  if (typeof type !== 'string' || !COMPRESSIBLE.test(type)) return false
  if (payload instanceof Readable)
    return Number(reply.getHeader('content-length') ?? LEAST_BYTES) >= LEAST_BYTES
  return (
    (typeof payload === 'string' || Buffer.isBuffer(payload)) && Buffer.byteLength(payload) >= LEAST_BYTES
  )
}

/** Other bytes are another representation, with a weak tag, which suffices for If-None-Match. */
function describe(reply: FastifyReply, coding: Coding): void {
  reply.header('content-encoding', coding).removeHeader('content-length')
  // Ranges are of uncompressed bytes.
  reply.removeHeader('accept-ranges')
  const tag = reply.getHeader('etag')
  if (typeof tag === 'string' && !tag.startsWith('W/')) reply.header('etag', `W/${tag}`)
}

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

/** An encoding without a body is allowed; bodies of GET are not read. */
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
      done(bytes > limit ? new ApiError('BODY_TOO_LARGE') : null, chunk)
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
