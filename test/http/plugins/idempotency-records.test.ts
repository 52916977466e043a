import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { loadSecrets } from '#src/http/access-tokens.ts'
import { createSeal } from '#src/http/plugins/idempotency.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'
import { type CalledService, createCalledService, expectReplayed, FIELD, POINT } from './idempotent-calls.ts'

let service: CalledService
beforeAll(async () => {
  service = await createCalledService()
})
afterAll(() => service.close())

describe('what is kept of requests with an Idempotency-Key', () => {
  test('counts for a day, and is deleted then', async () => {
    const call = { url: '/advisory/yield/point', key: randomUUID(), payload: POINT }
    const first = await service.post(call)
    await service.age('23 hours 59 minutes')
    expectReplayed(await service.post(call), first)
    await service.age('24 hours 1 minute')
    const anew = await service.post(call)
    expect(anew.headers).not.toHaveProperty('idempotency-replayed')
    expect(anew.json().history_id).not.toBe(first.json().history_id)

    await service.age('24 hours 1 minute')
    service.app.jobs.wake('delete-stored-answers')
    await vi.waitFor(async () => expect(await service.records()).toEqual([]), PATIENCE)
  })

  test('by an older version, without newer members, is given again as it was', async () => {
    const call = { url: '/advisory/yield/point', key: randomUUID(), payload: POINT }
    const first = await service.post(call)
    const [secret] = await loadSecrets(service.testDatabase.config)
    const { idOf, seal, unseal } = createSeal(secret)
    const id = idOf(call.key, 'yieldAtPoint', service.person.user.id, null)
    const stored = await sql<{
      answer: Buffer
    }>`select answer from idempotency_record where id = ${id}`.execute(service.database.writer)
    const answer = unseal(id, call.key, stored.rows[0]?.answer as Buffer)
    const { country_code: _, ...body } = answer.body as Record<string, unknown>
    await sql`update idempotency_record set answer = ${seal(id, call.key, { ...answer, body })} where id = ${id}`.execute(
      service.database.writer,
    )
    const again = await service.post(call)
    expect([again.statusCode, again.json()]).toEqual([200, body])
    expect(first.json()).toEqual({ ...body, country_code: 'eth' })
  })

  test('of a process that died is waited for, and done anew after that', async () => {
    const call = { url: '/advisory/yield/point', key: randomUUID(), payload: POINT }
    await service.post(call)
    // A statement may take two minutes in tests, and a request one more.
    await service.age('2 minutes 50 seconds', false)
    const waiting = await service.post(call)
    expect([waiting.statusCode, waiting.json().code]).toEqual([409, 'REQUEST_IN_PROGRESS'])
    await service.age('3 minutes 10 seconds', false)
    const anew = await service.post(call)
    expect([anew.statusCode, anew.headers['idempotency-replayed']]).toEqual([200, undefined])
    expectReplayed(await service.post(call), anew)
  })

  test('is bounded for each account: the oldest go', async () => {
    const someone = await newPerson(service.app)
    await sql`
      insert into idempotency_record (id, user_id, attempt, begun_at, answer)
      select decode(md5(n::text), 'hex'), ${someone.user.id}, gen_random_uuid(), now() - make_interval(secs => n), '\\x00'
      from generate_series(1, 10100) as n`.execute(service.database.writer)
    const count = async () => (await service.records(someone.user.id)).length
    const call = { url: '/advisory/yield/point', payload: POINT, who: someone }
    // Accounts are looked at now and then.
    for (let calls = 0; calls < 100; calls++) await service.post({ ...call, key: randomUUID() })
    await vi.waitFor(async () => expect(await count()).toBeLessThanOrEqual(10_100), PATIENCE)
    expect(await count()).toBeGreaterThanOrEqual(10_000)
  })
})

describe('where a request cannot be noted', () => {
  test('nothing is done, and it may be sent again', async () => {
    const call = { url: '/advisory/yield/point', payload: POINT, key: randomUUID() }
    await service.post(call)
    const before = await service.historyOf(service.person)
    const away = vi.spyOn(service.database.pool, 'connect').mockImplementation(() => {
      throw Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    })
    try {
      const refused = await service.post({ ...call, key: randomUUID() })
      expect([refused.statusCode, refused.json().code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
      const plain = await service.post({ url: call.url, payload: POINT })
      expect([plain.statusCode, plain.json().history_id]).toEqual([200, undefined])
    } finally {
      away.mockRestore()
    }
    expect(await service.historyOf(service.person)).toEqual(before)
  })

  test('that has been done, its answer goes out all the same', async () => {
    const { writer } = service.database
    await sql`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$`.execute(
      writer,
    )
    await sql`
      create trigger refuse before update on idempotency_record for each row execute function refuse()`.execute(
      writer,
    )
    const call = { url: '/advisory/yield', payload: FIELD, key: randomUUID() }
    try {
      const done = await service.post(call)
      expect([done.statusCode, await service.historyOf(service.person)]).toEqual([
        200,
        expect.arrayContaining([done.json().history_id]),
      ])
      expect((await service.post(call)).statusCode).toBe(409)
    } finally {
      await sql`drop function refuse cascade`.execute(writer)
    }
  })
})
