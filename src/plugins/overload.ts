import fp from 'fastify-plugin'
import { ApiError } from '#src/errors.ts'
import type { App } from './app.ts'

/**
 * Turns requests away while too many wait for a connection to the database: an answer that comes after
 * the client has given up is work for nobody, and the queue would only grow.
 */
export const overload = fp(
  async (app: App) => {
    const limit = app.config.DATABASE_QUEUE_LIMIT
    app.addHook('onRequest', async () => {
      if (app.database.waiting() >= limit) {
        throw new ApiError('OVERLOADED', 'The service is busy; try again in a second.')
      }
    })
  },
  { name: 'overload', dependencies: ['error-handler'] },
)
