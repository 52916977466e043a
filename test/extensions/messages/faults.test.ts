import { randomBytes } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { sql } from 'kysely'
import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { claimMessage, deleteOldMessages } from '#src/extensions/messages/queries.ts'
import { startApp } from '#test/setup/app.ts'
import { CHANNELS, createSender } from '#test/setup/gateway.ts'
import { openService } from '#test/setup/open-service.ts'
import { makeAdmin, newPerson } from '#test/setup/people.ts'

// Runs on a server alone: another connection holds locks, and two services share a database.

const service = openService({ settings: CHANNELS })

test('a database that does not answer costs three seconds, and the same message is answered afterwards', async () => {
  const send = newSender()
  await send('HELP')
  const other = new pg.Client(service.testDatabase.config.DATABASE_URL as string)
  await other.connect()
  try {
    await other.query('begin; lock table message in access exclusive mode')
    const ends: (() => void)[] = []
    vi.spyOn(timers, 'setTimeout').mockImplementation(
      (delay = 0, value) =>
        new Promise((resolve) => {
          if (delay <= 3000) ends.push(() => resolve(value as never))
        }),
    )
    // For what was imported of it.
    syncBuiltinESMExports()
    const reply = send('wheat 9.5 38.5', { id: 'late' })
    await untilWaiting(other)
    expect(ends).toHaveLength(1)
    for (const end of ends) end()
    expect(await reply).toBe('The service is busy. Please send this again in a minute.')
  } finally {
    vi.restoreAllMocks()
    syncBuiltinESMExports()
    await other.end()
  }
  const answered = await send('wheat 9.5 38.5', { id: 'late' })
  expect(answered).toContain('Code A2.')
  expect(await send('wheat 9.5 38.5', { id: 'late' })).toBe(answered)
})

test('messages of one sender at once are claimed up to the limit, and one beyond it', async () => {
  const sender = randomBytes(32)
  const rules = { mostADay: 30, isStop: false, wakes: false }
  const claim = (id: Buffer) => claimMessage(service.database.writer, { id, sender }, rules)
  const ids = Array.from({ length: 120 }, () => randomBytes(32))
  const claims = await Promise.all(ids.map(claim))
  expect(claims.filter(({ claimed }) => claimed).map(({ today }) => today)).toEqual(
    expect.arrayContaining(Array.from({ length: 31 }, (_, today) => today)),
  )
  expect(claims.filter(({ claimed }) => claimed)).toHaveLength(31)
})

test('a conversation goes on with another process, and a message that one has died with is answered', async () => {
  const number = '251900000001'
  const send = newSender(number)
  const first = await send('wheat 9.5 38.5')
  const another = await startApp(service.testDatabase.config)
  try {
    const sendThere = createSender(() => another.app, number)
    const next = await sendThere('MORE')
    expect(next).toMatch(/^Demo data, not advice\. /)
    expect(next).not.toBe(first)
    expect(await sendThere('A2 5')).toMatch(/^Thank you/)
    const db = service.database.writer
    await send('HELP', { id: 'died' })
    await sql`
      update message set reply = null, begun_at = now() - interval '1 minute'
      where id = (select id from message order by arrived_at desc limit 1)`.execute(db)
    expect(await sendThere('HELP', { id: 'died' })).toMatch(/^Send a crop/)
  } finally {
    await another.close()
  }
})

test('a conversation ends after ten minutes; answers stay for 13 months, other messages for two days, a STOP for good', async () => {
  const db = service.database.writer
  const age = (interval: string) =>
    sql`update message set arrived_at = arrived_at - ${interval}::interval`.execute(db)
  const countRows = async () =>
    (await db.selectFrom('message').select(['code', 'stopped', 'offer']).execute()).map(
      ({ code, stopped, offer }) => `${stopped ? 'stopped' : (code ?? 'other')}${offer ? ' open' : ''}`,
    )
  await db.deleteFrom('message').execute()
  const [send, stops] = [newSender(), newSender()]
  await send('wheat 9.5 38.5')
  await stops('HELP')
  await stops('STOP')
  await age('9 minutes')
  expect(await send('MORE')).toMatch(/^Demo data/)
  await age('11 minutes')
  expect(await send('MORE')).toMatch(/^There is no more/)
  await deleteOldMessages(db, 100)
  expect((await countRows()).sort()).toEqual(['A2', 'other', 'other', 'other', 'stopped'])
  await age('3 days')
  await deleteOldMessages(db, 100)
  expect((await countRows()).sort()).toEqual(['A2', 'stopped'])
  expect(await send('A2 4')).toMatch(/^Thank you/)
  await age('13 months 1 day')
  await deleteOldMessages(db, 100)
  expect(await countRows()).toEqual(['stopped'])
  expect(await stops('HELP')).toBe('')
})

test('the STOP of a number that nothing else is known of lasts for two days, and silences it until then', async () => {
  const db = service.database.writer
  await db.deleteFrom('message').execute()
  const stranger = newSender()
  await stranger('STOP')
  const wait = async (interval: string) => {
    await sql`update message set arrived_at = arrived_at - ${interval}::interval`.execute(db)
    await deleteOldMessages(db, 100)
    return (await db.selectFrom('message').select('stopped').execute()).map(({ stopped }) => stopped)
  }
  expect(await wait('47 hours')).toEqual([true])
  expect(await stranger('HELP')).toBe('')
  expect(await wait('2 hours')).toEqual([])
  // By now it is no stranger.
  expect(await stranger('HELP')).toMatch(/^Send a crop/)
  expect(await stranger('STOP')).toMatch(/^You get no more messages/)
  expect(await wait('3 days')).toEqual([true])
  expect(await stranger('HELP')).toBe('')
})

test('harvests by message count in an area as often as the others, and make no group large', async () => {
  await makeAdmin(service)
  await service.database.writer.deleteFrom('message').execute()
  const code = 'synthetic-yield-eth-wheat-2026-07-v1'
  const readCard = async () =>
    (await service.get(`/releases/${code}/scorecard?level=0`, { by: service.person })).body
  const tell = async (lat: number, harvest: number) => {
    const send = newSender()
    await send(`wheat ${lat} 38.5`)
    expect(await send(`A2 ${harvest}`)).toMatch(/^Thank you/)
    expect(await send('A2 2')).toMatch(/^Thank you/)
    return send
  }
  for (let sender = 0; sender < 7; sender++) await tell(9.5, 9000)
  expect(await readCard()).toMatchObject({
    ...{ from_feedback: 0, from_messages: 0, scenarios: [], districts: [] },
    message_ratings: { count: 7, mean: 2 },
  })
  // By then the others have reported 1,000 to 9,500 kg/ha: what lies beyond is not counted.
  const harvests = [1000, 9500, 4000, 4000, 4000]
  for (const [person, harvest] of harvests.entries()) {
    const by = await newPerson(service.app)
    const { body } = await service.post('/advisory/yield/point', {
      by,
      payload: { lat: 9.5, lng: 38.5 },
    })
    const payload = { rating: 4, observed: { yield_kg_ha: harvest } }
    await service.post(`/history/${body.history_id}/feedback`, { by, payload })
    const card = await readCard()
    expect([card.from_feedback, card.from_messages]).toEqual([person + 1, person === 0 ? 0 : person + 1])
    expect(card.scenarios.length > 0).toBe(person === 4)
  }
  // One of a sender and a place counts: the newest.
  const send = await tell(9.4, 1000)
  await send('wheat 9.4 38.5')
  expect(await send('B2 2000')).toMatch(/^Thank you/)
  await tell(9.3, 99_999)
  const card = await readCard()
  expect([card.from_feedback, card.from_messages]).toEqual([5, 5])
  const { bias } = card.scenarios.find(({ scenario }: { scenario: string }) => scenario === 'Normal')
  const { body } = await service.get('/advisory/yield/point?lat=9.5&lng=38.5')
  const { body: near } = await service.get('/advisory/yield/point?lat=9.4&lng=38.5')
  const normalOf = ({ yield_data }: typeof body) =>
    yield_data.find(({ scenario }: { scenario: string }) => scenario === 'Normal').yield_kg_ha
  // Five accounts, the newest four of the seven senders, and the one who reported twice.
  const expected = (5 * normalOf(body) - 22_500 + 4 * (normalOf(body) - 9000) + (normalOf(near) - 2000)) / 10
  expect(bias).toBeCloseTo(expected, 6)
})

const newSender = (from?: string) => createSender(() => service.app, from)

async function untilWaiting(client: pg.Client): Promise<void> {
  const waiting = "select from pg_locks where relation = 'message'::regclass and not granted"
  while ((await client.query(waiting)).rowCount === 0) await timers.setImmediate()
}
