import { sql } from 'kysely'
import pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Database } from '#src/data/database.ts'
import { outcomesOf } from '#test/history/advisories.ts'
import { createTestApp } from '#test/setup/app.ts'
import { type Called, call } from '#test/setup/calls.ts'
import { testServer } from '#test/setup/database.ts'
import { examine } from '#test/setup/examination.ts'
import { captureLog } from '#test/setup/log.ts'
import { openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'
import { createProxiedApp } from '#test/setup/proxied-app.ts'
import { executeOnServer } from '#test/setup/server.ts'
import { mountSmallDisk } from '#test/setup/small-disk.ts'

const POINT = { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' }

describe('a database that says no', () => {
  const service = openService()
  let other: pg.Client
  let name: string
  beforeAll(async () => {
    const url = service.testDatabase.config.DATABASE_URL as string
    name = new URL(url).pathname.slice(1)
    other = new pg.Client(url)
    await other.connect()
  })
  afterAll(async () => {
    await other.end()
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

  const send = (request: string, payload?: object) => service.ask(request, { by: service.person, payload })
  const rename = (to: string) => send('PATCH /user/profile', { name: to })
  const makeKey = (name: string) => send('POST /auth/keys', { name })
  const askPoint = () => send('POST /advisory/yield/point', POINT)

  function expectUnavailable({ status, headers, body }: Called, code = 'DATABASE_UNAVAILABLE') {
    expect([status, body.code, headers['retry-after']]).toEqual([503, code, '1'])
  }

  test('that it is read-only is a 503 for what writes, and what reads is answered', async () => {
    const { email, password, refresh_token } = service.person
    expect((await rename('Before')).status).toBe(200)
    await setForDatabase('set default_transaction_read_only = on')
    for (const answer of [
      await rename('Meanwhile'),
      await makeKey('meanwhile'),
      await send('POST /auth/login', { email, password }),
      await send('POST /auth/refresh', { refresh_token }),
    ]) {
      expectUnavailable(answer, 'DATABASE_READ_ONLY')
    }
    const point = await askPoint()
    expect([point.status, point.body.history_id]).toEqual([200, undefined])
    expect(outcomesOf(service.app)).toMatchObject({ kept: 0, lost: 1 })
    expect((await send('GET /catalog')).status).toBe(200)

    await setForDatabase('reset default_transaction_read_only')
    expect((await rename('Afterwards')).body.name).toBe('Afterwards')
  })

  test('that it accepts no connections is a 503, and is over when it does', async () => {
    await setForDatabase('allow_connections false')
    expectUnavailable(await rename('Meanwhile'))
    await setForDatabase('allow_connections true')
    expect((await rename('Open')).body.name).toBe('Open')
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
      expect((await rename('taken')).body.name).toBe('taken')
    })

    test('that transactions cannot be put in order is tried once more', async () => {
      await refuse('40001', 1)
      expect((await rename('in order')).body.name).toBe('in order')
      expect(await attempts()).toBe('2')
    })

    test('a deadlock, and another one, is a 503', async () => {
      await refuse('40P01', 2)
      expectUnavailable(await rename('refused'))
      expect(await attempts()).toBe('2')
    })
  })

  test('of a transaction that another one deadlocks with, it is done once, and nobody notices', async () => {
    // The request has its account and goes on once the other waits for it.
    const { rows: others } = await other.query('select pg_backend_pid() as pid')
    await other.query(`
      create sequence met;
      create function meet() returns trigger language plpgsql as $$ begin
        perform nextval('met');
        while exists (select from pg_locks where pid = tg_argv[0]::int and relation = 'audit_record'::regclass)
          and not exists (select from pg_locks where pid = tg_argv[0]::int and not granted)
        loop perform pg_sleep(0.01); end loop;
        return new;
      end $$;
      create trigger meet after insert on api_key for each row execute function meet(${others[0].pid})`)
    // Who looks for a deadlock is the one that is undone.
    await other.query("set deadlock_timeout = '10min'; begin; lock table audit_record in share mode")
    const made = makeKey('the only one')
    await vi.waitFor(async () => {
      const { rows } = await other.query(`
        select from pg_locks join pg_database on pg_database.oid = database
        where datname = current_database() and relation = 'app_user'::regclass and mode = 'RowShareLock'`)
      expect(rows).toHaveLength(1)
    }, PATIENCE)
    // A table is given in the order of who asked: the request that begins anew waits behind this one.
    await other.query('lock table app_user in exclusive mode')
    await other.query('commit')
    expect((await made).status).toBe(201)
    const { rows } = await other.query(
      `select (select count(*)::int from api_key where name = 'the only one') as keys,
        (select count(*)::int from audit_record where kind = 'key_made') as records,
        (select last_value::int from met) as attempts`,
    )
    expect(rows).toEqual([{ keys: 1, records: 1, attempts: 2 }])
    await other.query('drop trigger meet on api_key')
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
    expectUnavailable(await makeKey('no room'), 'DATABASE_READ_ONLY')
    expect((await askPoint()).status).toBe(200)
    expect((await examine(service.testDatabase)).of('database changes')).toEqual([
      ['error', `The tablespace ${name}_small has no room: histories are lost, and loads fail.`],
    ])

    await other.query('drop table ballast')
    expect((await makeKey('there is room')).status).toBe(201)
    await other.query(`alter table api_key set tablespace pg_default`)
    await other.query(`drop tablespace ${name}_small`)
  })
})

test('an outage is one line of the log when it begins and one when it is over, however many requests meet it', async () => {
  const service = await createProxiedApp({ LOG_LEVEL: 'warn', RELEASE_MAX_AGE_MS: '0' })
  const lines = captureLog(service.app)
  const by = await newPerson(service.app)
  lines.length = 0
  await service.proxy.cut()
  for (let time = 0; time < 40; time++) {
    const sent = { payload: POINT, by: time % 2 ? by : undefined }
    expect((await service.post('/advisory/yield/point', sent)).status).toBe(503)
  }
  expect(lines.join('')).not.toContain('    at ')
  service.proxy.mend()
  await service.close()
  const logged = lines.map((line) => JSON.parse(line)).filter(({ incident }) => incident)
  expect(logged).toEqual([
    expect.objectContaining({ level: 50, reqId: expect.any(String), reason: expect.any(String) }),
    expect.objectContaining({
      level: 40,
      msg: 'the incident is over',
      incident: 'DATABASE_UNAVAILABLE',
      seconds: expect.any(Number),
      last_failure: expect.stringMatching(/^\d{4}-.*Z$/),
      // On a busy machine work of the service's own may meet it too.
      failures: expect.objectContaining({
        'yieldAtPoint 503': 40,
        'a caller could not be looked up': 20,
      }),
    }),
  ])
})

test.each(['cut', 'stall'] as const)(
  "an outage that the service's own warm-up meets is none of clients: %s",
  async (fault) => {
    const service = await createProxiedApp({
      ...{ LOG_LEVEL: 'warn', STATEMENT_TIMEOUT_MS: '1000', RELEASE_MAX_AGE_MS: '0' },
    })
    const { app, proxy } = service
    const own = 'GET /advisory/isfm/point?lat=9&lng=38.7 HTTP/1.1\r\nhost: localhost\r\n\r\n'
    // The own connections end sooner than the deadline of what is asked by them.
    const warmUp = async () => app.sendWarmUp(Array(8).fill(own), 500)
    await warmUp()
    await proxy[fault]()
    const lines = captureLog(app)
    await warmUp()
    expect((await call(app, 'POST /advisory/yield/point', { payload: POINT })).status).toBe(503)
    await service.close()
    const failures = lines.flatMap((line) => Object.entries(JSON.parse(line).failures ?? {}))
    const answers = failures.filter(([failure]) => / \d{3}$/.test(failure))
    expect(answers).toEqual([['yieldAtPoint 503', 1]])
  },
)

test('a statement that fails is a 500 without SQL, and one line of the log with its stack, however many meet it', async () => {
  const prepare = ({ writer }: Database) =>
    sql`alter table publication rename to real_publication;
      create view publication as select * from real_publication
      where 1 / (select count(*) - count(*) from country) = 0`.execute(writer)
  const service = await createTestApp({ settings: { LOG_LEVEL: 'warn' }, prepare })
  const lines = captureLog(service.app)
  for (let time = 0; time < 20; time++) {
    const { status, body } = await service.get('/catalog')
    const error = 'Internal error. The request may be valid.'
    expect([status, body]).toEqual([500, { error, code: 'INTERNAL' }])
  }
  const { rows } = await sql`select code from country where code = 'eth'`.execute(service.database.reader)
  expect(rows).toEqual([{ code: 'eth' }])
  await service.close()
  const logged = lines.map((line) => JSON.parse(line))
  expect(logged).toEqual([
    expect.objectContaining({
      level: 50,
      reqId: expect.any(String),
      err: expect.objectContaining({
        message: 'division by zero',
        stack: expect.stringContaining('    at '),
      }),
    }),
    expect.objectContaining({ level: 40, msg: 'the incident is over', failures: { 'getCatalog 500': 20 } }),
  ])
})
