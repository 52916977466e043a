import { generateKeyPairSync } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { sql } from 'kysely'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import type { App } from '#src/http/app.ts'
import { withOtherService } from '#test/accounts/other-service.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { askFertilizer } from '#test/setup/releases.ts'

// Runs on a server alone: what is not a statement is the same on both databases.

const PLACE = { lat: 9.5, lng: 38.5 }

describe('a process that starts', () => {
  const service = openService()
  const empty = openService({ template: 'empty' })

  test('answers itself from memory, without a trace in counts and limits, also of connections', async () => {
    await withOtherService(service, { RATE_LIMIT: '1/h', MAX_CONNECTIONS: '5' }, async (app) => {
      await warmUp(app)
      expect(metricOf(app, 'agro_http_connections_ended_total', 'too_many')).toBe(0)
      expect(metricOf(app, 'http_request_duration_seconds')).toBe(0)
      expect((await askFertilizer(app, PLACE)).status).toBe(200)
      expect(metricOf(app, 'http_request_duration_seconds')).toBeGreaterThan(0)
    })
  })

  test('has asked itself for what pages ask for', async () => {
    const app = await buildApp(service.app.config, service.database)
    onTestFinished(() => app.close())
    const answers = new Map<string | undefined, number>()
    app.addHook('onResponse', async ({ routeOptions: { url } }, { statusCode }) => {
      answers.set(url, statusCode)
    })
    await warmUp(app)
    const pages = [
      '/catalog',
      '/releases/:release/layers',
      '/releases/:release/layers/:layer/tiles/:z/:x/:y',
      '/advisory/point',
      '/places',
      '/ogc/collections/:collection/items',
      '/web/:version/*',
    ]
    expect(pages.map((url) => [url, answers.get(url)])).toEqual(pages.map((url) => [url, 200]))
  })

  test('asks nothing of a database that is still being opened; then it seals secrets anew, publishes its key and adds up histories', async () => {
    const { database, testDatabase } = service
    const asked = vi.spyOn(database.pool, 'connect')
    onTestFinished(() => asked.mockRestore())
    let open = () => {}
    const prepared = new Promise<void>((resolve) => {
      open = resolve
    })
    const { privateKey } = generateKeyPairSync('ed25519')
    const config = loadConfig({
      ...testDatabase.environment,
      ...{ JWT_SECRET: 'a'.repeat(32), JWT_SECRET_PREVIOUS: 'b'.repeat(32), HISTORY_TOTAL_MB: '1' },
      SIGNING_KEY: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    })
    const app = await buildApp(config, database, PRODUCTS, undefined, prepared)
    onTestFinished(() => app.close())
    await app.ready()
    await setImmediate()
    expect(asked).not.toHaveBeenCalled()
    open()
    await expect.poll(() => asked.mock.calls.length, PATIENCE).toBeGreaterThanOrEqual(4)
  })

  test('starts as ever without a release, and where releases cannot be read', async () => {
    await empty.app.warmUp()
    expect((await askFertilizer(empty.app, PLACE)).status).toBe(404)
    await sql`alter table publication rename to lost`.execute(empty.database.writer)
    await withOtherService(empty, {}, (app) => app.warmUp())
  })
})

type Metric = NonNullable<Parameters<ReturnType<App['metrics']['readers']>['get']>[0]>

/** What the samples of a metric add up to, or those with a label. */
function metricOf(app: App, name: Metric, label = ''): number {
  const samples = (app.metrics.readers().get(name) ?? []).flatMap((read) => read())
  const own = samples.filter(({ labels = {} }) => label === '' || Object.values(labels).includes(label))
  return own.reduce((sum, { value }) => sum + value, 0)
}

/** Until answers come from memory: a busy machine may reach the deadline before the first tile. */
async function warmUp(app: App): Promise<void> {
  await vi.waitFor(async () => {
    await app.warmUp()
    expect(metricOf(app, 'agro_tile_cache_hits_total')).toBeGreaterThan(0)
  }, PATIENCE)
}
