import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
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

/** The sent id where it is valid, else a new one. */
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
