import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** That the route will be gone some day; see docs/versioning.md. */
    deprecated?: Deprecated
  }
}

/** Since when a route is deprecated, and what to do about it. Dates are such as 2027-01-31, at midnight UTC. */
export interface Deprecated {
  since: string
  /** When the route will be gone, where that has been decided. */
  sunset?: string
  /** The URL of a page for people that says why, and what to change. */
  page?: string
  /** The path that takes its place, as it is without BASE_PATH. */
  successor?: string
}

/**
 * Answers of deprecated routes say so, errors too: `Deprecation` (RFC 9745), `Sunset` (RFC 8594), and links to the
 * page and to the successor (RFC 8288). Other routes have no hook of it.
 */
export const deprecation = fp(
  async (app: App) => {
    app.addHook('onRoute', (route) => {
      const { deprecated } = route.config ?? {}
      if (!deprecated) return
      const headers = headersOf(deprecated, app.config.BASE_PATH)
      const announce = (_request: FastifyRequest, reply: FastifyReply, payload: unknown, done: Done) => {
        const { link, ...others } = headers
        reply.headers(others)
        // The answer may have links of its own.
        if (link.length > 0) reply.header('link', [reply.getHeader('link') ?? [], ...link].flat().join(', '))
        done(null, payload)
      }
      route.onSend = [...[route.onSend ?? []].flat(), announce]
    })
  },
  { name: 'deprecation' },
)

type Done = (error: Error | null, payload: unknown) => void

/** @throws {TypeError} where the dates are none, or the route would be gone before it is deprecated */
function headersOf({ since, sunset, page, successor }: Deprecated, basePath: string) {
  const begin = dayOf(since)
  const end = sunset === undefined ? undefined : dayOf(sunset)
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

function dayOf(text: string): Date {
  const day = new Date(`${text}T00:00:00Z`)
  if (Number.isNaN(day.getTime()) || !day.toISOString().startsWith(`${text}T`))
    throw new TypeError(`${text} is not a date such as 2027-01-31`)
  return day
}
