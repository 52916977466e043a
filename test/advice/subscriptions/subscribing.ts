import { sql } from 'kysely'
import { expect, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import type { TestAppWithPerson } from '#test/setup/people.ts'
import { onePixelRelease, PIXEL_CENTRE } from '#test/setup/releases.ts'
import type { Receiver } from './receiver.ts'

/** What tests do with a service that they have started, and with who is told of changes. */
export function subscribingTo(told: () => { service: TestAppWithPerson; receiver: Receiver }) {
  const publish = (rates: Record<string, number>) =>
    loadRelease(told().service.database, onePixelRelease(rates), { publish: true })

  const ask = (
    method: 'POST' | 'GET' | 'DELETE',
    url: string,
    payload?: object,
    headers = told().service.person.headers,
  ) => told().service.app.inject({ method, url, headers, ...(payload && { payload }) })

  /** Subscribes to what the pixel of the test has. */
  async function subscribe(wanted: object = {}) {
    const response = await ask('POST', '/subscriptions', {
      product: 'fertilizer',
      ...PIXEL_CENTRE,
      threshold: { kind: 'relative', value: 10 },
      url: told().receiver.url,
      ...wanted,
    })
    expect([response.statusCode, response.body]).toEqual([201, expect.any(String)])
    return response.json()
  }

  const get = async (id: string) => (await ask('GET', `/subscriptions/${id}`)).json()

  /** What was due for later is due now: nobody waits for hours. */
  const hasten = () => sql`update webhook_delivery set due_at = now()`.execute(told().service.database.writer)

  /** As long as a process of the service runs that is asked by clients, too: what others run is in the database. */
  async function whileServing(work: () => Promise<void>, settings: object = {}): Promise<void> {
    const app = await buildApp(
      { ...told().service.testDatabase.config, ...settings },
      told().service.database,
    )
    await app.listen({ host: '127.0.0.1', port: 0 })
    await work().finally(() => app.close())
  }

  const received = (count: number) =>
    vi.waitFor(() => expect(told().receiver.received).toHaveLength(count), PATIENCE)

  /** That something has come to somebody, and that this was noted. */
  const arrived = (id: string) =>
    vi.waitFor(async () => expect((await get(id)).delivered_at).not.toBeNull(), PATIENCE)

  const failed = (id: string) =>
    vi.waitFor(async () => expect((await get(id)).failing_since).not.toBeNull(), PATIENCE)

  return { publish, ask, subscribe, get, hasten, whileServing, received, arrived, failed }
}
