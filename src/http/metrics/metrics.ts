import type { Aggregator } from 'prom-client'
import type { BatcherState } from '#src/lib/batcher.ts'
import type { QueueState } from '#src/lib/limiter.ts'

export interface MetricDefinition {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  /** Merges numbers of processes. */
  aggregator: Aggregator
}

const define =
  (type: MetricDefinition['type']) =>
  (help: string, aggregator: Aggregator = 'sum'): MetricDefinition => ({ type, help, aggregator })

export const counter = define('counter')
export const gauge = define('gauge')
const histogram = define('histogram')

const CORE_METRICS = {
  http_request_duration_seconds: histogram('Duration of answers by method, route and status.'),
  http_requests_in_flight: gauge('Connections with an open request.'),
  http_received_bytes_total: counter('Bytes received, headers included.'),
  http_sent_bytes_total: counter('Bytes sent, headers included.'),
  agro_http_errors_total: counter('Errors by code.'),
  agro_http_connections: gauge('Open connections by state.'),
  agro_http_connections_limit: gauge('Limit of open connections.'),
  agro_http_connections_ended_total: counter(
    'Connections ended by the service, by reason: too_many, slow_sending, slow_reading, not_http.',
  ),
  agro_http_requests_broken_off_total: counter(
    'Requests whose connection ended before the answer did; not counted as answers.',
  ),
  agro_database_pool_connections: gauge('Database connections by pool and state: idle, busy.'),
  agro_database_pool_limit: gauge('Limit of connections by pool.'),
  agro_database_pool_waiting: gauge('Statements waiting for a connection, by pool.'),
  agro_database_reads_total: counter('Reads that a replica may answer, by server: replica, primary.'),
  agro_queue_running: gauge('Running tasks by queue.'),
  agro_queue_waiting: gauge('Waiting tasks by queue.'),
  agro_queue_refused_total: counter('Tasks refused by a full queue, by queue.'),
  agro_batcher_running: gauge('Running statements by batcher.'),
  agro_batcher_waiting: gauge('Items waiting for a statement, by batcher.'),
  agro_batcher_waiting_bytes: gauge('Bytes of these items, by batcher.'),
  agro_batcher_runs_total: counter('Statements by batcher.'),
  agro_batcher_items_total: counter('Items in these statements, by batcher.'),
  agro_batcher_wait_seconds_total: counter('Total waiting time of these items, by batcher.'),
  agro_batcher_refused_total: counter('Items refused by a full batcher, by batcher.'),
  agro_batch_points_total: counter('Points of calls with many points, by product.'),
  agro_batch_polygons_total: counter('Polygons and areas of calls with many, by product.'),
  agro_tile_cache_tiles: gauge('Tiles in the cache.'),
  agro_tile_cache_bytes: gauge('Memory of these tiles.'),
  agro_tile_cache_limit_bytes: gauge('Limit of this memory: TILE_CACHE_MB.'),
  agro_tile_cache_hits_total: counter('Tiles found in the cache.'),
  agro_tile_cache_misses_total: counter('Tiles missing in the cache.'),
  agro_tile_cache_evictions_total: counter('Tiles evicted from the cache.'),
  agro_area_cells: gauge('Cells whose areas are in memory.'),
  agro_area_cell_bytes: gauge('Approximate memory of these cells: 32 MB at most.'),
  agro_snapshot_age_seconds: gauge('Age of the publications, which requests alone refresh.', 'max'),
  agro_releases_published: gauge('Published releases by product and country.', 'max'),
  agro_release_newest_timestamp_seconds: gauge(
    'Load time of the newest published release, by product and country.',
    'max',
  ),
  agro_caller_cache_entries: gauge('Callers in the token cache.'),
  agro_caller_cache_hits_total: counter('Tokens found in this cache.'),
  agro_caller_cache_misses_total: counter('Tokens looked up in the database.'),
  agro_cache_entries: gauge('Entries by cache.'),
  agro_cache_hits_total: counter('Entries found, by cache.'),
  agro_cache_misses_total: counter('Values loaded or made because they were missing, by cache.'),
  agro_mails_waiting: gauge('Mails waiting, retries included (only with SMTP_URL).'),
  agro_mails_sent_total: counter('Mails taken by the mail server (only with SMTP_URL).'),
  agro_mails_failed_total: counter('Failed attempts at a mail (only with SMTP_URL).'),
  agro_history_items_total: counter(
    'Advisories of callers with a token, by outcome: kept, full (beyond a quota), lost (by an error).',
  ),
  agro_history_bytes: gauge(
    'Size of all histories at the last stored item (only with HISTORY_TOTAL_MB).',
    'max',
  ),
  agro_history_limit_bytes: gauge('Limit of this size: HISTORY_TOTAL_MB.', 'max'),
  agro_schema_version: gauge('Number of the latest migration of this version.', 'max'),
  agro_event_loop_active_seconds_total: counter(
    'Busy time of the event loops; its rate is 1 at most for each worker.',
  ),
  agro_workers: gauge('Processes that answer.'),
  agro_workers_hanging: gauge('Workers without an answer to the primary for five seconds.'),
  agro_workers_killed_total: counter('Workers killed after thirty seconds without an answer.'),
  agro_workers_replaced_total: counter('Workers that ended by themselves and were replaced.'),
  agro_draining: gauge('1 once the process begins to stop.', 'max'),
  agro_build_info: gauge('1, by version, Node version and kind of database.', 'max'),
} satisfies Record<string, MetricDefinition>

type CoreMetrics = typeof CORE_METRICS
/** An extension declares its own: `interface MetricDefinitions extends ...`. */
export interface MetricDefinitions extends CoreMetrics {}

type MetricName = keyof MetricDefinitions

/** Metrics beside those of `prom-client` for each process. The list of extensions adds theirs. */
export const METRICS = CORE_METRICS as Record<MetricName, MetricDefinition>

export type Labels = Record<string, string>

export interface Sample {
  labels: Labels
  value: number
  /** Of a bucket, a sum or a count of a histogram. */
  metricName?: string
}

/** Reads plain variables, and cannot fail. */
export type ReadSamples = () => Sample[]

export type Metrics = ReturnType<typeof createMetrics>

/** Readers of metrics. Parts of the service count in plain variables, which are read at each scrape. */
export function createMetrics() {
  const readers = new Map<MetricName, ReadSamples[]>()

  function observeAll(name: MetricName, read: ReadSamples): void {
    readers.set(name, [...(readers.get(name) ?? []), read])
  }

  return {
    observe: (name: MetricName, read: () => number, labels: Labels = {}) =>
      observeAll(name, () => [{ labels, value: read() }]),
    observeAll,
    readers: (): ReadonlyMap<MetricName, readonly ReadSamples[]> => readers,
  }
}

export function observeQueue(metrics: Metrics, queue: string, state: () => QueueState): void {
  metrics.observe('agro_queue_running', () => state().running, { queue })
  metrics.observe('agro_queue_waiting', () => state().waiting, { queue })
  metrics.observe('agro_queue_refused_total', () => state().refused, { queue })
}

export function observeBatcher(metrics: Metrics, batcher: string, state: () => BatcherState): void {
  metrics.observe('agro_batcher_running', () => state().running, { batcher })
  metrics.observe('agro_batcher_waiting', () => state().waiting, { batcher })
  metrics.observe('agro_batcher_waiting_bytes', () => state().waitingBytes, { batcher })
  metrics.observe('agro_batcher_runs_total', () => state().runs, { batcher })
  metrics.observe('agro_batcher_items_total', () => state().items, { batcher })
  metrics.observe('agro_batcher_wait_seconds_total', () => state().waitedMs / 1000, { batcher })
  metrics.observe('agro_batcher_refused_total', () => state().refused, { batcher })
}
