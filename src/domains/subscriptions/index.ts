import { subscriptionSchemasOf } from '#schemas/subscriptions.ts'
import type { App } from '#src/http/app.ts'
import { loadSecrets } from '#src/http/jwt-secret.ts'
import type { PlaceReader } from './queries.ts'
import { subscriptionRoutes } from './routes.ts'
import { createSecretSeal } from './secrets.ts'
import { workOnSubscriptions } from './work.ts'

/** Who is told, at an address of theirs, when what is answered at a place changes. */
export async function subscriptions(app: App, { reader }: { reader: PlaceReader }): Promise<void> {
  const schemas = subscriptionSchemasOf(app.products.list)
  for (const schema of schemas.components) app.addSchema(schema)
  const { WEBHOOK_PORTS, WEBHOOK_ALLOW_PRIVATE } = app.config
  const rules = { ports: WEBHOOK_PORTS.split(',').map(Number), allowPrivate: WEBHOOK_ALLOW_PRIVATE }
  const seal = createSecretSeal(await loadSecrets(app.config))
  const begin = await workOnSubscriptions(app, reader, rules)
  subscriptionRoutes(app, { reader, rules, seal, begin, schemas })
}
