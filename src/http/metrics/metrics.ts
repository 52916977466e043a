import type { MetricName } from './definitions.ts'

export type Labels = Record<string, string>

/** One number of a metric. */
export interface Sample {
  labels: Labels
  value: number
  /** Where it is not the metric's own: that of a bucket, a sum or a count of a histogram. */
  metricName?: string
}

/** Reads the numbers of a metric, of plain variables: it asks nobody, and cannot fail. */
export type ReadSamples = () => Sample[]

/**
 * What the parts of the service can be asked for at any time. They count for themselves, in plain numbers, and are
 * read when somebody wants to know: where nobody does, all of this costs nothing.
 */
export interface Metrics {
  /** Has a number read that belongs to a metric. */
  observe(name: MetricName, read: () => number, labels?: Labels): void
  /** The same for as many numbers as there are when they are read. */
  observeAll(name: MetricName, read: ReadSamples): void
  /** What is to be read, metric by metric; those that no part has are left out. */
  readers(): ReadonlyMap<MetricName, readonly ReadSamples[]>
}

export function createMetrics(): Metrics {
  const readers = new Map<MetricName, ReadSamples[]>()

  function observeAll(name: MetricName, read: ReadSamples): void {
    readers.set(name, [...(readers.get(name) ?? []), read])
  }

  return {
    observe: (name, read, labels = {}) => observeAll(name, () => [{ labels, value: read() }]),
    observeAll,
    readers: () => readers,
  }
}
