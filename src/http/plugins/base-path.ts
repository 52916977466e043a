import type { IncomingMessage } from 'node:http'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { BASE_PATH_PATTERN } from '#src/config.ts'
import { ApiError } from '#src/errors.ts'
import { isHost, isWithin } from '#src/lib/network.ts'
import type { App } from '../app.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** What stands before the paths of the service for its clients: a prefix that a proxy strips, and BASE_PATH. */
    readonly basePath: string
    /** The address of the service for its clients, with {@link basePath} and without a slash at its end. */
    readonly rootUrl: string
  }
}

/** Longer ones are no prefix of anybody. */
const LONGEST_PREFIX = 200

const PREFIX = new RegExp(BASE_PATH_PATTERN)

/**
 * Knows what links and hints begin with: PUBLIC_URL, and without it the Host header. Only proxies that are trusted may
 * say a prefix in `X-Forwarded-Prefix`.
 */
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
 * Refuses requests that do not name one host (RFC 9112, section 3.2): a proxy before us may have gone by another of
 * two, or by none. HTTP/1.0 knows no Host. Node would answer without a body, and takes the first of several.
 *
 * Nobody says by another header which host it is: Fastify would believe trusted proxies, of which hardly any strips what
 * a client has written there, and answers that caches keep have links to it. For the same reason Host must be a host.
 */
export const hostHeader = fp(
  async (app: App) => {
    app.addHook('onRequest', ({ raw }, reply, done) => {
      delete raw.headers['x-forwarded-host']
      const mistake = mistakeIn(raw)
      if (mistake === null) {
        done()
        return
      }
      // What else comes over the connection may be part of what somebody else was to read.
      reply.header('connection', 'close')
      done(new ApiError('MALFORMED_REQUEST', mistake))
    })
  },
  { name: 'host-header', dependencies: ['error-handler'] },
)

function mistakeIn(raw: IncomingMessage): string | null {
  const hosts = hostsOf(raw)
  if (hosts === 0 && raw.httpVersion === '1.0') return null
  if (hosts !== 1) return `The request must have one Host header, and has ${hosts || 'none'}.`
  if (isHost(raw.headers.host ?? '')) return null
  return 'The Host header must be a name or an address, with a port or without, such as advisory.example:8080.'
}

/** How many Host headers a request has: `headers` has the first alone. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name === 'Host' || (name.length === 4 && name.toLowerCase() === 'host')) hosts++
  }
  return hosts
}
