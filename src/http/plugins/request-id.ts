import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import fp from 'fastify-plugin'
import type { App } from '../app.ts'

/** What an id may be that a client or a proxy sends: short, and harmless in logs, URLs and JSON. */
const SANE = /^[A-Za-z0-9._:~+/=@-]{1,128}$/

/** Tells the ids of this process from those of others. A number behind it costs less than random bytes each time. */
const PROCESS = randomBytes(9).toString('base64url')

let made = 0

/** A new id, which no other process makes. */
export function newRequestId(): string {
  made++
  return `${PROCESS}-${made.toString(36)}`
}

/** The id of a request: the one it came with, where that is sane, else a new one. */
export function requestIdOf({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id']
  return typeof sent === 'string' && SANE.test(sent) ? sent : newRequestId()
}

/** Says in every answer which request it is for, as the lines of the log do (`reqId`). */
export const requestId = fp(
  async (app: App) => {
    app.addHook('onRequest', ({ id }, reply, done) => {
      reply.header('x-request-id', id)
      done()
    })
  },
  { name: 'request-id' },
)
