import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { BASE_PATH_PATTERN } from '#src/config.ts'
import { isWithin } from '#src/lib/network.ts'
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
