import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { METRICS, type MetricDefinition, type Metrics, type ReadSamples } from './metrics.ts'

/** Gauges with names of counters, which linters of scrapes refuse. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

/** The registry of a process, which reads metrics at each scrape. `AggregatorRegistry` merges those of processes. */
export function createRegistry(metrics: Metrics): Registry {
  const registry = new Registry()
  for (const [name, readers] of metrics.readers()) {
    registry.registerMetric(new ReadMetric(name, METRICS[name], readers))
  }
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  return registry
}

class ReadMetric extends Gauge {
  readonly #definition
  readonly #readers

  constructor(name: string, definition: MetricDefinition, readers: readonly ReadSamples[]) {
    super({ name, help: definition.help, registers: [] })
    this.#definition = { name, ...definition }
    this.#readers = readers
  }

  override async get() {
    const values = this.#readers.flatMap((read) => read())
    // prom-client declares the words of `type` as numbers.
    return { ...this.#definition, values } as unknown as Awaited<ReturnType<Gauge['get']>>
  }
}
