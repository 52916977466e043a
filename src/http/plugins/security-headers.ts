import cors from '@fastify/cors'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'

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
  async (app: App) => {
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
        // Of agents in pages (Model Context Protocol).
        'Mcp-Protocol-Version',
        'Mcp-Method',
        'Mcp-Name',
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
