import type { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type Cluster, type Database, openCluster } from '#src/data/client.ts'
import { isDatabaseUnavailable } from '#src/data/failures.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { CRASHING, failureOf } from './failure.ts'

// Runs on the embedded database alone.

const CRASHED = 'the embedded database failed inside this statement and was restarted'

describe('the embedded database', () => {
  const workers: Worker[] = []
  const keepWorker = (worker: Worker) => workers.push(worker)
  let testDatabase: TestDatabase
  let cluster: Cluster
  let database: Database

  beforeAll(async () => {
    process.on('worker', keepWorker)
    testDatabase = await createTestDatabase('empty', { STATEMENT_TIMEOUT_MS: '500' })
    cluster = await openCluster(testDatabase.config)
    database = cluster.connectForMaintenance()
    await query('create table kept (x int)')
  })

  afterAll(async () => {
    process.off('worker', keepWorker)
    await database.close()
    await cluster.close()
    await testDatabase.drop()
  })

  async function query(statement: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
    return (await database.pool.query(statement, values)).rows
  }

  /** Does something and measures how long the main thread was held up meanwhile, in milliseconds. */
  async function longestPauseDuring(work: () => Promise<unknown>): Promise<number> {
    let last = performance.now()
    let longest = 0
    const timer = setInterval(() => {
      const now = performance.now()
      longest = Math.max(longest, now - last)
      last = now
    }, 5)
    await work().finally(() => clearInterval(timer))
    return longest
  }

  describe('a statement that crashes it', () => {
    test('fails alone: those that wait behind it are answered, by a new instance', async () => {
      const [before, crashed, ...after] = await Promise.allSettled([
        query('select 1 as x'),
        query(`select ${CRASHING}`),
        query('select 2 as x'),
        query('select 3 as x'),
      ])
      expect(before).toMatchObject({ status: 'fulfilled', value: [{ x: 1 }] })
      expect(crashed).toMatchObject({ status: 'rejected', reason: { message: CRASHED } })
      // Whoever asks so again would crash it again: it is answered 500.
      expect(isDatabaseUnavailable((crashed as PromiseRejectedResult).reason)).toBe(false)
      expect(after).toMatchObject([{ value: [{ x: 2 }] }, { value: [{ x: 3 }] }])
    })

    test('takes its transaction and the prepared statements with it, and nothing that was committed', async () => {
      await query('insert into kept values (1)')
      const prepared = { name: 'doubled', text: 'select $1::int * 2 as x' }
      expect((await database.pool.query({ ...prepared, values: [2] })).rows).toEqual([{ x: 4 }])
      const transaction = database.writer.transaction().execute(async (trx) => {
        await sql`insert into kept values (2)`.execute(trx)
        expect((await failureOf(sql.raw(`select ${CRASHING}`).execute(trx))).message).toBe(CRASHED)
        await sql`insert into kept values (3)`.execute(trx)
      })
      expect(isDatabaseUnavailable(await failureOf(transaction))).toBe(true)
      expect(await query('select x from kept')).toEqual([{ x: 1 }])
      // Their names can be used again.
      for (const value of [3, 4]) {
        expect((await database.pool.query({ ...prepared, values: [value] })).rows).toEqual([{ x: value * 2 }])
      }
    })
  })

  test('a crash while nobody asks is not noticed by the next query', async () => {
    const ended = new Promise((resolve) => workers.at(-1)?.once('exit', resolve))
    await workers.at(-1)?.terminate()
    await ended
    expect(await query('select 1 as x')).toEqual([{ x: 1 }])
  })

  test('a statement is ended at the deadline, and the main thread goes on meanwhile', async () => {
    await database.close()
    database = cluster.connect()
    const pause = await longestPauseDuring(async () => {
      // Nothing in the thread waits without computing: `pg_sleep` is no other case.
      const error = await failureOf(query('select count(*) from generate_series(1, 1e10::bigint)'))
      expect(error.message).toBe('no answer within 5000 ms')
      expect(isDatabaseUnavailable(error)).toBe(true)
    })
    // A statement on the main thread would hold it up for the whole 5000 ms.
    expect(pause).toBeLessThan(2000)
    expect(await query('select 1 as x')).toEqual([{ x: 1 }])
    await database.close()
    database = cluster.connectForMaintenance()
  })

  test('hundreds of statements that fail leave the server as it was', async () => {
    const failing: [string, unknown[], string][] = [
      ['select 1 / $1::int', [0], '22012'],
      ['select * from nothing_of_this_name', [], '42P01'],
      ['select from', [], '42601'],
      ["do $$ begin perform 1 / 0; exception when division_by_zero then raise 'again'; end $$", [], 'P0001'],
      ['select st_geomfromtext($1)', ['POINT(1'], 'XX000'],
      ['insert into odd values ($1)', [2], '23514'],
    ]
    const client = await database.pool.connect()
    onTestFinished(() => client.release())
    await client.query('create table odd (x int check (x % 2 = 1))')
    const add = (x: number) => client.query('insert into odd values ($1)', [x])
    for (let round = 0; round < 30; round++) {
      for (const [text, values, code] of failing) {
        expect(await failureOf(client.query(text, values))).toMatchObject({ code })
      }
      await client.query('begin')
      await add(1)
      await client.query('savepoint here')
      expect(await failureOf(add(2))).toMatchObject({ code: '23514' })
      await client.query('rollback to here')
      await add(3)
      await client.query(round % 2 === 0 ? 'commit' : 'rollback')
    }
    const { rows } = await client.query('select count(*) as n, sum(x) as s from odd')
    expect(rows).toEqual([{ n: 30, s: 60 }])
    await client.query('drop table odd')
  })

  test('a connection leaves nothing of its session to the next one', async () => {
    const client = await database.pool.connect()
    await client.query({ name: 'left', text: 'select $1::int as x', values: [1] })
    await client.query('create temp table left_behind (x int)')
    await client.query('set search_path to pg_catalog')
    await client.query('select pg_advisory_lock(1)')
    await client.query('begin')
    await client.query('insert into public.kept values (99)')
    client.release(true)

    expect(await query('select x from kept where x = 99')).toEqual([])
    expect(await query("select to_regclass('left_behind') as x")).toEqual([{ x: null }])
    expect(await query('select count(*) from pg_locks where locktype = $1', ['advisory'])).toEqual([
      { count: 0 },
    ])
    const again = { name: 'left', text: 'select $1::int + 1 as x', values: [1] }
    expect((await database.pool.query(again)).rows).toEqual([{ x: 2 }])
  })

  test('a transaction has the database to itself', async () => {
    let outside: Promise<unknown> | undefined
    await database.writer.transaction().execute(async (trx) => {
      await sql`insert into kept values (50)`.execute(trx)
      outside = query('select count(*) from kept where x >= 50')
      await sql`insert into kept values (51)`.execute(trx)
    })
    expect(await outside).toEqual([{ count: 2 }])
  })

  test('a parameter of 5 MB and a result of 20 MB go through intact', async () => {
    const text = 'é0123456789'.repeat(500_000)
    expect(await query('select length($1) as length, md5($1) as md5, $1 = $2 as same', [text, text])).toEqual(
      [{ length: text.length, md5: expect.stringMatching(/^[0-9a-f]{32}$/), same: true }],
    )
    const [row] = await query("select repeat('0123456789', 2000000) as text")
    expect(row?.text).toBe('0123456789'.repeat(2_000_000))
    const rows = await query("select i, repeat('x', 1000) as text from generate_series(1, 20000) as i")
    expect(rows).toHaveLength(20_000)
    expect(rows.every(({ i, text }, index) => i === index + 1 && (text as string).length === 1000)).toBe(true)
  })

  test('what the environment says about servers is not for the embedded database', async () => {
    vi.stubEnv('PGSSLMODE', 'require')
    vi.stubEnv('PGOPTIONS', '-c search_path=nowhere')
    const client = await database.pool.connect()
    client.release(true)
    expect(await query('select count(*) from kept where x = 1')).toEqual([{ count: 1 }])
    vi.unstubAllEnvs()
  })

  test('closing waits for the statement under way, and what it did is kept', async () => {
    const inserted = query('insert into kept select 7 from pg_sleep(0.3) returning x')
    await vi.waitFor(() => expect(database.pool.idleCount).toBe(0), PATIENCE)
    await Promise.all([database.close(), cluster.close()])
    expect(await inserted).toEqual([{ x: 7 }])

    cluster = await openCluster(testDatabase.config)
    database = cluster.connect()
    expect(await query('select x from kept where x in (1, 7) order by x')).toEqual([{ x: 1 }, { x: 7 }])
  })
})
