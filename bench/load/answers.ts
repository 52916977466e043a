import { Histogram } from './histogram.ts'

/** What came of some requests. */
export interface Answered {
  /** Latencies in milliseconds. */
  p50: number
  p99: number
  /** How often each status came; 0 is no answer. */
  statuses: Record<number, number>
}

/** Counts answers by status, and keeps their latencies. */
export class Answers {
  readonly statuses: Answered['statuses'] = {}
  readonly latencies = new Histogram()

  /** @param ms left out where the latency is not measured */
  count(status: number, ms?: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
    if (ms !== undefined) this.latencies.record(ms * 1000)
  }

  /** How many had one of some statuses. */
  countOf(isOne: (status: number) => boolean): number {
    return Object.entries(this.statuses).reduce(
      (sum, [status, count]) => sum + (isOne(Number(status)) ? count : 0),
      0,
    )
  }

  summary(): Answered {
    const { statuses, latencies } = this
    return { p50: latencies.quantile(0.5), p99: latencies.quantile(0.99), statuses }
  }
}
