import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'
import type { Deprecated } from '../openapi/operations.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** See docs/versioning.md. */
    deprecated?: Deprecated
  }
}

/** Headers of deprecated routes: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and links (RFC 8288). */
export const deprecation = fp(
  async (app: App) => {
    app.addHook('onRoute', (route) => {
      if (!route.config?.deprecated) return
      const { since, sunset, page, successor } = route.config.deprecated
      const headers = {
        deprecation: `@${Date.parse(since) / 1000}`,
        ...(sunset !== undefined && { sunset: new Date(sunset).toUTCString() }),
      }
      const links = [
        ...(page === undefined ? [] : [`<${page}>; rel="deprecation"; type="text/html"`]),
        ...(successor === undefined
          ? []
          : [`<${app.config.BASE_PATH}${successor}>; rel="successor-version"`]),
      ]
      const announce = async (_request: FastifyRequest, reply: FastifyReply) => {
        // The answer may have other links.
        const link = [reply.getHeader('link') ?? [], ...links].flat().join(', ')
        reply.headers({ ...headers, ...(link !== '' && { link }) })
      }
      route.onSend = [...[route.onSend ?? []].flat(), announce]
    })
  },
  { name: 'deprecation' },
)
