import { collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { METRICS, type MetricDefinition, type Metrics, type ReadSamples } from './metrics.ts'

/** Numbers that go up and down, with names of counters: what checks a scrape complains of them. */
const MISNAMED = ['handles', 'requests', 'resources'].map((what) => `nodejs_active_${what}_total`)

/**
 * Makes the registry of a process, which reads all metrics anew when it is asked for them. Those of several
 * processes can be merged (`AggregatorRegistry`): each definition says how.
 */
export function createRegistry(metrics: Metrics): Registry {
  const registry = new Registry()
  for (const [name, readers] of metrics.readers()) {
    registry.registerMetric(new ReadMetric(name, METRICS[name], readers))
  }
  collectDefaultMetrics({ register: registry })
  for (const name of MISNAMED) registry.removeSingleMetric(name)
  return registry
}

/** A metric of any type whose numbers are kept elsewhere. */
class ReadMetric extends Gauge {
  readonly #definition
  readonly #readers

  constructor(name: string, definition: MetricDefinition, readers: readonly ReadSamples[]) {
    super({ name, help: definition.help, registers: [] })
    this.#definition = { name, aggregator: 'sum' as const, ...definition }
    this.#readers = readers
  }

  override async get() {
    const values = this.#readers.flatMap((read) => read())
    // The types of prom-client take what it calls the types, which are words, for numbers.
    return { ...this.#definition, values } as unknown as Awaited<ReturnType<Gauge['get']>>
  }
}
