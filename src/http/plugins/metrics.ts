import fp from 'fastify-plugin'
import type pg from 'pg'
import { schemaVersion } from '#src/data/schema-state.ts'
import { readCacheStatistics } from '#src/lib/cache.ts'
import { VERSION } from '#src/lib/version.ts'
import type { App } from '../app.ts'
import { createMetrics, type Metrics } from '../metrics/metrics.ts'

declare module 'fastify' {
  interface FastifyInstance {
    metrics: Metrics
  }
}

/** Decorates the app with metrics, and observes the process, its connections and caches. */
export const metrics = fp(
  async (app: App) => {
    const metrics = createMetrics()
    app.decorate('metrics', metrics)

    const { kind, pool, readPool, readPoolAtPrimary, replica } = app.database
    const build = { version: VERSION, node: process.version, database: kind }
    metrics.observe('agro_build_info', () => 1, build)
    metrics.observe(
      'agro_event_loop_active_seconds_total',
      () => performance.eventLoopUtilization().active / 1000,
    )
    metrics.observe('agro_workers', () => 1)
    // With workers the primary counts them.
    metrics.observe('agro_workers_hanging', () => 0)
    metrics.observe('agro_workers_killed_total', () => 0)
    metrics.observe('agro_workers_replaced_total', () => 0)
    metrics.observe('agro_draining', () => Number(app.draining))
    const version = await schemaVersion()
    metrics.observe('agro_schema_version', () => version)
    observePool(metrics, 'writer', pool)
    if (replica) observePool(metrics, 'reader', readPool)
    if (readPoolAtPrimary) observePool(metrics, 'reader_at_primary', readPoolAtPrimary)
    for (const server of ['replica', 'primary'] as const) {
      metrics.observe('agro_database_reads_total', () => replica?.counts[server] ?? 0, { server })
    }
    observeCaches(metrics)
  },
  { name: 'metrics' },
)

function observeCaches(metrics: Metrics): void {
  const read = (count: 'entries' | 'hits' | 'misses') => () =>
    readCacheStatistics().map(({ name, [count]: value }) => ({ labels: { cache: name }, value }))
  metrics.observeAll('agro_cache_entries', read('entries'))
  metrics.observeAll('agro_cache_hits_total', read('hits'))
  metrics.observeAll('agro_cache_misses_total', read('misses'))
}

function observePool(metrics: Metrics, name: string, pool: pg.Pool): void {
  metrics.observe('agro_database_pool_connections', () => pool.idleCount, { pool: name, state: 'idle' })
  metrics.observe('agro_database_pool_connections', () => pool.totalCount - pool.idleCount, {
    pool: name,
    state: 'busy',
  })
  metrics.observe('agro_database_pool_limit', () => pool.options.max, { pool: name })
  metrics.observe('agro_database_pool_waiting', () => pool.waitingCount, { pool: name })
}
