import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import type { App } from '../app.ts'

/**
 * Refuses requests that do not name one host (RFC 9112, section 3.2): a proxy before us may have gone by another of
 * two, or by none. HTTP/1.0 knows no Host. Node would answer without a body, and takes the first of several.
 *
 * Nobody says by another header which host it is: Fastify would believe trusted proxies, of which hardly any strips what
 * a client has written there, and answers that caches keep have links to it.
 */
export const hostHeader = fp(
  async (app: App) => {
    app.addHook('onRequest', ({ raw }, reply, done) => {
      delete raw.headers['x-forwarded-host']
      const hosts = hostsOf(raw)
      if (hosts === 1 || (hosts === 0 && raw.httpVersion === '1.0')) {
        done()
        return
      }
      // What else comes over the connection may be part of what somebody else was to read.
      reply.header('connection', 'close')
      done(
        new ApiError(
          'MALFORMED_REQUEST',
          `The request must have one Host header, and has ${hosts || 'none'}.`,
        ),
      )
    })
  },
  { name: 'host-header', dependencies: ['error-handler'] },
)

/** How many Host headers a request has: `headers` has the first alone. */
function hostsOf({ rawHeaders }: IncomingMessage): number {
  let hosts = 0
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string
    if (name === 'Host' || (name.length === 4 && name.toLowerCase() === 'host')) hosts++
  }
  return hosts
}
