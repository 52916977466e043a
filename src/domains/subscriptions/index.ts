import { subscriptionSchemasOf } from '#schemas/subscriptions.ts'
import type { App } from '#src/http/app.ts'
import { loadSecrets } from '#src/http/jwt-secret.ts'
import type { PlaceReader } from './queries.ts'
import { subscriptionRoutes } from './routes.ts'
import { createSecretSeal, renewSecrets } from './secrets.ts'
import { workOnSubscriptions } from './work.ts'

/** Who is told, at an address of theirs, when what is answered at a place changes. */
export async function subscriptions(app: App, { reader }: { reader: PlaceReader }): Promise<void> {
  const schemas = subscriptionSchemasOf(app.products.list)
  for (const schema of schemas.components) app.addSchema(schema)
  const { WEBHOOK_PORTS, WEBHOOK_ALLOW_PRIVATE } = app.config
  const rules = { ports: WEBHOOK_PORTS.split(',').map(Number), allowPrivate: WEBHOOK_ALLOW_PRIVATE }
  const secrets = await loadSecrets(app.config)
  const seal = createSecretSeal(secrets)
  if (secrets.length > 1) {
    app.addHook('onReady', () => {
      // What is sealed with either signs: that it is renewed is for the day when the previous one goes.
      renewSecrets(app.database.writer, seal, app.log).catch((error) => {
        app.logFailure(error, 'secrets of subscriptions could not be sealed with the new JWT_SECRET')
      })
    })
  }
  const begin = await workOnSubscriptions(app, { reader, rules, seal })
  subscriptionRoutes(app, { reader, rules, seal, begin, schemas })
}
