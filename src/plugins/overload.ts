import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import type { App } from './app.ts'

/**
 * Turns requests away while too many wait for a connection to the database: an answer that comes after
 * the client has given up is work for nobody, and the queue would only grow.
 */
export const overload = fp(
  async (app: App) => {
    app.addHook('onRequest', async () => refuseOverload(app))
  },
  { name: 'overload', dependencies: ['error-handler'] },
)

/** @throws {ApiError} OVERLOADED, while too many requests wait for the database */
export function refuseOverload({ config, database }: App): void {
  if (database.waiting() >= config.DATABASE_QUEUE_LIMIT) {
    throw new ApiError('OVERLOADED', 'The service is busy; try again in a second.')
  }
}
