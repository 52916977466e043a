import Fastify, { LogController } from 'fastify'
import type { Config } from './config.ts'
import type { Database } from './database/client.ts'
import { admin } from './domains/admin/index.ts'
import { advisory } from './domains/advisory/index.ts'
import { createAccounts } from './domains/auth/callers.ts'
import { auth } from './domains/auth/index.ts'
import { catalog } from './domains/catalog/index.ts'
import { feedback } from './domains/feedback/index.ts'
import { history } from './domains/history/index.ts'
import { createHistoryKeeper } from './domains/history/keeper.ts'
import { keys } from './domains/keys/index.ts'
import { location } from './domains/location/index.ts'
import { service } from './domains/service/index.ts'
import { stats } from './domains/stats/index.ts'
import { addRequestCounts } from './domains/stats/queries.ts'
import { user } from './domains/user/index.ts'
import type { App } from './plugins/app.ts'
import { authentication } from './plugins/authentication.ts'
import { bodyParser } from './plugins/body-parser.ts'
import { clientErrorHandler, errorHandler, frameworkErrors } from './plugins/error-handler.ts'
import { openapi } from './plugins/openapi.ts'
import { overload } from './plugins/overload.ts'
import { requestCounts } from './plugins/request-counts.ts'
import { securityHeaders } from './plugins/security-headers.ts'
import { AJV_OPTIONS } from './plugins/validation.ts'

/** How long a client may take to send a request. */
const REQUEST_TIMEOUT_MS = 30_000

/** Makes the HTTP service on a database. It does not listen yet; closing it leaves the database open. */
export async function buildApp(config: Config, database: Database): Promise<App> {
  const app = Fastify({
    logger: { level: config.LOG_LEVEL },
    logController: new LogController({
      disableRequestLogging: !['debug', 'trace'].includes(config.LOG_LEVEL),
    }),
    // Only these may say on whose behalf they ask: anybody can write X-Forwarded-For.
    trustProxy: config.TRUSTED_PROXIES.length > 0 && config.TRUSTED_PROXIES,
    bodyLimit: config.BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    ajv: { customOptions: AJV_OPTIONS },
    // Answers are told apart by the same rules where they can be of several kinds.
    serializerOpts: { ajv: { formats: AJV_OPTIONS.formats } },
    clientErrorHandler,
    frameworkErrors,
    // What is under way while the service closes is answered; readiness says that it is closing.
    return503OnClosing: false,
    // Node would answer a request without Host by itself, without a body.
    http: { requireHostHeader: false },
  }) as unknown as App

  app.decorate('config', config)
  app.decorate('database', database)
  app.decorate('draining', false)

  await app.register(errorHandler)
  await app.register(requestCounts, { add: (counts) => addRequestCounts(database.writer, counts) })
  await app.register(securityHeaders)
  await app.register(authentication, { accounts: createAccounts(database.writer, app.log) })
  await app.register(bodyParser)
  await app.register(openapi)
  await app.register(service, { prefix: config.BASE_PATH })
  await app.register(
    async (guarded) => {
      await guarded.register(overload)
      await guarded.register(auth, { prefix: '/auth' })
      await guarded.register(keys, { prefix: '/auth' })
      await guarded.register(user, { prefix: '/user' })
      await guarded.register(catalog)
      await guarded.register(advisory, { prefix: '/advisory', keep: createHistoryKeeper(database.writer) })
      await guarded.register(feedback, { prefix: '/history' })
      await guarded.register(history, { prefix: '/history' })
      await guarded.register(stats)
      await guarded.register(admin)
      await guarded.register(location)
    },
    { prefix: config.BASE_PATH },
  )
  return app
}
