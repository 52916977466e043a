import { randomUUID } from 'node:crypto'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { buildApp } from '#src/app.ts'
import { serverCluster } from '#src/data/client.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { type Called, type Client, clientOf } from '#test/setup/calls.ts'
import { openFor } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'
import { openProxiedApp } from '#test/setup/proxied-app.ts'

const FIELD = { country_code: 'eth', crop: 'wheat', geometry: rectangle(38.5, 9.5, 38.6, 9.6) }

interface Named {
  by: Person
  name?: string
  /** The service that is asked; by default the patient one. */
  of?: Client
}

describe('a request with an Idempotency-Key that is answered before its work is done', () => {
  const service = openProxiedApp({ STATEMENT_TIMEOUT_MS: '3000' })
  /** The same service whose statements go on long after the deadline of their request, until a test ends their wait. */
  const patient = openFor(async () => {
    const { databaseUrl, app } = service
    const database = serverCluster(databaseUrl, { ...app.config, STATEMENT_TIMEOUT_MS: 120_000 }).connect()
    const opened = await buildApp(app.config, database)
    return { app: opened, ...clientOf(opened), database, close: () => opened.close().then(database.close) }
  })
  let other: pg.Client
  beforeAll(async () => {
    // What is in memory stays out of it.
    for (const of of [service, patient]) await post({ by: await newPerson(of.app), of })
    other = new pg.Client(service.databaseUrl)
    await other.connect()
  })
  afterEach(async () => {
    await other.query('rollback')
    await other.query('drop function if exists refuse cascade')
    await service.proxy.mend()
  })
  afterAll(async () => {
    await other.end()
  })

  /** Asks for a polygon, under a name where one is given. */
  function post({ by, name, of = patient }: Named): Promise<Called> {
    const headers: Record<string, string> = name === undefined ? {} : { 'idempotency-key': name }
    return of.post('/advisory/yield', { by, payload: FIELD, headers })
  }

  const codeOf = ({ status, body }: Called) => [status, body.code]

  async function namesIn(by: Person, of: Named['of'] = patient): Promise<string[]> {
    const { items } = (await of.get('/history/my', { by })).body
    return items.map(({ id }: { id: string }) => id)
  }

  /** Somebody who is known, and the name of a polygon of theirs. */
  async function polygonOfSomebody(of?: Named['of']): Promise<Named> {
    const by = await newPerson(service.app)
    await namesIn(by, of)
    return { by, name: randomUUID(), of }
  }

  /** Has a request be late with what it writes: the table is locked. */
  async function beginLate(named: Named, table: string): Promise<void> {
    await other.query(`begin; lock table ${table} in share row exclusive mode`)
    expect(codeOf(await post(named))).toEqual([503, 'DATABASE_UNAVAILABLE'])
  }

  /** The same; what has locked the table lets it go once the request has been sent again. */
  async function postLate(named: Named, table: string): Promise<void> {
    await beginLate(named, table)
    expect(codeOf(await post(named))).toEqual([409, 'REQUEST_IN_PROGRESS'])
    await other.query('commit')
  }

  /** Sends it again until it is not in progress any more, over connections that lead somewhere; it is kept once then. */
  async function expectKept(named: Named, replayed: 'true' | undefined): Promise<void> {
    const { status, headers, body } = await vi.waitFor(async () => {
      const answer = await post(named)
      expect([409, 503]).not.toContain(answer.status)
      return answer
    }, PATIENCE)
    expect([status, headers['idempotency-replayed']]).toEqual([200, replayed])
    expect(await namesIn(named.by, named.of)).toEqual([body.history_id])
  }

  test('keeps a polygon once: sent again it is in progress, and then has the answer of the first', async () => {
    const named = await polygonOfSomebody()
    await postLate(named, 'history_item')
    await expectKept(named, 'true')
  })

  test('is free to be sent again where its work failed in the end', async () => {
    const named = await polygonOfSomebody()
    await other.query(`
      create function refuse() returns trigger language plpgsql as $$ begin raise 'no room'; end $$;
      create trigger refuses before insert on history_item for each row execute function refuse()`)
    await postLate(named, 'history_item')
    await vi.waitFor(async () => {
      const { rows } = await other.query(`select from pg_stat_activity where wait_event_type = 'Lock'`)
      expect(rows).toEqual([])
    }, PATIENCE)
    // The service may be about to keep what it has done: then one of the two gives way.
    await vi.waitFor(() => other.query('drop function refuse cascade'), PATIENCE)
    await expectKept(named, undefined)
  })

  test('is free to be sent again where it was begun too late', async () => {
    const named = await polygonOfSomebody()
    await other.query('begin; lock table idempotency_record in share row exclusive mode')
    expect(codeOf(await post(named))).toEqual([503, 'DATABASE_UNAVAILABLE'])
    await other.query('commit')
    await expectKept(named, undefined)
  })

  test('is free to be sent again, once the network is back that swallowed that it had begun', async () => {
    const named = await polygonOfSomebody(service)
    service.proxy.swallowAnswers()
    expect(codeOf(await post(named))).toEqual([503, 'DATABASE_UNAVAILABLE'])
    await service.proxy.mend()
    await expectKept(named, undefined)
  })

  test('is brought to its end by a process that is told to end', async () => {
    const named = await polygonOfSomebody()
    await other.query('truncate idempotency_record')
    await beginLate(named, 'history_item')
    const closed = patient.app.close()
    await other.query('commit')
    await closed
    const { rows } = await other.query('select answer is not null as noted from idempotency_record')
    expect(rows).toEqual([{ noted: true }])
  })
})
