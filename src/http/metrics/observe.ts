import type { BatcherState } from '#src/lib/batcher.ts'
import type { QueueState } from '#src/lib/fair-queue.ts'
import type { Metrics } from './metrics.ts'

/** Shows how full a queue is. */
export function observeQueue(metrics: Metrics, queue: string, state: () => QueueState): void {
  metrics.observe('agro_queue_running', () => state().running, { queue })
  metrics.observe('agro_queue_waiting', () => state().waiting, { queue })
  metrics.observe('agro_queue_refused_total', () => state().refused, { queue })
}

/** Shows what waits in a batcher, and how large its runs are. */
export function observeBatcher(metrics: Metrics, batcher: string, state: () => BatcherState): void {
  metrics.observe('agro_batcher_running', () => state().running, { batcher })
  metrics.observe('agro_batcher_waiting', () => state().waiting, { batcher })
  metrics.observe('agro_batcher_waiting_bytes', () => state().waitingBytes, { batcher })
  metrics.observe('agro_batcher_runs_total', () => state().runs, { batcher })
  metrics.observe('agro_batcher_items_total', () => state().items, { batcher })
  metrics.observe('agro_batcher_wait_seconds_total', () => state().waitedMs / 1000, { batcher })
  metrics.observe('agro_batcher_refused_total', () => state().refused, { batcher })
}
