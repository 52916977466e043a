import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** See docs/versioning.md. */
    deprecated?: Deprecated
  }
}

/** Dates such as 2027-01-31 are midnight UTC. */
export interface Deprecated {
  since: string
  /** Date of the removal. */
  sunset?: string
  /** URL of a page with the reason and the changes. */
  page?: string
  /** Path without BASE_PATH. */
  successor?: string
}

/** Headers of deprecated routes: `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and links (RFC 8288). */
export const deprecation = fp(
  async (app: App) => {
    app.addHook('onRoute', (route) => {
      const { deprecated } = route.config ?? {}
      if (!deprecated) return
      const headers = createHeaders(deprecated, app.config.BASE_PATH)
      const announce = (_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) => {
        const { link, ...others } = headers
        reply.headers(others)
        // The answer may have other links.
        if (link.length > 0) reply.header('link', [reply.getHeader('link') ?? [], ...link].flat().join(', '))
        done(null, payload)
      }
      route.onSend = [...[route.onSend ?? []].flat(), announce]
    })
  },
  { name: 'deprecation' },
)

type Done = (error: Error | null, payload: unknown) => void

/** @throws {TypeError} for invalid dates, or a removal before the deprecation */
function createHeaders({ since, sunset, page, successor }: Deprecated, basePath: string) {
  const begin = parseDay(since)
  const end = sunset === undefined ? undefined : parseDay(sunset)
  if (end !== undefined && end < begin) throw new TypeError(`the sunset ${sunset} is before ${since}`)
  return {
    deprecation: `@${begin.getTime() / 1000}`,
    ...(end && { sunset: end.toUTCString() }),
    link: [
      ...(page === undefined ? [] : [`<${page}>; rel="deprecation"; type="text/html"`]),
      ...(successor === undefined ? [] : [`<${basePath}${successor}>; rel="successor-version"`]),
    ],
  }
}

function parseDay(text: string): Date {
  const day = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(`${text}T`))
    throw new TypeError(`${text} is not a date such as 2027-01-31`)
  return day
}
