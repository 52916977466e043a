import type { Aggregator } from 'prom-client'
import type { BatcherState } from '#src/lib/batcher.ts'
import type { QueueState } from '#src/lib/fair-queue.ts'

export interface MetricDefinition {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  /** Merges numbers of processes; a sum by default. */
  aggregator?: Aggregator
}

/** Metrics beside those of `prom-client` for each process. */
export const METRICS = {
  http_request_duration_seconds: {
    type: 'histogram',
    help: 'Duration of answers by method, route and status.',
  },
  http_requests_in_flight: {
    type: 'gauge',
    help: 'Connections with an open request.',
  },
  http_received_bytes_total: { type: 'counter', help: 'Bytes received, headers included.' },
  http_sent_bytes_total: { type: 'counter', help: 'Bytes sent, headers included.' },
  agro_http_errors_total: { type: 'counter', help: 'Errors by code.' },
  agro_http_connections: { type: 'gauge', help: 'Open connections by state.' },
  agro_http_connections_limit: { type: 'gauge', help: 'Limit of open connections: MAX_CONNECTIONS.' },
  agro_http_connections_ended_total: {
    type: 'counter',
    help: 'Connections ended by the service, by reason: too_many, slow_sending, slow_reading, not_http.',
  },
  agro_http_requests_broken_off_total: {
    type: 'counter',
    help: 'Requests whose connection ended before the answer did; not counted as answers.',
  },
  agro_database_pool_connections: {
    type: 'gauge',
    help: 'Database connections by pool and state: idle, busy.',
  },
  agro_database_pool_limit: { type: 'gauge', help: 'Limit of connections by pool.' },
  agro_database_pool_waiting: { type: 'gauge', help: 'Statements waiting for a connection, by pool.' },
  agro_database_reads_total: {
    type: 'counter',
    help: 'Reads that a replica may answer, by server: replica, primary.',
  },
  agro_queue_running: { type: 'gauge', help: 'Running tasks by queue.' },
  agro_queue_waiting: { type: 'gauge', help: 'Waiting tasks by queue.' },
  agro_queue_refused_total: { type: 'counter', help: 'Tasks refused by a full queue, by queue.' },
  agro_batcher_running: { type: 'gauge', help: 'Running statements by batcher.' },
  agro_batcher_waiting: { type: 'gauge', help: 'Items waiting for a statement, by batcher.' },
  agro_batcher_waiting_bytes: {
    type: 'gauge',
    help: 'Bytes of these items, by batcher.',
  },
  agro_batcher_runs_total: { type: 'counter', help: 'Statements by batcher.' },
  agro_batcher_items_total: { type: 'counter', help: 'Items in these statements, by batcher.' },
  agro_batcher_wait_seconds_total: {
    type: 'counter',
    help: 'Total waiting time of these items, by batcher.',
  },
  agro_batcher_refused_total: {
    type: 'counter',
    help: 'Items refused by a full batcher, by batcher.',
  },
  agro_batch_points_total: { type: 'counter', help: 'Points of calls with many points, by product.' },
  agro_batch_polygons_total: {
    type: 'counter',
    help: 'Polygons and areas of calls with many, by product.',
  },
  agro_tile_cache_tiles: { type: 'gauge', help: 'Tiles in the cache.' },
  agro_tile_cache_bytes: { type: 'gauge', help: 'Memory of these tiles.' },
  agro_tile_cache_limit_bytes: { type: 'gauge', help: 'Limit of this memory: TILE_CACHE_MB.' },
  agro_tile_cache_hits_total: { type: 'counter', help: 'Tiles found in the cache.' },
  agro_tile_cache_misses_total: { type: 'counter', help: 'Tiles missing in the cache.' },
  agro_tile_cache_evictions_total: { type: 'counter', help: 'Tiles evicted from the cache.' },
  agro_tile_files_away: {
    type: 'gauge',
    help: '1 while TILE_STORE does not answer.',
    aggregator: 'max',
  },
  agro_tile_files_reads_total: {
    type: 'counter',
    help: 'Reads of tile files by source: memory, disk (TILE_DISK_CACHE_DIR), store (TILE_STORE).',
  },
  agro_tile_files_bytes_total: { type: 'counter', help: 'Bytes of these reads by source: disk, store.' },
  agro_tile_files_errors_total: {
    type: 'counter',
    help: 'Failed reads of the store by reason: unavailable, missing, damaged, refused (not tried).',
  },
  agro_tile_disk_cache_failures_total: {
    type: 'counter',
    help: 'Failures of TILE_DISK_CACHE_DIR (full, slow or damaged): the store was read instead.',
  },
  agro_tile_disk_cache_evictions_total: {
    type: 'counter',
    help: 'Files evicted from TILE_DISK_CACHE_DIR.',
  },
  agro_area_cells: { type: 'gauge', help: 'Cells with known areas in memory.' },
  agro_area_cell_bytes: { type: 'gauge', help: 'Approximate memory of these cells: 32 MB at most.' },
  agro_outline_vertices: {
    type: 'gauge',
    help: 'Vertices of outlines in memory: 500,000 at most.',
  },
  agro_snapshot_age_seconds: {
    type: 'gauge',
    help: 'Age of the known publications, which requests alone refresh.',
    aggregator: 'max',
  },
  agro_releases_published: {
    type: 'gauge',
    help: 'Published releases by product and country.',
    aggregator: 'max',
  },
  agro_release_newest_timestamp_seconds: {
    type: 'gauge',
    help: 'Load time of the newest published release, by product and country.',
    aggregator: 'max',
  },
  agro_caller_cache_entries: { type: 'gauge', help: 'Callers in the token cache.' },
  agro_caller_cache_hits_total: { type: 'counter', help: 'Tokens found in this cache.' },
  agro_caller_cache_misses_total: { type: 'counter', help: 'Tokens looked up in the database.' },
  agro_cache_entries: { type: 'gauge', help: 'Entries by cache.' },
  agro_cache_hits_total: { type: 'counter', help: 'Entries found, by cache.' },
  agro_cache_misses_total: {
    type: 'counter',
    help: 'Values loaded or made because they were missing, by cache.',
  },
  agro_mails_waiting: {
    type: 'gauge',
    help: 'Mails waiting, retries included (only with SMTP_URL).',
  },
  agro_mails_sent_total: { type: 'counter', help: 'Mails taken by the mail server (only with SMTP_URL).' },
  agro_mails_failed_total: {
    type: 'counter',
    help: 'Failed attempts at a mail (only with SMTP_URL).',
  },
  agro_webhooks_running: { type: 'gauge', help: 'Deliveries under way.' },
  agro_webhooks_delivered_total: { type: 'counter', help: 'Changes delivered to a subscriber.' },
  agro_webhooks_failed_total: { type: 'counter', help: 'Failed attempts at a delivery.' },
  agro_history_bytes: {
    type: 'gauge',
    help: 'Size of all histories at the last stored item (only with HISTORY_TOTAL_MB).',
    aggregator: 'max',
  },
  agro_history_limit_bytes: {
    type: 'gauge',
    help: 'Limit of this size: HISTORY_TOTAL_MB.',
    aggregator: 'max',
  },
  agro_schema_version: {
    type: 'gauge',
    help: 'Number of the latest migration of this version.',
    aggregator: 'max',
  },
  agro_event_loop_active_seconds_total: {
    type: 'counter',
    help: 'Busy time of the event loops; its rate is 1 at most for each worker.',
  },
  agro_workers: { type: 'gauge', help: 'Processes that answer.' },
  agro_workers_hanging: {
    type: 'gauge',
    help: 'Workers without an answer to the primary for five seconds.',
  },
  agro_workers_killed_total: {
    type: 'counter',
    help: 'Workers killed after thirty seconds without an answer.',
  },
  agro_workers_replaced_total: {
    type: 'counter',
    help: 'Workers that ended by themselves and were replaced.',
  },
  agro_draining: {
    type: 'gauge',
    help: '1 once the process begins to stop.',
    aggregator: 'max',
  },
  agro_build_info: {
    type: 'gauge',
    help: '1, by version, Node version and kind of database.',
    aggregator: 'max',
  },
} as const satisfies Record<string, MetricDefinition>

type MetricName = keyof typeof METRICS

export type Labels = Record<string, string>

/** One number of a metric. */
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
    /** For numbers with labels that change. */
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
