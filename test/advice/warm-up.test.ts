import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import type { App } from '#src/http/app.ts'
import { createRegistry } from '#src/http/metrics/registry.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { askFertilizer } from '#test/setup/releases.ts'

/** Another process, as far as memory goes; closed after its use. */
async function withNewApp<Result>(
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

async function metricOf(app: App, name: string, labels: Record<string, string> = {}): Promise<number> {
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

// Runs on a server alone: what is not a statement is the same on both databases.

const PLACE = { lat: 9.5, lng: 38.5 }

/** Until answers come from memory: a busy machine may reach the deadline before the first tile. */
async function warmUp(app: App): Promise<void> {
  await vi.waitFor(async () => {
    await app.warmUp()
    expect(await metricOf(app, 'agro_tile_cache_hits_total')).toBeGreaterThan(0)
  }, PATIENCE)
}

let service: TestApp
beforeAll(async () => {
  service = await createTestApp({ template: 'demo' })
})
afterAll(() => service.close())

describe('a process that starts', () => {
  test('answers itself from memory, without a trace in counts and limits', async () => {
    await withNewApp(
      service,
      async (app) => {
        await warmUp(app)
        expect(await metricOf(app, 'http_request_duration_seconds')).toBe(0)
        expect((await askFertilizer(app, PLACE)).status).toBe(200)
      },
      { RATE_LIMIT: '1/h' },
    )
  })

  test('answers itself over as many connections as there may be', async () => {
    await withNewApp(
      service,
      async (app) => {
        await warmUp(app)
        expect(await metricOf(app, 'agro_http_connections_ended_total', { reason: 'too_many' })).toBe(0)
      },
      { MAX_CONNECTIONS: '5' },
    )
  })

  test('starts as ever without a release, and where releases cannot be read', async () => {
    const empty = await createTestApp({ template: 'empty' })
    await empty.app.warmUp()
    expect((await askFertilizer(empty.app, PLACE)).status).toBe(404)
    await sql`alter table publication rename to lost`.execute(empty.database.writer)
    await withNewApp(empty, (app) => app.warmUp())
    await empty.close()
  })
})
