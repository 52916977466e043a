import { admin } from '#src/domains/areas/index.ts'
import type { App } from '#src/http/app.ts'
import { levelsOf } from '#src/http/module-log.ts'
import { accessLog } from '#src/http/plugins/access-log.ts'
import { audit } from '#src/http/plugins/audit.ts'
import { authentication } from '#src/http/plugins/authentication.ts'
import { basePath } from '#src/http/plugins/base-path.ts'
import { bodyLimits } from '#src/http/plugins/body-limits.ts'
import { bodyParser } from '#src/http/plugins/body-parser.ts'
import { caching } from '#src/http/plugins/caching.ts'
import { compression } from '#src/http/plugins/compression.ts'
import { connections } from '#src/http/plugins/connections.ts'
import { deprecation } from '#src/http/plugins/deprecation.ts'
import { docsPage } from '#src/http/plugins/docs-page.ts'
import { draining } from '#src/http/plugins/draining.ts'
import { encodedBodies } from '#src/http/plugins/encoded-bodies.ts'
import { errorHandler } from '#src/http/plugins/error-handler.ts'
import { failureLog } from '#src/http/plugins/failure-log.ts'
import { hostHeader } from '#src/http/plugins/host-header.ts'
import { idempotency } from '#src/http/plugins/idempotency.ts'
import { keyUsage } from '#src/http/plugins/key-usage.ts'
import { longBodies } from '#src/http/plugins/long-bodies.ts'
import { metrics } from '#src/http/plugins/metrics.ts'
import { openapi } from '#src/http/plugins/openapi.ts'
import { overload } from '#src/http/plugins/overload.ts'
import { patience } from '#src/http/plugins/patience.ts'
import { limitedRate } from '#src/http/plugins/rate-limit.ts'
import { rehearsal } from '#src/http/plugins/rehearsal.ts'
import { requestCounts } from '#src/http/plugins/request-counts.ts'
import { requestId } from '#src/http/plugins/request-id.ts'
import { robots } from '#src/http/plugins/robots.ts'
import { securityHeaders } from '#src/http/plugins/security-headers.ts'
import { statementLog } from '#src/http/plugins/statement-log.ts'
import { tracing } from '#src/http/plugins/tracing.ts'
import { unknownPaths } from '#src/http/plugins/unknown-paths.ts'
import { webPages } from '#src/http/plugins/web-pages.ts'
import { createServer } from '#src/http/server.ts'
import { EVERYBODY } from '#src/lib/fair-line.ts'
import { createTurns } from '#src/lib/turns.ts'
import type { Config } from './config.ts'
import type { Database } from './database/client.ts'
import { createAdviceDesk } from './domains/advisory/advice-desk.ts'
import { coverage } from './domains/advisory/atlas/index.ts'
import { advisory } from './domains/advisory/index.ts'
import { location } from './domains/advisory/location/index.ts'
import { createLookup, type Lookup } from './domains/advisory/lookup/lookup.ts'
import { map } from './domains/advisory/map/index.ts'
import { mcp } from './domains/advisory/mcp/index.ts'
import { ogc } from './domains/advisory/ogc/index.ts'
import { createAdvisors } from './domains/advisory/polygon/advisors.ts'
import { changes } from './domains/advisory/polygon/changes/index.ts'
import { createPlaceReader } from './domains/advisory/polygon/place-reader.ts'
import { createRegionFigures } from './domains/advisory/polygon/region-figures.ts'
import { createRuleReader } from './domains/advisory/quantities/rules.ts'
import { createStillTaken, type StillTaken } from './domains/advisory/quantities/still-taken.ts'
import { warmUp } from './domains/advisory/warm-up.ts'
import { createAuditRecords } from './domains/audit/records.ts'
import { createAccounts } from './domains/auth/callers.ts'
import type { HashingLines } from './domains/auth/hashing-lines.ts'
import { auth } from './domains/auth/index.ts'
import { webhookTestSubjects } from './domains/auth/subjects.ts'
import { createThrottle } from './domains/auth/throttle.ts'
import { catalog } from './domains/catalog/index.ts'
import { feed } from './domains/feed/index.ts'
import { feedback } from './domains/feedback/index.ts'
import { citations, history, historyRecorderOf } from './domains/history/index.ts'
import { createIdempotencyRecords } from './domains/idempotency/records.ts'
import { keys } from './domains/keys/index.ts'
import { createUsageKeeper } from './domains/keys/usage.ts'
import { createDocumentCountries } from './domains/reference/document-countries.ts'
import { publishInTime } from './domains/releases/publish-in-time.ts'
import { createSyntheticNotice } from './domains/releases/synthetic.ts'
import { scorecard } from './domains/scorecard/index.ts'
import { service } from './domains/service/index.ts'
import { stac } from './domains/stac/index.ts'
import { stats } from './domains/stats/index.ts'
import { addRequestCounts } from './domains/stats/queries.ts'
import { subscriptions } from './domains/subscriptions/index.ts'
import { user } from './domains/user/index.ts'
import { publishDue } from './ingest/publish.ts'
import type { Products } from './products/define.ts'
import { PRODUCTS } from './products/index.ts'
import { serveFiles } from './storage/serving.ts'
import { createTileStores } from './tiles/stores.ts'

/** How long a slice of long work may be: about as long as a busy moment of points. */
const SLICE_MS = 2

/** A process that answers beside others, of which the service consists. */
export interface Membership {
  /** Told with each line of the log. */
  worker: number
  /** Where all of them have passwords hashed. */
  hashingLines: HashingLines
}

/**
 * Makes the HTTP service on a database. It does not listen yet; closing it leaves the database open.
 *
 * @param products what it gives advice on: endpoints and documents are made from them
 * @param membership undefined where this process is all of the service
 */
export async function buildApp(
  config: Config,
  database: Database,
  products: Products = PRODUCTS,
  membership?: Membership,
): Promise<App> {
  const app = createServer(config, membership?.worker)
  app.decorate('config', config)
  app.decorate('database', database)
  decorateTiles(app)
  app.decorate('products', products)
  app.decorate('turns', createTurns(SLICE_MS))

  await app.register(metrics)
  await app.register(requestId)
  await app.register(basePath)
  await app.register(rehearsal)
  await app.register(failureLog)
  await app.register(errorHandler)
  await app.register(tracing)
  await app.register(accessLog)
  await app.register(statementLog)
  await app.register(patience)
  await app.register(connections)
  await app.register(draining)
  await app.register(requestCounts, { add: (counts) => addRequestCounts(database.writer, counts) })
  await app.register(keyUsage, { add: createUsageKeeper(database.writer) })
  // Before the first route, which is that of preflights.
  await app.register(bodyLimits)
  await app.register(securityHeaders)
  await app.register(hostHeader)
  await app.register(authentication, {
    accounts: createAccounts(database.writer, config.ADMIN_2FA, app.logFailure),
  })
  await app.register(audit, { records: createAuditRecords(database.writer, config.AUDIT_MONTHS) })
  await app.register(idempotency, {
    records: createIdempotencyRecords(database.writer, config.STATEMENT_TIMEOUT_MS, app.logFailure),
  })
  await app.register(caching)
  await app.register(compression)
  await app.register(encodedBodies)
  await app.register(longBodies)
  await app.register(deprecation)
  await app.register(bodyParser)
  await app.register(unknownPaths)
  await app.register(robots)
  await registerPages(app)
  const lookup = createLookup(app, () => app.turns.next(EVERYBODY))
  const logged = levelsOf(config)
  await app.register(
    async (guarded) => {
      await guarded.register(limitedRate)
      await guarded.register(overload)
      // Operations stand in the document in this order.
      const isTaken = await registerAdvice(guarded, lookup, logged('advisory'))
      await guarded.register(location, { ...logged('location'), lookup })
      await guarded.register(admin, logged('areas'))
      await guarded.register(catalog, logged('catalog'))
      await guarded.register(changes, logged('advisory'))
      await guarded.register(feed, logged('catalog'))
      await guarded.register(scorecard, logged('feedback'))
      await guarded.register(map, { ...logged('advisory'), lookup })
      await guarded.register(stac, logged('catalog'))
      await guarded.register(history, { prefix: '/history', ...logged('history') })
      await guarded.register(citations, { ...logged('history'), isTaken })
      await guarded.register(feedback, { prefix: '/history', ...logged('feedback') })
      await guarded.register(stats, logged('stats'))
      await guarded.register(user, { prefix: '/user', ...logged('user') })
      const { hashingLines } = membership ?? {}
      await guarded.register(auth, { prefix: '/auth', ...logged('auth'), hashingLines })
      await guarded.register(keys, { prefix: '/auth', ...logged('keys') })
    },
    { prefix: config.BASE_PATH },
  )
  await app.register(service, { prefix: config.BASE_PATH, ...logged('service') })
  publishInTime(app, publishDue)
  return app.decorate('warmUp', () => warmUp(app, lookup))
}

/** What is read by people and by generators of clients: the document, its page, and those in a browser. */
async function registerPages(app: App): Promise<void> {
  const known = [app.database.reader, app.config.RELEASE_MAX_AGE_MS, app.logFailure] as const
  await app.register(openapi, { countries: createDocumentCountries(...known) })
  await app.register(webPages)
  await app.register(docsPage, { synthetic: createSyntheticNotice(...known) })
}

/**
 * Registers what gives advice, to programs of our own kind, to those that speak standards, and when it changes.
 *
 * @returns tells of what was answered once whether it may be asked again
 */
async function registerAdvice(guarded: App, lookup: Lookup, logged: object): Promise<StillTaken> {
  const record = historyRecorderOf(guarded)
  const advisors = createAdvisors(guarded, lookup)
  const readRules = createRuleReader(guarded, lookup)
  await guarded.register(advisory, { prefix: '/advisory', ...logged, lookup, advisors, record, readRules })
  const figures = createRegionFigures(guarded, advisors)
  await guarded.register(coverage, { ...logged, lookup, figures })
  await guarded.register(ogc, { prefix: '/ogc', ...logged, lookup, figures })
  const desk = createAdviceDesk(guarded, lookup, advisors, readRules)
  await guarded.register(mcp, { prefix: '/mcp', ...logged, lookup, desk })
  const throttle = createThrottle(guarded.database.writer)
  await guarded.register(subscriptions, {
    ...logged,
    reader: createPlaceReader(guarded, lookup, advisors),
    admitTest: (userId, host) => throttle.admit(webhookTestSubjects(userId, host)),
  })
  return createStillTaken(readRules, guarded.products)
}

/** Where the pixels of releases are read from. */
function decorateTiles(app: App): void {
  const { config, database } = app
  const files = database.files ? serveFiles(config, database.files, app.log) : null
  app.decorate('files', files)
  app.decorate('tiles', createTileStores(database, files?.ranges))
}
