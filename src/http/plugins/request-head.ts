import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import cors from '@fastify/cors'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { BASE_PATH_PATTERN } from '#src/config.ts'
import { ApiError } from '#src/errors.ts'
import { isHost, isWithin } from '#src/lib/network.ts'
import type { App } from '../app.ts'

/** Ids of clients and proxies: short, and harmless in logs, URLs and JSON. */
const SANE = /^[A-Za-z0-9._:~+/=@-]{1,128}$/

/** Random prefix of the process; a number behind it costs less than random bytes. */
const PROCESS = randomBytes(9).toString('base64url')

let count = 0

export function newRequestId(): string {
  count++
  return `${PROCESS}-${count.toString(36)}`
}

export function readRequestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && SANE.test(sent) ? sent : newRequestId()
}

/** Sets the header of the id, which is `reqId` in the log. */
export const requestId = fp(
  async (app: App) => {
    app.addHook('onRequest', ({ id }, reply, done) => {
      reply.header('x-request-id', id)
      done()
    })
  },
  { name: 'request-id' },
)

declare module 'fastify' {
  interface FastifyRequest {
    /** Prefix of a proxy, then BASE_PATH. */
    readonly basePath: string
    /** Address for clients with {@link basePath}, without a slash at its end. */
    readonly rootUrl: string
  }
}

const LONGEST_PREFIX = 200

const PREFIX = new RegExp(BASE_PATH_PATTERN)

/** Begin of links: PUBLIC_URL, or the Host header with the `X-Forwarded-Prefix` of trusted proxies. */
export const basePath = fp(
  async (app: App) => {
    const { BASE_PATH, PUBLIC_URL, TRUSTED_PROXIES } = app.config
    const publicPath = PUBLIC_URL && new URL(PUBLIC_URL).pathname.replace(/\/$/, '')
    app.decorateRequest('basePath', {
      getter(this: FastifyRequest) {
        if (publicPath !== undefined) return publicPath
        const prefix = this.headers['x-forwarded-prefix']
        const isPrefix = typeof prefix === 'string' && prefix.length <= LONGEST_PREFIX && PREFIX.test(prefix)
        if (!isPrefix || !isWithin(this.socket.remoteAddress ?? '', TRUSTED_PROXIES)) return BASE_PATH
        return prefix + BASE_PATH
      },
    })
    app.decorateRequest('rootUrl', {
      getter(this: FastifyRequest) {
        return PUBLIC_URL ?? `${this.protocol}://${this.host}${this.basePath}`
      },
    })
  },
  { name: 'base-path' },
)

/**
 * Refuses requests without one Host header (RFC 9112, section 3.2): a proxy may use another of several. Node would answer
 * without a body, and takes the first. `X-Forwarded-Host` is removed, since trusted proxies often pass that of a client,
 * and cached answers have links with it; so Host must be a host.
 */
export const hostHeader = fp(
  async (app: App) => {
    app.addHook('onRequest', ({ raw }, reply, done) => {
      delete raw.headers['x-forwarded-host']
      const mistake = findMistake(raw)
      if (mistake === null) {
        done()
        return
      }
      // Later bytes may be a smuggled request.
      reply.header('connection', 'close')
      done(new ApiError('MALFORMED_REQUEST', mistake))
    })
  },
  { name: 'host-header', dependencies: ['error-handler'] },
)

function findMistake(raw: IncomingMessage): string | null {
  const hosts = countHosts(raw)
  if (hosts === 0 && raw.httpVersion === '1.0') return null
  if (hosts !== 1) return `The request must have one Host header, and has ${hosts || 'none'}.`
  if (isHost(raw.headers.host ?? '')) return null
  return 'The Host header must be a name or an address, with a port or without, such as advisory.example:8080.'
}

/** `headers` has the first alone. */
function countHosts({ rawHeaders }: IncomingMessage): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name === 'Host' || (name.length === 4 && name.toLowerCase() === 'host')) hosts++
  }
  return hosts
}

/** Seconds for which browsers store a preflight. */
const PREFLIGHT_SECONDS = 7200

/** Headers that pages of other origins may read. */
const EXPOSED_HEADERS = [
  'Accept-Ranges',
  'Advisory-History',
  'Advisory-Ignored',
  'Advisory-Release',
  'Deprecation',
  'ETag',
  'Idempotency-Replayed',
  'Link',
  'Location',
  'Preference-Applied',
  'Retry-After',
  'Server-Timing',
  'Sunset',
  'WWW-Authenticate',
  'X-Request-Id',
  'Content-Disposition',
  'Content-Range',
]

/** Headers for documents in browsers alone. */
const DOCUMENT_HEADERS = [
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'x-frame-options',
]

/** Headers of all answers, also without a request. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = {
  'content-security-policy': "default-src 'none';frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  // Without subdomains: other names of the host may lack HTTPS.
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
}

/** Scripts of all origins may read by default: advice is public, and callers have a token, never a cookie. */
export const securityHeaders = fp(
  async (app: App, { extensions }: { extensions: readonly { requestHeaders?: readonly string[] }[] }) => {
    // Browsers send no token with a preflight.
    app.addHook('onRoute', (route) => {
      if (route.method !== 'OPTIONS') return
      route.config = { ...route.config, public: true }
      route.onSend = ({ url }, reply, _body, done) => {
        const methods = app.methodsOf(url)
        if (methods.length > 0) reply.header('allow', methods.join(', '))
        done()
      }
    })
    const origins = app.config.CORS_ORIGINS
    const everyOrigin = origins.includes('*')
    const limited = app.config.RATE_LIMIT !== undefined
    const exposedHeaders = limited ? [...EXPOSED_HEADERS, 'RateLimit', 'RateLimit-Policy'] : EXPOSED_HEADERS
    const forPages = {
      ...SECURITY_HEADERS,
      ...(everyOrigin && {
        'access-control-allow-origin': '*',
        'access-control-expose-headers': exposedHeaders.join(', '),
      }),
    }
    const forPrograms = Object.fromEntries(
      Object.entries(SECURITY_HEADERS).filter(([name]) => !DOCUMENT_HEADERS.includes(name)),
    )
    app.addHook('onRequest', ({ raw }, reply, done) => {
      // Browsers send the origin with each POST (Fetch standard, "append a request Origin header"). Answers of other
      // methods may come from caches, which serve pages too.
      const readByPages = raw.headers.origin !== undefined || raw.method !== 'POST'
      reply.headers(readByPages ? forPages : forPrograms)
      done()
    })
    const corsOptions = {
      origin: everyOrigin ? '*' : origins,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowedHeaders: [
        'Authorization',
        'Content-Type',
        'If-None-Match',
        'Accept',
        'Accept-Language',
        'Prefer',
        'X-Request-Id',
        'Idempotency-Key',
        'Content-Encoding',
        ...extensions.flatMap(({ requestHeaders = [] }) => requestHeaders),
      ],
      exposedHeaders,
      maxAge: PREFLIGHT_SECONDS,
      strictPreflight: false,
    }
    // For all origins the package is needed for preflights alone, in a context of its own.
    if (everyOrigin) await app.register(async (preflight) => preflight.register(cors, corsOptions))
    else await app.register(cors, corsOptions)
  },
  { name: 'security-headers' },
)
