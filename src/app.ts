import { defineAnswerOptions } from '#schemas/point-request.ts'
import type { Products } from '#schemas/products/define.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import { createPasswords } from './accounts/credentials.ts'
import { auth, createAccounts, user } from './accounts/index.ts'
import { addKeyUsage } from './accounts/key-queries.ts'
import { keys } from './accounts/keys.ts'
import type { LoginSteps } from './accounts/steps.ts'
import type { Additions } from './advice/additions.ts'
import { advisory, warmUp } from './advice/index.ts'
import { location } from './advice/location/routes.ts'
import { createProvenance } from './advice/point/provenance-queries.ts'
import { Advisors } from './advice/polygon/advisors.ts'
import { createRuleReader } from './advice/quantities/rules.ts'
import { createRegionStatistics } from './advice/region-statistics.ts'
import { addAdviceSchemas } from './advice/schemas.ts'
import { admin } from './catalog/areas.ts'
import { listCountryNames } from './catalog/reference-queries.ts'
import { catalog } from './catalog/routes.ts'
import { service } from './catalog/service.ts'
import { type Config, listExtensionsThatAreOn } from './config.ts'
import type { Database } from './data/database.ts'
import { readReference } from './data/reference.ts'
import { createTileStores } from './data/tiles/stores.ts'
import { listErrorCodes } from './errors.ts'
import { addDeletions, type Core, type Extension } from './extensions/extension.ts'
import { EXTENSIONS } from './extensions/index.ts'
import { feedback, history, startHistoryRecorder } from './history/index.ts'
import { stats } from './history/stats.ts'
import { addRequestCounts } from './history/stats-queries.ts'
import type { App } from './http/app.ts'
import { exchanges } from './http/exchange.ts'
import { jobs } from './http/jobs.ts'
import { audit } from './http/plugins/audit.ts'
import { authentication } from './http/plugins/authentication.ts'
import { bodyLimits, bodyParser, longBodies } from './http/plugins/body-parser.ts'
import { caching } from './http/plugins/caching.ts'
import { compression, encodedBodies } from './http/plugins/compression.ts'
import { connections, draining } from './http/plugins/connections.ts'
import { errorHandler } from './http/plugins/error-handler.ts'
import { idempotency } from './http/plugins/idempotency.ts'
import { accessLog, failureLog, statementLog } from './http/plugins/logs.ts'
import { metrics } from './http/plugins/metrics.ts'
import { deprecation, openapi } from './http/plugins/openapi.ts'
import { limitedRate, overload } from './http/plugins/overload.ts'
import { keyUsage, requestCounts } from './http/plugins/request-counts.ts'
import { basePath, hostHeader, requestId, securityHeaders } from './http/plugins/request-head.ts'
import { tracing } from './http/plugins/tracing.ts'
import { robots, trailingSlashes, unknownPaths } from './http/plugins/unknown-paths.ts'
import { warmUpRequests } from './http/plugins/warm-up-requests.ts'
import { webPages } from './http/plugins/web-pages.ts'
import { createServer } from './http/server.ts'
import { createDemoReadiness } from './ingest/demo/seed.ts'
import { publishOnSchedule } from './ingest/publish.ts'
import { cacheLastValue } from './lib/cache.ts'
import { createEventLoopQueue } from './lib/limiter.ts'
import { createLookup, type Lookup } from './lookup/lookup.ts'
import { createMaps } from './maps/maps.ts'
import { map } from './maps/routes.ts'

/** About as long as a busy moment of points, which wait for one of them. */
const SLICE_MS = 1

/**
 * Makes the HTTP service on a database. It does not listen yet; closing it leaves the database open.
 *
 * @param products what it gives advice on: endpoints and documents are made from them
 * @param worker number of the process among several, in each line of the log
 * @param prepared when the database may be asked, where it is still being opened
 */
export async function buildApp(
  config: Config,
  database: Database,
  products: Products = PRODUCTS,
  worker?: number,
  prepared: Promise<void> = Promise.resolve(),
): Promise<App> {
  const app = createServer(config, worker)
  app.decorate('config', config)
  app.decorate('database', database)
  app.decorate('prepared', prepared)
  app.decorate('products', products)
  app.decorate('slices', createEventLoopQueue(SLICE_MS))

  await app.register(exchanges)
  await app.register(metrics)
  await app.register(requestId)
  await app.register(basePath)
  await app.register(warmUpRequests)
  await app.register(failureLog)
  await app.register(jobs)
  await app.register(errorHandler)
  await app.register(tracing)
  await app.register(accessLog)
  await app.register(statementLog)
  await app.register(connections)
  await app.register(draining)
  await app.register(requestCounts, { add: (counts) => addRequestCounts(database.writer, counts) })
  await app.register(keyUsage, { add: (usage) => addKeyUsage(database.writer, usage) })
  // Before the first route, which is that of preflights.
  await app.register(bodyLimits)
  const on = listExtensionsThatAreOn(config)
  const extensions = EXTENSIONS.filter(({ name }) => on.includes(name))
  for (const extension of extensions) await extension.decorate?.(app)
  app.decorate('tiles', await createTileStores(database))
  await app.register(securityHeaders, { extensions })
  await app.register(hostHeader)
  await app.register(trailingSlashes)
  // Accounts that have a step on are not open without it where its extension is off.
  const steps = await collect(EXTENSIONS.map(({ loginStep }) => loginStep?.(app) ?? []))
  await app.register(authentication, {
    accounts: createAccounts(database.writer, steps, app.logFailure),
  })
  await app.register(audit)
  await app.register(idempotency)
  await app.register(caching)
  await app.register(compression)
  await app.register(encodedBodies)
  await app.register(longBodies)
  await app.register(deprecation)
  await app.register(bodyParser)
  await app.register(unknownPaths)
  await app.register(robots)
  app.decorate('placeSources', await collect(extensions.map(({ places }) => places?.() ?? [])))
  await registerPages(app, extensions)
  const lookup = createLookup(app)
  await app.register(
    async (guarded) => {
      await guarded.register(limitedRate)
      await guarded.register(overload)
      guarded.decorate('additions', await collectAdditions(guarded, lookup, extensions))
      const releaseLinks = extensions.flatMap((extension) => extension.releaseLinks ?? [])
      const core = { ...createCore(guarded, lookup, steps), releaseLinks }
      await guarded.register(advisory, core)
      await guarded.register(location, core)
      await guarded.register(admin)
      const releaseMembers = await collect(extensions.map((one) => one.releaseMembers?.(guarded) ?? []))
      await guarded.register(catalog, { releaseLinks, releaseMembers, extensions: on })
      await guarded.register(map, core)
      await guarded.register(history, { prefix: '/history' })
      await guarded.register(feedback, { prefix: '/history' })
      await guarded.register(stats)
      await guarded.register(user, { prefix: '/user' })
      await guarded.register(auth, { prefix: '/auth', passwords: core.passwords })
      await guarded.register(keys, { prefix: '/auth' })
      for (const extension of extensions) await registerExtension(guarded, extension, core)
    },
    { prefix: config.BASE_PATH },
  )
  const links = Object.assign({}, ...extensions.map((one) => one.links))
  const readiness = [createDemoReadiness(config), ...extensions.flatMap((one) => one.readiness ?? [])]
  await app.register(service, { prefix: config.BASE_PATH, links, extensions: on, readiness })
  publishOnSchedule(app)
  addDeletions(app, EXTENSIONS)
  return app.decorate('warmUp', () => warmUp(app, lookup))
}

/** What extensions load; they may have none, or several. */
async function collect<Row>(rows: readonly (Row[] | Promise<Row | Row[]>)[]): Promise<Row[]> {
  return (await Promise.all(rows)).flat() as Row[]
}

/** Registers the document and the pages. Without a database they have the last values, or defaults. */
async function registerPages(app: App, extensions: readonly Extension[]): Promise<void> {
  const { reader } = app.database
  const countries = cacheLastValue('countries of documents', {
    load: () => listCountryNames(reader),
    initial: async () => (await readReference()).countries,
    ttlMs: app.config.RELEASE_MAX_AGE_MS,
    warn: (error) => app.logFailure(error, 'countries were not read: the document may have old ones'),
  })
  await app.register(openapi, {
    countries,
    codes: listErrorCodes(
      EXTENSIONS.filter((one) => extensions.includes(one) || one.loginStep).map(({ errors = {} }) => errors),
    ),
    rules: extensions.flatMap(({ rule = [] }) => rule),
    tags: extensions.flatMap(({ tag = [] }) => tag),
  })
  await app.register(webPages, { extensions })
  for (const { documentation } of extensions) await documentation?.show(app, extensions)
}

/** What the core and its extensions add to answers, in the order of their members. */
async function collectAdditions(app: App, lookup: Lookup, extensions: readonly Extension[]) {
  const added = await Promise.all(extensions.map((extension) => extension.additions?.(app)))
  const members = added.flatMap((one) => one?.members ?? [])
  return defineAnswerOptions<Additions>({
    members: [createProvenance(lookup), ...members],
    formats: added.flatMap((one) => one?.formats ?? []),
    former: added.flatMap((one) => one?.former ?? []),
  })
}

function createCore(guarded: App, lookup: Lookup, steps: LoginSteps): Omit<Core, 'releaseLinks'> {
  const advisors = new Advisors(guarded, lookup)
  return {
    schemas: addAdviceSchemas(guarded),
    lookup,
    advisors,
    record: startHistoryRecorder(guarded),
    readRules: createRuleReader(guarded, lookup),
    passwords: createPasswords(guarded, steps),
    figures: createRegionStatistics(guarded, advisors),
    maps: createMaps(guarded, lookup),
  }
}

/** Registers the operations of an extension, which one part of the document has. */
async function registerExtension(guarded: App, { part, routes }: Extension, core: Core): Promise<void> {
  await guarded.register(async (scope) => {
    scope.addHook('onRoute', (route) => {
      if (part) route.config = { ...route.config, part }
    })
    await routes?.(scope, core)
  })
}
