import fp from 'fastify-plugin'
import type { App } from './app.ts'

/**
 * Guards the routes that are registered beside it: those that the interface keeps for signed-in users.
 *
 * There are no accounts yet, so the hook lets everybody in. It is the one place where that ends.
 */
export const authentication = fp(
  async (app: App) => {
    app.addHook('onRequest', async () => {})
  },
  { name: 'authentication', dependencies: ['error-handler'] },
)
