import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
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
