import type { Aggregator, MetricObject } from 'prom-client'
import { createMetrics } from '#src/http/metrics/metrics.ts'
import type { Crew } from './crew.ts'
import type { Member } from './member.ts'

/** A worker that says nothing for so long is left out of a scrape. */
const PATIENCE_MS = 2000

/** What goes up alone: a worker that has ended has still done it. */
const LASTING = ['counter', 'histogram']

/** Of the first, which is this process, and of the worst. */
const AGGREGATORS: Record<string, Aggregator> = {
  process_start_time_seconds: 'first',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_seconds: 'max',
}

/** The metrics of all workers, and of this process, as one. */
export interface Scraping {
  /** Takes what a worker has answered, unless it has ended. */
  answered(member: Member, metrics: MetricObject[]): void
  /** Keeps what a worker that has ended said the last time. */
  left(member: Member): void
  read(): Promise<string>
}

/** @param crew the workers, as soon as all of them have answered */
export async function createScraping(
  crew: () => Pick<Crew, 'ready' | 'hanging' | 'killed' | 'replaced'> | undefined,
): Promise<Scraping> {
  const { AggregatorRegistry } = await import('prom-client')
  const { createRegistry } = await import('#src/http/metrics/registry.ts')
  const metrics = createMetrics()
  metrics.observe('agro_workers_hanging', () => crew()?.hanging() ?? 0)
  metrics.observe('agro_workers_killed_total', () => crew()?.killed() ?? 0)
  metrics.observe('agro_workers_replaced_total', () => crew()?.replaced() ?? 0)
  const own = createRegistry(metrics)
  const latest = new Map<Member, MetricObject[]>()
  const asked = new Map<Member, () => void>()
  const ended = new WeakSet<Member>()
  let ofEnded: Promise<MetricObject[]> = Promise.resolve([])

  function answerOf(member: Member): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PATIENCE_MS)
      asked.set(member, () => {
        clearTimeout(timer)
        resolve()
      })
      member.tell({ kind: 'scrape' })
    })
  }

  return {
    answered(member, metrics) {
      if (ended.has(member)) return
      latest.set(member, metrics)
      asked.get(member)?.()
    },
    left(member) {
      ended.add(member)
      const last = latest.get(member)?.filter(({ type }) => LASTING.includes(String(type)))
      latest.delete(member)
      asked.get(member)?.()
      asked.delete(member)
      if (!last) return
      // After that of those that ended before, which may be under way.
      ofEnded = ofEnded.then((others) => AggregatorRegistry.aggregate([others, last]).getMetricsAsJSON())
    },
    async read() {
      await Promise.all((crew()?.ready() ?? []).map(answerOf))
      const all = [await own.getMetricsAsJSON(), await ofEnded, ...latest.values()]
      return AggregatorRegistry.aggregate(all.map((metrics) => metrics.map(asOfService))).metrics()
    },
  }
}

/** What `prom-client` means for processes that have nothing to do with each other. */
function asOfService(metric: MetricObject): MetricObject {
  return { ...metric, aggregator: AGGREGATORS[metric.name] ?? metric.aggregator }
}
