import { randomUUID } from 'node:crypto'
import type { LightMyRequestResponse } from 'fastify'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { rectangle } from '#test/setup/boundaries.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { createProxiedApp, type ProxiedApp } from '#test/setup/proxied-app.ts'

/** The embedded database has no second session to hold locks, and no network that can be silent. */
const EMBEDDED = process.env.TEST_DATABASE_KIND === 'embedded'

const FIELD = { country_code: 'eth', crop: 'wheat', geometry: rectangle(38.5, 9.5, 38.6, 9.6) }

interface Call {
  url: string
  payload: object
  headers: Record<string, string>
}

describe.skipIf(EMBEDDED)(
  'a request with an Idempotency-Key that is answered before its work is done',
  () => {
    let service: ProxiedApp
    let person: Person
    let other: pg.Client
    beforeAll(async () => {
      service = await createProxiedApp({ STATEMENT_TIMEOUT_MS: '3000' })
      person = await newPerson(service.app)
      // What is in memory stays out of it.
      await post({ url: '/advisory/yield', payload: FIELD, headers: person.headers })
      other = new pg.Client(service.databaseUrl)
      await other.connect()
      await other.query(`
      create function dawdle() returns trigger language plpgsql as $$ begin perform pg_sleep(1.8); return new; end $$`)
    })
    afterEach(async () => {
      await other.query('rollback')
      await other.query(
        'drop trigger if exists dawdles on idempotency_record; drop function if exists refuse cascade',
      )
      await service.proxy.mend()
    })
    afterAll(async () => {
      await other.end()
      await service.close()
    })

    function post({ url, payload, headers }: Call): Promise<LightMyRequestResponse> {
      return service.app.inject({ method: 'POST', url, payload, headers })
    }

    const codeOf = ({ statusCode, body }: LightMyRequestResponse) => [statusCode, JSON.parse(body).code]

    async function namesIn(history: Person): Promise<string[]> {
      const { items } = (await service.app.inject({ url: '/history/my', headers: history.headers })).json()
      return items.map(({ id }: { id: string }) => id)
    }

    /** Somebody who is known, and a polygon of theirs. */
    async function polygonOfSomebody(): Promise<{ someone: Person; call: Call }> {
      const someone = await newPerson(service.app)
      await namesIn(someone)
      const headers = { ...someone.headers, 'idempotency-key': randomUUID() }
      return { someone, call: { url: '/advisory/yield', payload: FIELD, headers } }
    }

    /** Has a request be late with what it writes: the table is locked, and more than half of its time has gone by then. */
    async function beginLate(call: Call, table: string): Promise<void> {
      await other.query(`
      create trigger dawdles before insert on idempotency_record for each row execute function dawdle()`)
      await other.query(`begin; lock table ${table} in share row exclusive mode`)
      expect(codeOf(await post(call))).toEqual([503, 'DATABASE_UNAVAILABLE'])
    }

    /** The same; what has locked the table lets it go once the request has been sent again. */
    async function postLate(call: Call, table: string): Promise<void> {
      await beginLate(call, table)
      await service.database.pool.query('drop trigger dawdles on idempotency_record')
      expect(codeOf(await post(call))).toEqual([409, 'REQUEST_IN_PROGRESS'])
      await other.query('commit')
    }

    /** Sends it again until it is not in progress any more, over connections that lead somewhere. */
    function answerInTheEnd(call: Call): Promise<LightMyRequestResponse> {
      return vi.waitFor(async () => {
        const answer = await post(call)
        expect([409, 503]).not.toContain(answer.statusCode)
        return answer
      }, PATIENCE)
    }

    test('keeps a polygon once: sent again it is in progress, and then has the answer of the first', async () => {
      const { someone, call } = await polygonOfSomebody()
      await postLate(call, 'history_item')
      const { statusCode, headers, json } = await answerInTheEnd(call)
      expect([statusCode, headers['idempotency-replayed']]).toEqual([200, 'true'])
      expect(await namesIn(someone)).toEqual([json().history_id])
    })

    test('is free to be sent again where its work failed in the end', async () => {
      const { someone, call } = await polygonOfSomebody()
      await other.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$;
      create trigger refuses before insert on history_item for each row execute function refuse()`)
      await postLate(call, 'history_item')
      await vi.waitFor(async () => {
        const { rows } = await other.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)
        expect(rows).toEqual([])
      }, PATIENCE)
      // The service may be about to keep what it has done: then one of the two gives way.
      await vi.waitFor(() => other.query('drop function refuse cascade'), PATIENCE)
      const anew = await answerInTheEnd(call)
      expect([anew.statusCode, anew.headers['idempotency-replayed']]).toEqual([200, undefined])
      expect(await namesIn(someone)).toEqual([anew.json().history_id])
    })

    test('is free to be sent again where it was begun too late', async () => {
      const { someone, call } = await polygonOfSomebody()
      const { pool } = service.database
      await other.query('begin; lock table idempotency_record in share row exclusive mode')
      const busy = Array.from({ length: pool.options.max }, () => pool.query('select pg_sleep(1.8)'))
      expect(codeOf(await post(call))).toEqual([503, 'DATABASE_UNAVAILABLE'])
      await other.query('commit')
      await Promise.all(busy)
      const anew = await answerInTheEnd(call)
      expect([anew.statusCode, anew.headers['idempotency-replayed']]).toEqual([200, undefined])
      expect(await namesIn(someone)).toEqual([anew.json().history_id])
    })

    test('is free to be sent again, once the network is back that swallowed that it had begun', async () => {
      const { someone, call } = await polygonOfSomebody()
      service.proxy.swallowAnswers()
      expect(codeOf(await post(call))).toEqual([503, 'DATABASE_UNAVAILABLE'])
      await service.proxy.mend()
      const anew = await answerInTheEnd(call)
      expect([anew.statusCode, anew.headers['idempotency-replayed']]).toEqual([200, undefined])
      expect(await namesIn(someone)).toEqual([anew.json().history_id])
    })

    test('is brought to its end by a process that is told to end', async () => {
      const { call } = await polygonOfSomebody()
      await other.query('truncate idempotency_record')
      await beginLate(call, 'history_item')
      const closed = service.app.close()
      await other.query('commit')
      await closed
      const { rows } = await other.query('select answer is not null as noted from idempotency_record')
      expect(rows).toEqual([{ noted: true }])
    })
  },
)
