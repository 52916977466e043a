import type { FastifyBaseLogger } from 'fastify'
import { authSchemas } from '#schemas/auth.ts'
import { sessionSchemas } from '#schemas/sessions.ts'
import { twoFactorSchemas } from '#schemas/two-factor.ts'
import { createAccountSeal, renewWhenReady } from '#src/http/account-seal.ts'
import type { App } from '#src/http/app.ts'
import { loadSecrets } from '#src/http/jwt-secret.ts'
import { observeQueue } from '#src/http/metrics/observe.ts'
import { logOf } from '#src/http/module-log.ts'
import type { Mailer } from '#src/lib/mailer.ts'
import { createAccountMail } from './account-mail.ts'
import { startCleanUp } from './clean-up.ts'
import { createCredentialDesk } from './credentials.ts'
import { createHashing } from './hashing.ts'
import type { HashingLines } from './hashing-lines.ts'
import { mailRoutes } from './mail-routes.ts'
import { createRegistrationDesk } from './registration.ts'
import { authRoutes } from './routes.ts'
import { createSecondFactor } from './second-factor.ts'
import { sessionRoutes } from './session-routes.ts'
import { createThrottle } from './throttle.ts'
import { createTokenDesk } from './token-desk.ts'
import { createTurns } from './turns.ts'
import { sealedSecretsIn } from './two-factor-queries.ts'
import { twoFactorRoutes } from './two-factor-routes.ts'

/** Accounts: registration, login and the tokens that come of it. */
export async function auth(app: App, { hashingLines }: { hashingLines?: HashingLines }): Promise<void> {
  for (const schema of [...authSchemas, ...sessionSchemas, ...twoFactorSchemas]) app.addSchema(schema)
  const { config, database } = app
  const db = database.writer
  const log = logOf(app, 'auth')
  const throttle = createThrottle(db)
  const hashing = createHashing(hashingLines)
  observeQueue(app.metrics, 'passwords', hashing.state)
  const inTurn = createTurns(throttle, hashing)
  const mail = createAccountMail(db, throttle, config, await mailerOf(app, log))
  const confirms = config.EMAIL_CONFIRMATION === 'required'
  const desk = createCredentialDesk(db, throttle, inTurn, confirms)
  const secrets = await loadSecrets(config)
  const seal = createAccountSeal(secrets, 'two-factor secret')
  const secondFactor = createSecondFactor(db, throttle, seal, log)
  authRoutes(app, throttle, desk, secondFactor, createRegistrationDesk(db, throttle, inTurn, mail, confirms))
  sessionRoutes(app, desk, secondFactor)
  twoFactorRoutes(app, desk, secondFactor, seal)
  mailRoutes(app, mail, createTokenDesk(db, throttle, inTurn))
  if (secrets.length > 1) {
    renewWhenReady(app, seal, sealedSecretsIn(db), 'secrets of second factors', log)
  }
  const stopCleanUp = startCleanUp(db, app.logFailure)
  app.addHook('onClose', async () => stopCleanUp())
}

/** What sends mail until the service closes; undefined where it is not to send any. */
async function mailerOf(app: App, log: FastifyBaseLogger): Promise<Mailer | undefined> {
  const { SMTP_URL, MAIL_FROM } = app.config
  if (SMTP_URL === undefined || MAIL_FROM === undefined) return undefined
  // It takes a tenth of a second and 15 MB to load, and most services send nothing.
  const { createMailer } = await import('#src/lib/mailer.ts')
  const mailer = createMailer({ url: SMTP_URL, from: MAIL_FROM, log })
  app.addHook('onClose', () => mailer.close())
  const { metrics } = app
  metrics.observe('agro_mails_waiting', () => mailer.state().waiting)
  metrics.observe('agro_mails_sent_total', () => mailer.state().sent)
  metrics.observe('agro_mails_failed_total', () => mailer.state().failed)
  return mailer
}
