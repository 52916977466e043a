import type { Aggregator } from 'prom-client'

export interface MetricDefinition {
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  /** How what several processes say of it becomes one number; a sum where it is left out. */
  aggregator?: Aggregator
}

/** What the service tells of itself, beside what `prom-client` knows of every process. */
export const METRICS = {
  http_request_duration_seconds: {
    type: 'histogram',
    help: 'How long answers took, by method, route and status; paths and methods that there are not are one.',
  },
  http_requests_in_flight: {
    type: 'gauge',
    help: 'Connections on which a request is being received, worked on or answered.',
  },
  http_received_bytes_total: { type: 'counter', help: 'Bytes received over connections, headers included.' },
  http_sent_bytes_total: { type: 'counter', help: 'Bytes sent over connections, headers included.' },
  agro_http_errors_total: { type: 'counter', help: 'Answers that were errors, by their code.' },
  agro_http_connections: { type: 'gauge', help: 'Open connections by what is going on there.' },
  agro_http_connections_limit: { type: 'gauge', help: 'Connections that may be open: MAX_CONNECTIONS.' },
  agro_http_connections_ended_total: {
    type: 'counter',
    help: 'Connections that the service ended, by reason: too_many, slow_sending, slow_reading, not_http.',
  },
  agro_http_requests_broken_off_total: {
    type: 'counter',
    help: 'Requests whose connection ended before all of the answer was sent: they are in no count of answers.',
  },
  agro_database_pool_connections: {
    type: 'gauge',
    help: 'Connections to the database by pool and state: idle, busy.',
  },
  agro_database_pool_limit: { type: 'gauge', help: 'Connections that a pool may open.' },
  agro_database_pool_waiting: { type: 'gauge', help: 'Statements that wait for a connection of a pool.' },
  agro_database_reads_total: {
    type: 'counter',
    help: 'What was read that a replica may answer, by where: replica, primary.',
  },
  agro_queue_running: { type: 'gauge', help: 'What has its turn, by queue.' },
  agro_queue_waiting: { type: 'gauge', help: 'What waits for its turn, by queue.' },
  agro_queue_refused_total: { type: 'counter', help: 'What was refused because too many waited, by queue.' },
  agro_batcher_running: { type: 'gauge', help: 'Statements under way for many at once, by batcher.' },
  agro_batcher_waiting: { type: 'gauge', help: 'What waits to go into a statement, by batcher.' },
  agro_batcher_waiting_bytes: {
    type: 'gauge',
    help: 'Bytes of what waits to go into a statement, by batcher.',
  },
  agro_batcher_runs_total: { type: 'counter', help: 'Statements for many at once, by batcher.' },
  agro_batcher_items_total: { type: 'counter', help: 'What went into these statements, by batcher.' },
  agro_batcher_wait_seconds_total: { type: 'counter', help: 'How long all of these items had waited.' },
  agro_batcher_refused_total: {
    type: 'counter',
    help: 'What was refused because too much waited, by batcher.',
  },
  agro_batch_points_total: { type: 'counter', help: 'Points of calls with many points, by product.' },
  agro_batch_polygons_total: {
    type: 'counter',
    help: 'Polygons and areas of calls with many of them, by product.',
  },
  agro_tile_cache_tiles: { type: 'gauge', help: 'Tiles in memory.' },
  agro_tile_cache_bytes: { type: 'gauge', help: 'Memory that tiles have taken.' },
  agro_tile_cache_limit_bytes: { type: 'gauge', help: 'Memory that tiles may take: TILE_CACHE_MB.' },
  agro_tile_cache_hits_total: { type: 'counter', help: 'Tiles that were found in memory.' },
  agro_tile_cache_misses_total: { type: 'counter', help: 'Tiles that were not.' },
  agro_tile_cache_evictions_total: { type: 'counter', help: 'Tiles that made room for others.' },
  agro_tile_files_away: {
    type: 'gauge',
    help: '1 while the store of TILE_STORE does not answer, and is asked now and then only.',
    aggregator: 'max',
  },
  agro_tile_files_reads_total: {
    type: 'counter',
    help: 'Parts of files that tiles are cut from, by where they were found: memory, disk (TILE_DISK_CACHE_DIR), store (TILE_STORE).',
  },
  agro_tile_files_bytes_total: { type: 'counter', help: 'Bytes of these, by where: disk, store.' },
  agro_tile_files_errors_total: {
    type: 'counter',
    help: 'Reads of the store that failed, by reason: unavailable, missing, damaged, and refused where it was not even asked.',
  },
  agro_tile_disk_cache_failures_total: {
    type: 'counter',
    help: 'How often the disk of TILE_DISK_CACHE_DIR was full, slow or damaged: the store was read in its place.',
  },
  agro_tile_disk_cache_evictions_total: {
    type: 'counter',
    help: 'Files there that made room for others.',
  },
  agro_area_cells: { type: 'gauge', help: 'Cells in memory whose areas are known.' },
  agro_area_cell_bytes: { type: 'gauge', help: 'About how much memory these take: 32 MB at most.' },
  agro_outline_vertices: {
    type: 'gauge',
    help: 'Vertices of areas in memory, which tell the nearest country: 500,000 at most.',
  },
  agro_snapshot_age_seconds: {
    type: 'gauge',
    help: 'How old is what is known to be published. It is looked up again by requests alone.',
    aggregator: 'max',
  },
  agro_releases_published: {
    type: 'gauge',
    help: 'Releases that answer, by product and country.',
    aggregator: 'max',
  },
  agro_release_newest_timestamp_seconds: {
    type: 'gauge',
    help: 'When the newest release that answers was loaded, by product and country.',
    aggregator: 'max',
  },
  agro_caller_cache_entries: { type: 'gauge', help: 'Callers known by their tokens.' },
  agro_caller_cache_hits_total: { type: 'counter', help: 'Tokens whose callers were known.' },
  agro_caller_cache_misses_total: { type: 'counter', help: 'Tokens whose callers were asked for.' },
  agro_mails_waiting: { type: 'gauge', help: 'Mails to be sent, those to be tried again among them.' },
  agro_mails_sent_total: { type: 'counter', help: 'Mails that the mail server took.' },
  agro_mails_failed_total: { type: 'counter', help: 'Attempts at sending a mail that failed.' },
  agro_webhooks_running: { type: 'gauge', help: 'Changes that are being sent to subscribers.' },
  agro_webhooks_delivered_total: { type: 'counter', help: 'Changes that a subscriber took.' },
  agro_webhooks_failed_total: { type: 'counter', help: 'Attempts at sending one that failed.' },
  agro_schema_version: {
    type: 'gauge',
    help: 'The number of the latest migration that this version knows.',
    aggregator: 'max',
  },
  agro_event_loop_active_seconds_total: {
    type: 'counter',
    help: 'How long the event loops had something to do: its rate is how busy they are, 1 at most for each worker.',
  },
  agro_workers: { type: 'gauge', help: 'Processes that answer: WORKERS, but for those that have ended.' },
  agro_workers_hanging: {
    type: 'gauge',
    help: 'Of these, those that have not answered the primary for five seconds, and get no connections.',
  },
  agro_workers_killed_total: {
    type: 'counter',
    help: 'Workers that were killed, having not answered for thirty seconds.',
  },
  agro_workers_replaced_total: {
    type: 'counter',
    help: 'Workers that have ended by themselves and had their places taken.',
  },
  agro_draining: {
    type: 'gauge',
    help: '1 from the moment the process begins to stop.',
    aggregator: 'max',
  },
  agro_build_info: {
    type: 'gauge',
    help: '1, by version, version of Node and kind of database.',
    aggregator: 'max',
  },
} as const satisfies Record<string, MetricDefinition>

export type MetricName = keyof typeof METRICS
