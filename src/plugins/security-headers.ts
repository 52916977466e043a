import cors from '@fastify/cors'
import helmet from '@fastify/helmet'
import fp from 'fastify-plugin'
import type { App } from './app.ts'

/** How long a browser need not ask again before it sends a request from another origin, in seconds. */
const PREFLIGHT_SECONDS = 7200

/**
 * What browsers are told: nothing of an answer is to be run or framed; and scripts of which origins may
 * read it. All may by default: the advice is public, and who a caller is says a token that a page must
 * have been given, never a cookie that a browser adds by itself.
 */
export const securityHeaders = fp(
  async (app: App) => {
    // The preflight is answered before anybody is asked for a token, which browsers do not send with it.
    app.addHook('onRoute', (route) => {
      if (route.method === 'OPTIONS') route.config = { ...route.config, public: true }
    })
    await app.register(helmet, {
      contentSecurityPolicy: {
        useDefaults: false,
        directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
      },
      crossOriginResourcePolicy: { policy: 'cross-origin' },
      // Whether the host's other names are reached by HTTPS is not for us to say.
      strictTransportSecurity: { maxAge: 31_536_000, includeSubDomains: false },
    })
    const origins = app.config.CORS_ORIGINS
    await app.register(cors, {
      origin: origins.includes('*') ? '*' : origins,
      methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      allowedHeaders: [
        'Authorization',
        'Content-Type',
        'If-None-Match',
        'Accept',
        'Accept-Language',
        'Prefer',
      ],
      exposedHeaders: [
        'Advisory-Release',
        'ETag',
        'Link',
        'Location',
        'Preference-Applied',
        'Retry-After',
        'Server-Timing',
        'WWW-Authenticate',
        'Content-Disposition',
      ],
      maxAge: PREFLIGHT_SECONDS,
      strictPreflight: false,
    })
  },
  { name: 'security-headers' },
)
