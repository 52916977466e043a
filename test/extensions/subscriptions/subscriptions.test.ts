import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { sql } from 'kysely'
import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { claimChanged, postpone } from '#src/extensions/subscriptions/delivery-queries.ts'
import { loadSecrets } from '#src/http/access-tokens.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { FIELD_IN_PIXEL, onePixelRelease, operatorOf, PIXEL_CENTRE } from '#test/setup/releases.ts'
import { openReceiver, serveDuring } from './receiver.ts'

const WANTED = { product: 'fertilizer', ...PIXEL_CENTRE, threshold: { kind: 'absolute', value: 1 } }

const service = openService({
  template: 'empty',
  settings: { RELEASE_MAX_AGE_MS: '0', WEBHOOK_ALLOW_PRIVATE: 'true', SUBSCRIPTIONS_PER_USER: '3' },
})
const receiver = openReceiver(service)

test('what changes by more than the threshold is sent once, signed, with what it was before', async () => {
  // Something else is published as well, as everywhere.
  const elsewhere = onePixelRelease({ Urea: 1 }, { countryCode: 'rwa', cropCode: 'potato' })
  await loadRelease(service.database, elsewhere, { publish: true })
  const { code: before } = await publish({ Urea: 100, DAP: 50 })
  const { secret, id, ...made } = await subscribe({ name: 'My field' })
  expect(made).toMatchObject({
    status: 'active',
    release: before,
    unit: 'kg/ha',
    crop: 'wheat',
    values: [
      { input: 'DAP', scenario: 'Normal', value: 50 },
      { input: 'Urea', scenario: 'Normal', value: 100 },
    ],
  })
  const { code: after } = await publish({ Urea: 110, DAP: 60 })
  await whileServing(() => arrived(id))

  expect(receiver.received).toHaveLength(1)
  const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]]
  expectSignedBy(secret)
  // By hand as well, as the specification has it.
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64')
  const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`
  expect(headers['webhook-signature']).toBe(`v1,${createHmac('sha256', key).update(signed).digest('base64')}`)
  expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8')
  expect(JSON.parse(body)).toEqual({
    specversion: '1.0',
    id: headers['webhook-id'],
    source: `/subscriptions/${id}`,
    type: 'org.agro-advisory.values.changed',
    time: expect.stringMatching(/^\d{4}-/),
    datacontenttype: 'application/json',
    data: {
      subscription: id,
      name: 'My field',
      product: 'fertilizer',
      country_code: 'eth',
      crop: 'wheat',
      place: { type: 'point', ...PIXEL_CENTRE },
      threshold: { kind: 'relative', value: 10 },
      unit: 'kg/ha',
      release: after,
      release_before: before,
      // 10 % is not more than 10 %.
      changes: [{ input: 'DAP', scenario: 'Normal', before: 50, after: 60, change: 10, change_percent: 20 }],
    },
  })
  expect(await get(id)).toMatchObject({ release: after, failing_since: null })
})

test('several processes send it once; a small change is not sent, and small ones add up', async () => {
  await publish({ Urea: 200 })
  const { id } = await subscribe()
  const { code: second } = await publish({ Urea: 215 })
  await whileServing(() => becomes(id, { release: second }))
  expect(receiver.received).toEqual([])
  const { code: third } = await publish({ Urea: 221 })
  await Promise.all([1, 2].map(() => whileServing(() => received(1))))
  expect(eventAt().data).toMatchObject({
    release: third,
    release_before: second,
    changes: [{ before: 200, after: 221, change: 21, change_percent: 10.5 }],
  })
})

test('what fails is sent again with the same id, and is shown as failing without a reason', async () => {
  await publish({ Urea: 300 })
  const { id } = await subscribe({ threshold: { kind: 'absolute', value: 0 } })
  await publish({ Urea: 301 })
  // Not followed: who redirects is no receiver.
  receiver.answer = 302
  await whileServing(async (look) => {
    await failed(id)
    expect(receiver.received).toHaveLength(1)
    receiver.answer = 200
    await hasten()
    look()
    await arrived(id)
  })
  const [first] = idsReceived()
  expect(idsReceived()).toEqual([first, first])
  expect(await get(id)).toMatchObject({ status: 'active', failing_since: null })
})

test('what a process was at when it was killed, another one does, with the same id', async () => {
  await publish({ Urea: 400 })
  const { id } = await subscribe()
  await publish({ Urea: 500 })
  const { writer } = service.database
  // It had taken the subscription, and ended.
  await sql`update subscription set leased_until = now() - interval '1 second'`.execute(writer)
  await whileServing(() => arrived(id))
  // It had sent the event, and ended before that was noted.
  await sql`
    update webhook_delivery
    set done_at = null, delivered = null, leased_until = now() - interval '1 second', attempts = 1`.execute(
    writer,
  )
  await whileServing(() => received(2))
  const [first] = idsReceived()
  expect(idsReceived()).toEqual([first, first])
  expect(eventAt(1)).toEqual(eventAt())
})

test('what was not tried yet is compared before what could not be', async () => {
  await publish({ Urea: 510 })
  const ids = [(await subscribe()).id, (await subscribe()).id, (await subscribe()).id]
  await publish({ Urea: 520 })
  const { writer } = service.database
  for (const [index, id] of ids.slice(0, 2).entries()) await postpone(writer, id, index - 60)
  const claimed: string[] = []
  for (const _ of ids) claimed.push(...(await claimChanged(writer, 1, false)).map(({ id }) => id))
  expect(claimed).toEqual([ids[2], ids[0], ids[1]])
})

test('410 disables at once, a day of failures does, too; enabled again, the last event comes as it was', async () => {
  await publish({ Urea: 600 })
  const { id } = await subscribe()
  await publish({ Urea: 700 })
  receiver.answer = 410
  await whileServing(async (look) => {
    await becomes(id, { status: 'disabled', disabled_reason: 'gone' })
    receiver.answer = 500
    const enabled = await ask(`POST /subscriptions/${id}/enable`)
    expect(enabled.body).toMatchObject({ status: 'active', disabled_reason: null })
    const { writer } = service.database
    // An attempt may have begun when it was enabled: its end would not be noted any more, nor its lease given back.
    await sql`update webhook_delivery set attempts = 10, leased_until = null`.execute(writer)
    look()
    await failed(id)
    // Attempts alone are no day: processes may have ended in the middle of them.
    expect(await get(id)).toMatchObject({ status: 'active' })
    await sql`update subscription set failing_since = now() - interval '1 day'`.execute(writer)
    await vi.waitFor(async () => {
      // An attempt of before the day may end only now, and put the next one off for hours.
      await hasten()
      look()
      expect(await get(id)).toMatchObject({ disabled_reason: 'failing' })
    }, PATIENCE)
    receiver.answer = 200
    await ask(`POST /subscriptions/${id}/enable`)
    look()
    await arrived(id)
  })
  const ids = idsReceived()
  // At least: what could not be noted is sent again.
  expect([ids.length >= 4, new Set(ids).size]).toEqual([true, 1])
})

test('a renewed secret and the one before sign, and a new JWT_SECRET loses neither: all are sealed anew, also those that nothing was delivered with', async () => {
  const [first, second] = ['the first secret, of more than 32 bytes', 'the second one, of more than 32 bytes']
  const { writer } = service.database
  await publish({ Urea: 910 })
  const { id, secret } = await subscribe()
  const renewed = (await ask(`POST /subscriptions/${id}/secret`)).body.secret
  expect(renewed).toMatch(/^whsec_/)
  expect(renewed).not.toBe(secret)
  // What the service of these tests has sealed with its own.
  const own = (await loadSecrets(service.testDatabase.config))[0]
  const sealed = () =>
    sql<{ secret: Buffer; previous_secret: Buffer }>`select secret, previous_secret from subscription`
      .execute(writer)
      .then(({ rows: [row] }) => row as { secret: Buffer; previous_secret: Buffer })
  const before = await sealed()
  await whileServing(
    () =>
      vi.waitFor(async () => {
        const now = await sealed()
        expect(now.secret.equals(before.secret)).toBe(false)
        expect(now.previous_secret.equals(before.previous_secret)).toBe(false)
      }, PATIENCE),
    { JWT_SECRET: first, JWT_SECRET_PREVIOUS: own },
  )
  await publish({ Urea: 1910 })
  // Another one by mistake: it fails, and is not given up.
  await whileServing(() => failed(id), { JWT_SECRET: second })
  expect([(await get(id)).status, receiver.received]).toEqual(['active', []])
  await hasten()
  await whileServing(() => arrived(id), { JWT_SECRET: first })
  expectSignedBy(secret, renewed)
})

test('what is withdrawn is sent, and a polygon, an area and what is not published yet can be watched', async () => {
  const { code } = await publish({ Urea: 1000 })
  const geometry = { ...FIELD_IN_PIXEL, bbox: ['junk'] }
  const polygon = await subscribe({ lat: undefined, lng: undefined, geometry })
  expect(polygon).toMatchObject({
    place: { type: 'polygon', geometry: FIELD_IN_PIXEL },
    values: [{ input: 'Urea', value: 1000 }],
  })
  expect(await subscribe({ forecast_period: '2031-01' })).toMatchObject({ release: null, values: [] })
  await operatorOf(service.database).remove(code, true)
  await whileServing(() => received(1))
  expect(eventAt().data).toMatchObject({
    release: null,
    release_before: code,
    changes: [{ input: 'Urea', before: 1000, after: null, change: null, change_percent: null }],
  })
})

test('subscriptions are their owner’s alone, so many at most, and go with the account', async () => {
  await publish({ Urea: 1100 })
  const { id } = await subscribe()
  const other = await newPerson(service.app)
  const own = `/subscriptions/${id}`
  for (const path of [
    `GET ${own}`,
    `DELETE ${own}`,
    ...['enable', 'secret', 'test'].map((of) => `POST ${own}/${of}`),
  ])
    expect([path, (await ask(path, undefined, other)).status]).toEqual([path, 404])
  await subscribe()
  await subscribe()
  const fourth = await ask('POST /subscriptions', { ...WANTED, url: receiver.url })
  expect([fourth.status, fourth.body]).toEqual([
    409,
    {
      error: 'You have 3 subscriptions: delete one that is not needed.',
      code: 'TOO_MANY_SUBSCRIPTIONS',
      details: [
        { field: 'subscriptions', message: 'an account may have 3 subscriptions', code: 'LIMIT_REACHED' },
      ],
    },
  ])
  expect((await ask(`DELETE ${own}`)).status).toBe(204)
  expect((await ask('GET /subscriptions')).body.items).toHaveLength(2)
})

test.each([
  ['no place', { lat: undefined, lng: undefined }, 'lat'],
  ['a threshold below 0', { threshold: { kind: 'absolute', value: -1 } }, 'threshold.value'],
  ['a target that is no URL', { url: 'hooks.example.org' }, 'url'],
])('%s is refused with its field', async (_, change, field) => {
  await publish({ Urea: 1200 })
  const { status, body } = await ask('POST /subscriptions', { ...WANTED, url: receiver.url, ...change })
  expect([status, body.details?.[0]?.field]).toEqual([400, field])
})

/** Somebody who listens at addresses that all are hosts of their own, and answers with bytes or never. */
async function openOddReceiver(answer: string) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => {}))
    socket.on('data', () => socket.write(answer))
  }).listen(0)
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    sockets,
    url: (host: number) => `http://127.0.0.${host}:${port}/`,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Three accounts have nine receivers of such answers, and one who came later has an own. */
async function besideOdd(answer: string) {
  const odd = await openOddReceiver(answer)
  await publish({ Urea: 100 })
  for (let host = 1; host <= 9; host++) {
    if (host % 3 === 1) service.person = await newPerson(service.app)
    await subscribe({ url: odd.url(host) })
  }
  service.person = await newPerson(service.app)
  const { id } = await subscribe()
  await publish({ Urea: 200 })
  const { writer } = service.database
  // Theirs are due since before.
  await sql`
    insert into webhook_delivery (subscription_id, body, due_at)
    select id, '{}', now() - interval '1 hour' from subscription where id <> ${id}`.execute(writer)
  return { odd, id }
}

test('who upgrades the connection is refused, and others get theirs', async () => {
  const { odd, id } = await besideOdd(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
  )
  await whileServing(async () => {
    await vi.waitFor(() => expect(odd.sockets.length).toBeGreaterThanOrEqual(8), PATIENCE)
    await arrived(id)
    // What each came to is noted once its connection has ended.
    await vi.waitFor(async () => {
      const { rows } = await sql`
        select from subscription where id <> ${id} and failing_since is null`.execute(service.database.writer)
      expect(rows).toEqual([])
    }, PATIENCE)
  }).finally(odd.close)
})

test('others get theirs while receivers of several accounts say nothing', async () => {
  const { odd, id } = await besideOdd('')
  await whileServing(async () => {
    await arrived(id)
    expect(odd.sockets.filter(({ destroyed }) => destroyed).length).toBe(0)
    await vi.waitFor(() => expect(odd.sockets.length).toBeGreaterThanOrEqual(8), PATIENCE)
  }).finally(odd.close)
})

describe('the owner of a subscription', () => {
  beforeEach(async () => {
    // Each of an own account: tests of one wait for each other.
    service.person = await newPerson(service.app)
  })

  test('a test message is signed as others are, marked, and changes nothing of the subscription', async () => {
    const { code } = await publish({ Urea: 100 })
    const { id, secret } = await subscribe({ name: 'My field' })
    const before = await get(id)
    const { status, body: outcome } = await ask(`POST /subscriptions/${id}/test`)
    expect([status, outcome]).toEqual([200, { id: expect.any(String), outcome: 'delivered', status: 204 }])
    expectSignedBy(secret)
    expect(receiver.received[0]?.headers).toMatchObject({
      'webhook-id': outcome.id,
      'content-type': 'application/cloudevents+json; charset=utf-8',
    })
    const change = { before: 100, after: 100, change: 0, change_percent: 0 }
    expect(eventAt()).toMatchObject({
      id: outcome.id,
      source: `/subscriptions/${id}`,
      data: { test: true, release: code, release_before: code, changes: [{ input: 'Urea', ...change }] },
    })
    expect(await get(id)).toEqual(before)
    // Nothing of it is tried again.
    expect(receiver.received).toHaveLength(1)
  })

  test.each([
    ['a redirect is not followed', 302, { outcome: 'refused', status: 302 }],
    ['410 disables nothing', 410, { outcome: 'refused', status: 410 }],
    ['that nobody answers is named', 'closed', { outcome: 'unanswered', status: null }],
  ] as const)('in a test %s', async (_what, answer, outcome) => {
    await publish({ Urea: 100 })
    const url = answer === 'closed' ? 'http://127.0.0.1:1/' : receiver.url
    if (answer !== 'closed') receiver.answer = answer
    const { id } = await subscribe({ url })
    const before = await get(id)
    expect((await ask(`POST /subscriptions/${id}/test`)).body).toMatchObject(outcome)
    expect(await get(id)).toEqual(before)
  })

  test('an account sends two tests and has to wait then, also with another subscription', async () => {
    await publish({ Urea: 100 })
    const [{ id }, { id: other }] = [await subscribe(), await subscribe()]
    const post = (of: string) => ask(`POST /subscriptions/${of}/test`)
    expect([(await post(id)).status, (await post(other)).status]).toEqual([200, 200])
    expect((await ask(`DELETE /subscriptions/${other}`)).status).toBe(204)
    const { id: made } = await subscribe()
    const { status, body, headers } = await post(made)
    expect([status, body.code, receiver.received.length]).toEqual([429, 'TOO_MANY_REQUESTS', 2])
    expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(10)
  })
})

const publish = (rates: Record<string, number>) =>
  loadRelease(service.database, onePixelRelease(rates), { publish: true })

const ask = (request: string, payload?: object, by: Person = service.person) =>
  service.ask(request, { by, payload })

async function subscribe(changes: object = {}) {
  const wanted = { ...WANTED, threshold: { kind: 'relative', value: 10 }, url: receiver.url, ...changes }
  const { status, body } = await ask('POST /subscriptions', wanted)
  expect([status, body]).toEqual([201, expect.anything()])
  return body
}

const get = async (id: string) => (await ask(`GET /subscriptions/${id}`)).body

/** What was due for later is due now: nobody waits for hours. */
const hasten = () => sql`update webhook_delivery set due_at = now()`.execute(service.database.writer)

const whileServing = (work: (look: () => void) => Promise<unknown>, settings?: object) =>
  serveDuring(service, work, settings)

const received = (count: number) => vi.waitFor(() => expect(receiver.received).toHaveLength(count), PATIENCE)

const becomes = (id: string, expected: object) =>
  vi.waitFor(async () => expect(await get(id)).toMatchObject(expected), PATIENCE)

/** That something has come to somebody, and that this was noted. */
const arrived = (id: string) => becomes(id, { delivered_at: expect.any(String) })
const failed = (id: string) => becomes(id, { failing_since: expect.any(String) })

/** The event that came as the first, or the one after so many. */
const eventAt = (index = 0) => JSON.parse(receiver.received[index]?.body as string)

const idsReceived = () => receiver.received.map(({ headers }) => headers['webhook-id'])

/** Has the first event that came verified by secrets, as receivers do. */
function expectSignedBy(...secrets: string[]): void {
  const [{ headers, body }] = receiver.received as [(typeof receiver.received)[number]]
  for (const secret of secrets)
    expect(new Webhook(secret).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body))
}
