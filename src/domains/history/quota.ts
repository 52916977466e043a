import type { Config } from '#src/config.ts'
import type { HistoryQuota } from './recording-queries.ts'

const MEGABYTE = 1_000_000

/** How much is kept of one account. */
export function quotaOf({ HISTORY_USER_MB, HISTORY_USER_ITEMS, HISTORY_FULL }: Config): HistoryQuota {
  return { bytes: HISTORY_USER_MB * MEGABYTE, items: HISTORY_USER_ITEMS, full: HISTORY_FULL }
}

/** Bytes that are kept of all accounts together; undefined without a limit. */
export function totalOf({ HISTORY_TOTAL_MB }: Config): number | undefined {
  return HISTORY_TOTAL_MB === undefined ? undefined : HISTORY_TOTAL_MB * MEGABYTE
}
