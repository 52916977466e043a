import type { LightMyRequestResponse } from 'fastify'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { testServer } from '#test/setup/database.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { executeOnServer } from '#test/setup/server.ts'
import { mountSmallDisk } from '#test/setup/small-disk.ts'

const POINT = { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' }

describe('a database that says no', () => {
  let service: TestAppWithPerson
  let other: pg.Client
  let name: string
  beforeAll(async () => {
    service = await createTestAppWithPerson()
    const url = service.testDatabase.config.DATABASE_URL as string
    name = new URL(url).pathname.slice(1)
    other = new pg.Client(url)
    await other.connect()
  })
  afterAll(async () => {
    await other.end()
    await service.close()
  })

  /** What is set for a database holds for the connections that are made afterwards. */
  async function setForDatabase(setting: string): Promise<void> {
    // From another database: nobody can close the one that they are connected to.
    await executeOnServer(testServer(), `alter database ${name} ${setting}`)
    await other.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()`,
      [name],
    )
    await vi.waitFor(() => expect(service.database.pool.totalCount).toBe(0), PATIENCE)
  }

  const send = (method: 'POST' | 'PATCH' | 'DELETE', url: string, payload?: object) =>
    service.app.inject({ method, url, headers: service.person.headers, ...(payload && { payload }) })
  const rename = (to: string) => send('PATCH', '/user/profile', { name: to })
  const askPoint = () => send('POST', '/advisory/yield/point', POINT)

  function expectUnavailable(
    { statusCode, headers, body }: LightMyRequestResponse,
    code = 'DATABASE_UNAVAILABLE',
  ) {
    expect([statusCode, JSON.parse(body).code, headers['retry-after']]).toEqual([503, code, '1'])
  }

  test('that it is read-only is a 503 for what writes, and what reads is answered', async () => {
    expect((await rename('Before')).statusCode).toBe(200)
    await setForDatabase('set default_transaction_read_only = on')
    for (const answer of [
      await rename('Meanwhile'),
      await send('POST', '/auth/keys', { name: 'meanwhile' }),
      await send('POST', '/auth/login', { email: service.person.email, password: service.person.password }),
      await send('POST', '/auth/refresh', { refresh_token: service.person.refresh_token }),
    ]) {
      expectUnavailable(answer, 'DATABASE_READ_ONLY')
    }
    const point = await askPoint()
    expect([point.statusCode, point.json().history_id]).toEqual([200, undefined])
    expect((await service.app.inject('/catalog')).statusCode).toBe(200)

    await setForDatabase('reset default_transaction_read_only')
    expect((await rename('Afterwards')).json().name).toBe('Afterwards')
  })

  test('that it accepts no connections is a 503, and is over when it does', async () => {
    await setForDatabase('allow_connections false')
    expectUnavailable(await rename('Meanwhile'))
    await setForDatabase('allow_connections true')
    expect((await rename('Open')).json().name).toBe('Open')
  })

  describe('with an SQLSTATE', () => {
    beforeAll(() =>
      other.query(`
        create sequence attempt;
        create function refuse() returns trigger language plpgsql as $$ begin
          if nextval('attempt') <= tg_argv[1]::int then
            raise 'refused' using errcode = tg_argv[0];
          end if;
          return new;
        end $$`),
    )
    afterEach(() => other.query('drop trigger refused on app_user; alter sequence attempt restart'))

    /** Has so many changes of accounts fail. */
    function refuse(state: string, times: number) {
      return other.query(
        `create trigger refused before update on app_user for each row execute function refuse('${state}', '${times}')`,
      )
    }

    const attempts = async () => (await other.query('select last_value from attempt')).rows[0].last_value

    test.each([
      ['out of memory', '53200', 'DATABASE_UNAVAILABLE'],
      ['that a lock is not to be had', '55P03', 'DATABASE_UNAVAILABLE'],
      ['that it starts up or recovers', '57P03', 'DATABASE_UNAVAILABLE'],
      ['that a file cannot be read', '58030', 'DATABASE_UNAVAILABLE'],
      ['that its disk is full', '53100', 'DATABASE_READ_ONLY'],
    ])('%s is a 503', async (_, state, code) => {
      await refuse(state, 1)
      expectUnavailable(await rename('refused'), code)
      expect((await rename('taken')).json().name).toBe('taken')
    })

    test('that transactions cannot be put in order is tried once more', async () => {
      await refuse('40001', 1)
      expect((await rename('in order')).json().name).toBe('in order')
      expect(await attempts()).toBe('2')
    })

    test('a deadlock, and another one, is a 503', async () => {
      await refuse('40P01', 2)
      expectUnavailable(await rename('refused'))
      expect(await attempts()).toBe('2')
    })
  })

  test('of a transaction that another one deadlocks with, it is done once, and nobody notices', async () => {
    // Whoever looks first is the one that is ended.
    await setForDatabase("set deadlock_timeout = '50ms'")
    await other.query("set deadlock_timeout = '1min'; begin; lock table audit_record in share mode")
    const made = send('POST', '/auth/keys', { name: 'the only one' })
    await vi.waitFor(async () => {
      const { rows } = await other.query(
        "select from pg_locks where relation = 'audit_record'::regclass and not granted",
      )
      expect(rows).toHaveLength(1)
    }, PATIENCE)
    // The request holds the account, and waits to be recorded.
    await other.query('select from app_user for update')
    await other.query('commit')
    expect((await made).statusCode).toBe(201)
    const { rows } = await other.query(
      `select (select count(*)::int from api_key where name = 'the only one') as keys,
        (select count(*)::int from audit_record where kind = 'key_made') as records`,
    )
    expect(rows).toEqual([{ keys: 1, records: 1 }])
    await setForDatabase('reset deadlock_timeout')
  })

  test('that its disk is full is a 503 on a real one, until there is room', async ({ skip }) => {
    const { rows } = await other.query("select current_setting('data_directory') as folder")
    const disk = mountSmallDisk(rows[0].folder)
    if (!disk) return skip('only root can mount a small disk, on the machine of the server')
    onTestFinished(disk.unmount)
    await other.query(`create tablespace ${name}_small location '${disk.folder}'`)
    // Without a page that has room left: `vacuum full` keeps what a transaction of any other database might still see.
    await other.query('truncate api_key cascade')
    await other.query(`
      alter table api_key set tablespace ${name}_small;
      create table ballast (bytes text) tablespace ${name}_small;
      alter table ballast alter column bytes set storage plain`)
    const fill = async () => {
      for (;;) await other.query("insert into ballast select repeat('x', 5000) from generate_series(1, 20)")
    }
    await expect(fill()).rejects.toMatchObject({ code: '53100' })
    expectUnavailable(await send('POST', '/auth/keys', { name: 'no room' }), 'DATABASE_READ_ONLY')
    expect((await askPoint()).statusCode).toBe(200)

    await other.query('drop table ballast')
    expect((await send('POST', '/auth/keys', { name: 'there is room' })).statusCode).toBe(201)
    await other.query(`alter table api_key set tablespace pg_default`)
    await other.query(`drop tablespace ${name}_small`)
  })
})
