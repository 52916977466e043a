import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import cors from '@fastify/cors'
import fp from 'fastify-plugin'
import helmet from 'helmet'
import type { App } from '../app.ts'

/** How long a browser need not ask again before it sends a request from another origin, in seconds. */
const PREFLIGHT_SECONDS = 7200

/** Headers of ours that pages of other origins may read. */
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

/** What is said about documents and what they may load, which is nothing to other programs. */
const DOCUMENT_HEADERS = [
  'content-security-policy',
  'cross-origin-resource-policy',
  'referrer-policy',
  'x-frame-options',
]

/** What every answer may say; also one that is written before there is a request. */
export const SECURITY_HEADERS: Readonly<Record<string, string>> = helmetHeaders()

/**
 * What browsers are told: nothing of an answer is to be run or framed; and scripts of which origins may
 * read it. All may by default: the advice is public, and who a caller is says a token that a page must
 * have been given, never a cookie that a browser adds by itself.
 *
 * What is the same for every answer is put together once: the plugins would do so for each.
 */
export const securityHeaders = fp(
  async (app: App) => {
    // The preflight is answered before anybody is asked for a token, which browsers do not send with it.
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
      // Browsers name the origin of every POST (Fetch standard, "append a request Origin header"); and
      // what caches may keep has to serve pages as well, whoever has asked for it.
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
        // Those of agents' clients in pages (Model Context Protocol).
        'Mcp-Protocol-Version',
        'Mcp-Method',
        'Mcp-Name',
      ],
      exposedHeaders,
      maxAge: PREFLIGHT_SECONDS,
      strictPreflight: false,
    }
    // Where every origin may ask, the plugin has nothing to say but to preflights: in a context of its own.
    if (everyOrigin) await app.register(async (preflight) => preflight.register(cors, corsOptions))
    else await app.register(cors, corsOptions)
  },
  { name: 'security-headers' },
)

/** The headers that helmet sets, which depend on nothing of a request. */
function helmetHeaders(): Record<string, string> {
  const request = new IncomingMessage(new Socket())
  const response = new ServerResponse(request)
  const setHeaders = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    crossOriginResourcePolicy: { policy: 'cross-origin' },
    // Whether the host's other names are reached by HTTPS is not for us to say.
    strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: false },
    // Heeded in documents alone, or by browsers long gone: every answer would carry them for nothing.
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
  })
  setHeaders(request, response, (error) => {
    if (error) throw error
  })
  return Object.fromEntries(
    Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]),
  )
}
