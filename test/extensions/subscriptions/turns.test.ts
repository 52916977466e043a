import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import {
  claimChanged,
  claimDeliveries,
  type Delivery,
  recordDelivered,
  recordFailed,
} from '#src/extensions/subscriptions/delivery-queries.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { PIXEL_CENTRE } from '#test/setup/releases.ts'

// Runs on a server alone: another connection holds locks.

const WANTED = { product: 'fertilizer', ...PIXEL_CENTRE, threshold: { kind: 'absolute', value: 1 } }

const service = openService({ template: 'empty', settings: { SUBSCRIPTIONS_PER_USER: '3' } })

const ask = (request: string, payload: object, by: Person = service.person) =>
  service.ask(request, { by, payload })

beforeEach(() => sql`delete from subscription`.execute(service.database.writer))

test('accounts take turns at comparisons, and at a host that they share', async () => {
  const { writer } = service.database
  const other = await newPerson(service.app)
  const ids: string[] = []
  for (const by of [service.person, service.person, service.person, other]) {
    const url = 'https://hooks.example.org/here'
    ids.push((await ask('POST /subscriptions', { ...WANTED, url }, by)).body.id)
  }
  const [, , , theirs] = ids
  await sql`update subscription set release = 'one that is gone'`.execute(writer)
  expect((await claimChanged(writer, 2, false)).map(({ id }) => id)).toContain(theirs)
  for (const [index, id] of ids.entries()) {
    await sql`
      insert into webhook_delivery (subscription_id, body, due_at)
      values (${id}, '{}', now() - make_interval(secs => ${60 - index}::integer))`.execute(writer)
  }
  const claimed = await claimDeliveries(writer, 2, 2)
  expect(claimed?.map(({ subscriptionId }) => subscriptionId).toSorted()).toEqual([ids[0], theirs].toSorted())
})

test('the account whose last turn is longest ago is next; the last places are of accounts that have none', async () => {
  const { writer } = service.database
  const due: Record<string, string[]> = {}
  const [old, busy, fresh] = [service.person, await newPerson(service.app), await newPerson(service.app)]
  for (const [name, by] of Object.entries({ old, busy, fresh })) {
    for (const at of [1, 2, 3]) {
      const wanted = { ...WANTED, url: `https://${name}-${at}.example.org/` }
      const { id } = (await ask('POST /subscriptions', wanted, by)).body
      due[name] = [...(due[name] ?? []), id]
      await sql`insert into webhook_delivery (subscription_id, body) values (${id}, '{}')`.execute(writer)
    }
  }
  await sql`update webhook_delivery set due_at = now() - interval '1 second'`.execute(writer)
  const begun: Delivery[] = []
  const claim = async (most: number, shared: number) => {
    const claimed = (await claimDeliveries(writer, most, shared)) ?? []
    begun.push(...claimed)
    return claimed.map(({ subscriptionId: id }) => Object.keys(due).find((name) => due[name]?.includes(id)))
  }
  // Whoever subscribed first is next, whatever others have made since, and had a turn then.
  expect(await claim(1, 1)).toEqual(['old'])
  expect(await claim(1, 1)).toEqual(['busy'])
  expect(await claim(8, 0)).toEqual(['fresh'])
  expect(await claim(8, 0)).toEqual([])
  expect((await claim(8, 2)).toSorted()).toEqual(['busy', 'old'])
  // What took its time is over: its account has had its turn.
  await sql`update webhook_delivery set leased_until = leased_until - interval '10 seconds'`.execute(writer)
  for (const delivery of begun) await recordFailed(writer, delivery, 3600)
  const [next] = await claim(1, 1)
  expect(next).toBe('fresh')
})

test('attempts that end at once are no turn: all messages of an account come within a round of silent ones', async () => {
  const { writer } = service.database
  const mostSilent = 20
  const prompt = await newPerson(service.app)
  for (let silent = 0; silent <= mostSilent; silent++) {
    const by = silent < mostSilent ? await newPerson(service.app) : prompt
    for (const at of [1, 2, 3]) {
      const url = `https://silent-${silent}-${at}.example.org/`
      const { body } = await ask('POST /subscriptions', { ...WANTED, url }, by)
      await sql`
        insert into webhook_delivery (subscription_id, body, due_at)
        select ${body.id}, '{}', now() - interval '1 hour' from generate_series(1, 4)`.execute(writer)
    }
  }
  let [claims, sent] = [0, 0]
  for (; sent < 12 && claims < 200; claims++) {
    const [delivery] = (await claimDeliveries(writer, 1, 1)) ?? []
    if (delivery?.userId === prompt.user.id) {
      sent++
      await recordDelivered(writer, delivery)
    } else if (delivery) {
      await sql`
        update webhook_delivery set leased_until = leased_until - interval '10 seconds'
        where id = ${delivery.id}`.execute(writer)
      await recordFailed(writer, delivery, -1)
    }
  }
  expect(sent).toBe(12)
  expect(claims).toBeLessThanOrEqual(mostSilent + 12)
})

test('a subscription that another statement has locked holds up no delivery, and two claims of changes no other', async () => {
  const { writer, pool } = service.database
  const ids: string[] = []
  for (const at of [1, 2, 3]) {
    const url = `https://locked-${at}.example.org/`
    ids.push((await ask('POST /subscriptions', { ...WANTED, url }, await newPerson(service.app))).body.id)
  }
  await sql`update subscription set release = 'one that is gone'`.execute(writer)
  await sql`
    insert into webhook_delivery (subscription_id, body, due_at)
    select id, '{}', now() - interval '1 minute' from subscription`.execute(writer)
  const [lowest, , highest] = ids.toSorted() as [string, string, string]
  const other = await pool.connect()
  onTestFinished(() => other.release(true))
  await other.query('begin')
  await other.query('select from subscription where id = $1 for update', [lowest])
  await other.query('select from webhook_delivery where subscription_id = $1 for update', [highest])
  const claimed = await claimDeliveries(writer, 3, 3)
  expect(claimed?.map(({ subscriptionId }) => subscriptionId).toSorted()).toEqual(
    ids.filter((id) => id !== highest).toSorted(),
  )
  // The claim of changes waits for the lowest, and has locked none beyond it.
  const changed = claimChanged(writer, 3, false)
  await vi.waitFor(async () => {
    const { rows } = await pool.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)
    expect(rows.length).toBeGreaterThan(0)
  }, PATIENCE)
  const { rows } = await pool.query('select id from subscription for update skip locked')
  expect(rows.map(({ id }) => id).toSorted()).toEqual(ids.filter((id) => id !== lowest).toSorted())
  await other.query('commit')
  expect((await changed).map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
})
