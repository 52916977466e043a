import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import type { App } from '../app.ts'

/**
 * Turns requests away while too many wait for a connection to the database: an answer that comes after
 * the client has given up is work for nobody, and the queue would only grow.
 */
export const overload = fp(
  async (app: App) => {
    app.addHook('onRequest', (_request, _reply, done) => {
      done(isOverloaded(app) ? overloaded() : undefined)
    })
  },
  { name: 'overload', dependencies: ['error-handler'] },
)

/** @throws {ApiError} OVERLOADED, while too many requests wait for the database */
export function refuseOverload(app: App): void {
  if (isOverloaded(app)) throw overloaded()
}

/** What a request is turned away with. */
export function overloaded(): ApiError {
  return new ApiError('OVERLOADED', 'The service is busy; try again in a second.')
}

function isOverloaded({ config, database }: App): boolean {
  return database.waiting() >= config.DATABASE_QUEUE_LIMIT
}
