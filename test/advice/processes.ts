import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import type { App } from '#src/http/app.ts'
import { createRegistry } from '#src/http/metrics/registry.ts'
import type { TestApp } from '#test/setup/app.ts'

/** Another process, as far as memory goes; closed after its use. */
export async function withNewApp<Result>(
  service: TestApp,
  work: (app: App) => Promise<Result>,
  settings: Record<string, string> = {},
): Promise<Result> {
  const config = loadConfig({ ...service.testDatabase.environment, ...settings })
  const app = await buildApp(config, service.database)
  try {
    return await work(app)
  } finally {
    await app.close()
  }
}

export async function metricOf(app: App, name: string, labels: Record<string, string> = {}): Promise<number> {
  const all = await createRegistry(app.metrics).getMetricsAsJSON()
  const samples = (all.find((metric) => metric.name === name)?.values ?? []) as {
    labels: Record<string, string>
    value: number
    metricName?: string
  }[]
  return samples
    .filter((sample) => Object.entries(labels).every(([label, value]) => sample.labels[label] === value))
    .reduce((sum, { value }) => sum + value, 0)
}
