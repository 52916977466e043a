import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { expect, test, vi } from 'vitest'
import { claimChanged } from '#src/extensions/subscriptions/delivery-queries.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { keepFields } from '#test/setup/fields.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'
import { gridOf, layerOf, operatorOf, releaseOn } from '#test/setup/releases.ts'
import { rectangle } from '#test/setup/square.ts'
import { openReceiver, serveDuring } from './receiver.ts'

const service = openService({
  template: 'empty',
  settings: { RELEASE_MAX_AGE_MS: '0', WEBHOOK_ALLOW_PRIVATE: 'true' },
})
const receiver = openReceiver(service)

const WANTED = { product: 'fertilizer', threshold: { kind: 'relative', value: 10 } }

test('one event names the fields of a collection that changed, and its list has their values', async () => {
  const { code: before } = await publish([100, 100], [50, 50])
  await keep('north', [featureAt('a', 38.2), featureAt('b', 38.6), featureAt('c', 39.4), featureAt('d', 45)])
  const { secret, ...made } = await subscribe({ fields: 'north', name: 'Mine' })
  expect(made).toMatchObject({
    release: before,
    values: [],
    place: { type: 'fields', collection: 'north' },
  })
  const { code: after } = await publish([120, 105], [50, 50])
  await serveUntil(async () => expect(events()).toHaveLength(1))

  const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]]
  const event = new Webhook(secret).verify(body, headers as Record<string, string>) as { data: object }
  expect(event).toMatchObject({ type: 'org.agro-advisory.fields.changed' })
  const { list, fields, ...data } = event.data as { list: string; fields: string[] }
  expect(data).toMatchObject({
    ...{ name: 'Mine', release: after, release_before: before, changed: 2, failed: 0 },
    place: { type: 'fields', collection: 'north' },
  })
  expect(fields.sort()).toEqual(['a', 'b'])
  const { body: changes } = await ask(`GET ${list}`)
  expect(changes.items.map(({ id, changes }: { id: string; changes: object[] }) => [id, changes])).toEqual(
    expect.arrayContaining(
      ['a', 'b'].map((id) => [id, [expect.objectContaining({ input: 'Urea', before: 100, after: 120 })]]),
    ),
  )
})

test('only the watched input counts, and nothing is sent where no field changed by more than the threshold', async () => {
  await publish([100, 100], [50, 50])
  await keep('north', [featureAt('a', 38.2), featureAt('c', 39.4)])
  const dap = await subscribe({ fields: 'north', input: 'DAP' })
  const both = await subscribe({ fields: 'north' })
  const { code } = await publish([100, 150], [50, 54])
  await serveUntil(async () => {
    expect([await release(dap.id), await release(both.id)]).toEqual([code, code])
    expect(events().map(({ data }) => [data.subscription, data.fields])).toEqual([[both.id, ['c']]])
  })
  const narrow = await subscribe({ fields: 'north', input: 'DAP' })
  await publish([200, 300], [50, 99])
  await serveUntil(async () => expect(events()).toHaveLength(4))
  const { fields, list } = events().find(({ data }) => data.subscription === narrow.id).data
  const { items } = (await ask(`GET ${list}`)).body
  expect([fields, items.map(({ id }: { id: string }) => id)]).toEqual([['c'], ['c']])
})

test('the list of a message ends at 60 kB, and its number is that of all changed fields', async () => {
  await publish([100, 100], [50, 50])
  const ids = Array.from({ length: 500 }, (_, index) => `${String(index).padStart(3, '0')}${'ä'.repeat(197)}`)
  await keep(
    'long',
    ids.map((id, index) => featureAt(id, 38.1 + index * 0.0015)),
  )
  await subscribe({ fields: 'long' })
  await publish([200, 100], [50, 50])
  await serveUntil(async () => expect(events()).toHaveLength(1))
  const { changed, fields } = events()[0].data
  // Two bytes each but for digits, quotes and the comma.
  expect([changed, fields.length]).toEqual([500, Math.floor(60_000 / (3 + 2 * 197 + 3))])
  expect(ids).toEqual(expect.arrayContaining(fields))
})

test('an account with many subscriptions does not go before one with a single one', async () => {
  await publish([100, 100], [50, 50])
  await keep('north', [featureAt('a', 38.2)])
  for (let number = 0; number < 9; number++) await subscribe({ fields: 'north' })
  const { writer } = service.database
  const other = await newPerson(service.app)
  await keep('north', [featureAt('a', 38.2)], other)
  const { id } = await subscribe({ fields: 'north' }, other)
  await sql`update subscription set release = null`.execute(writer)
  const counts: number[] = []
  for (let round = 0; round < 40; round++) {
    await sql`update subscription set leased_until = null`.execute(writer)
    const claimed: string[] = []
    while (!claimed.includes(id)) claimed.push(...(await claimChanged(writer, 1, true)).map((one) => one.id))
    counts.push(claimed.length)
  }
  // By halves: by the order of accounts it would be always the first or the tenth.
  expect(Math.min(...counts)).toBe(1)
  expect(counts.filter((count) => count <= 4).length).toBeGreaterThan(30)
})

test('where the earlier release is gone, all fields may have changed', async () => {
  const { code: before } = await publish([100, 100], [50, 50])
  await keep('north', [featureAt('a', 38.2)])
  await subscribe({ fields: 'north' })
  const { code: after } = await publish([120, 100], [50, 50])
  const operator = operatorOf(service.database)
  await operator.remove(before)
  await serveUntil(async () => expect(events()).toHaveLength(1))
  expect(events()[0].data).toMatchObject({
    ...{ release: after, release_before: before, changed: null, fields: [], list: null },
  })
})

test('nothing is sent of a deleted collection', async () => {
  await publish([100, 100], [50, 50])
  await keep('north', [featureAt('a', 38.2)])
  const { id } = await subscribe({ fields: 'north' })
  await ask('DELETE /fields/north')
  const { code } = await publish([200, 200], [50, 50])
  await serveUntil(async () => expect(await release(id)).toBe(code))
  expect(events()).toEqual([])
})

test('a collection of others, an unknown crop or input and two places are refused', async () => {
  const { code } = await publish([100, 100], [50, 50])
  await keep('north', [featureAt('a', 38.2)])
  const other = await newPerson(service.app)
  const refused = async (changes: object, by = service.person) => {
    const { status, body } = await ask(
      'POST /subscriptions',
      { ...WANTED, url: receiver.url, ...changes },
      by,
    )
    return [status, body.code, body.error]
  }
  expect(await refused({ fields: 'north' }, other)).toEqual([
    404,
    'NOT_FOUND',
    'You have no collection of fields with this name.',
  ])
  expect(await refused({ fields: 'north', input: 'Lime' })).toMatchInlineSnapshot(`
    [
      400,
      "INVALID_PARAMETERS",
      "input must be one of DAP, Urea, or left out.",
    ]
  `)
  expect((await ask(`GET /fields/north/changes?since=${code}&input=Lime`)).body).toMatchObject({
    details: [{ field: 'input', allowed: ['DAP', 'Urea'] }],
  })
  expect((await refused({ fields: 'north', crop: 'unicorn' })).slice(0, 2)).toEqual([
    400,
    'CROP_NOT_AVAILABLE',
  ])
  expect(await refused({ fields: 'north', lat: 9.5, lng: 38.5 })).toMatchInlineSnapshot(`
    [
      400,
      "INVALID_PARAMETERS",
      "Send either lat and lng, a point; geometry, a GeoJSON polygon; admin, an administrative area; or fields, a collection of saved fields.",
    ]
  `)
})

test('a test message of a collection says so, and names no field', async () => {
  await publish([100, 100], [50, 50])
  await keep('north', [featureAt('a', 38.2)])
  const { id } = await subscribe({ fields: 'north' })
  const { body } = await ask(`POST /subscriptions/${id}/test`)
  expect(body).toMatchObject({ outcome: 'delivered', status: 204 })
  expect(events()).toMatchObject([
    {
      type: 'org.agro-advisory.fields.changed',
      data: { test: true, changed: 0, failed: 0, fields: [], list: null },
    },
  ])
})

/** Publishes rates of urea and DAP in two pixels: 38 to 39 E, and 39 to 40 E. */
function publish(urea: [number, number], dap: [number, number]) {
  const grid = gridOf(4326, [38, 10], [1, -1], [2, 1])
  const pixels = [urea, dap].map((values) => Float32Array.of(...values))
  const layers = ['Urea', 'DAP'].map((input) => layerOf(input))
  const release = releaseOn(grid, layers, pixels, { checksum: JSON.stringify([urea, dap]) })
  return loadRelease(service.database, release, { publish: true })
}

const ask = (request: string, payload?: object, by = service.person) => service.ask(request, { by, payload })

const featureAt = (id: string, west: number) => ({
  type: 'Feature',
  id,
  geometry: rectangle(west, 9.5, west + 0.001, 9.501),
  properties: {},
})

async function keep(name: string, features: object[], by = service.person): Promise<void> {
  expect((await keepFields(service, name, features, { by })).status).toBe(200)
}

async function subscribe(changes: object, by = service.person) {
  const wanted = { ...WANTED, url: receiver.url, ...changes }
  const { status, body } = await ask('POST /subscriptions', wanted, by)
  expect([status, body]).toEqual([201, expect.anything()])
  return body
}

/** Has a process of the service compare and deliver until a condition holds. */
async function serveUntil(holds: () => Promise<void>): Promise<void> {
  await serveDuring(service, () => vi.waitFor(holds, PATIENCE))
}

const release = async (id: string) => (await ask(`GET /subscriptions/${id}`)).body.release

const events = () => receiver.received.map(({ body }) => JSON.parse(body))
