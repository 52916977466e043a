import { subscriptionSchemasOf, WebhookTest } from '#schemas/subscriptions.ts'
import { loadSecrets } from '#src/http/access-tokens.ts'
import { createAccountSeal, renewWhenReady } from '#src/http/account-seal.ts'
import type { App } from '#src/http/app.ts'
import { type AdmitTest, type PlaceReader, sealedSecretsIn, secretSealBy } from './queries.ts'
import { subscriptionRoutes } from './routes.ts'
import { workOnSubscriptions } from './work.ts'

/** Who is told, at an address of theirs, when what is answered at a place changes. */
export async function subscriptions(
  app: App,
  { reader, admitTest }: { reader: PlaceReader; admitTest: AdmitTest },
): Promise<void> {
  const schemas = subscriptionSchemasOf(app.products.list)
  for (const schema of [...schemas.components, WebhookTest]) app.addSchema(schema)
  const { WEBHOOK_PORTS, WEBHOOK_ALLOW_PRIVATE } = app.config
  const rules = { ports: WEBHOOK_PORTS.split(',').map(Number), allowPrivate: WEBHOOK_ALLOW_PRIVATE }
  const secrets = await loadSecrets(app.config)
  const accountSeal = createAccountSeal(secrets, 'webhook secret')
  if (secrets.length > 1) {
    const stored = sealedSecretsIn(app.database.writer)
    renewWhenReady(app, accountSeal, stored, 'secrets of subscriptions', app.log)
  }
  const seal = secretSealBy(accountSeal)
  workOnSubscriptions(app, { reader, rules, seal })
  subscriptionRoutes(app, { reader, rules, seal, admitTest, schemas })
}
