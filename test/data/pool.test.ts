import { sql } from 'kysely'
import type pg from 'pg'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { openCluster } from '#src/data/client.ts'
import type { Cluster, Database } from '#src/data/database.ts'
import { isDatabaseUnavailable } from '#src/data/failures.ts'
import { copyOutFrom, createPool } from '#src/data/pool.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { failureOf } from './failure.ts'
import { startTcpProxy, type TcpProxy } from './tcp-proxy.ts'

// Runs on a server alone: connections are the subject.

const testDatabase = ownDatabase('empty', { STATEMENT_TIMEOUT_MS: '200' })
let cluster: Cluster
let database: Database

beforeAll(async () => {
  cluster = await openCluster(testDatabase.config)
  database = cluster.connect()
})

afterAll(async () => {
  await database.close()
  await cluster.close()
})

/** Runs a statement as a request would: on a connection taken from the pool and given back. */
async function run(pool: pg.Pool, statement: string): Promise<unknown[]> {
  const client = await pool.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    client.release()
  }
}

describe('values', () => {
  test('arrive as numbers where SQL counts, and dates as they are written', async () => {
    const rows = await run(
      database.pool,
      "select count(*), 9007199254740991::bigint as big, date '2026-07-01'",
    )
    expect(rows).toEqual([{ count: 1, big: Number.MAX_SAFE_INTEGER, date: '2026-07-01' }])
  })
})

test('no statement is compiled, which would take longer than any of them', async () => {
  expect(await run(database.pool, 'show jit')).toEqual([{ jit: 'off' }])
})

describe('a statement that takes too long', () => {
  test('is ended and counts as an unavailable database; the next one works', async () => {
    const error = await failureOf(run(database.pool, 'select pg_sleep(30)'))
    expect(error.message).toBe('canceling statement due to statement timeout')
    expect(isDatabaseUnavailable(error)).toBe(true)
    await answers(database.pool)
  })

  test('may do so on a connection for maintenance', async () => {
    await database.close()
    const maintenance = cluster.connectForMaintenance()
    expect(await run(maintenance.pool, 'select 1 as x from pg_sleep(1)')).toEqual([{ x: 1 }])
    await maintenance.close()
    database = cluster.connect()
  })
})

test('a connection is waited for only so long', async () => {
  const pool = createPool({
    target: testDatabase.config.DATABASE_URL as string,
    size: 1,
    statementTimeout: 200,
  })
  const held = await connectTo(pool)
  const error = await failureOf(run(pool, 'select 1'))
  expect(error.message).toBe('timeout exceeded when trying to connect')
  expect(isDatabaseUnavailable(error)).toBe(true)
  held.release()
  await answers(pool)
  await pool.end()
})

describe('a connection that dies', () => {
  let other: pg.Pool

  beforeAll(() => {
    other = createPool({
      target: testDatabase.config.DATABASE_URL as string,
      size: 1,
      statementTimeout: 0,
    })
  })
  afterAll(() => other.end())

  async function terminate(pid: number): Promise<void> {
    await other.query('select pg_terminate_backend($1)', [pid])
  }

  async function pidOf(client: pg.PoolClient): Promise<number> {
    return (await client.query('select pg_backend_pid() as pid')).rows[0].pid
  }

  test('while idle in the pool is replaced', async () => {
    const client = await connectTo(database.pool)
    const pid = await pidOf(client)
    client.release()
    const before = database.pool.totalCount
    await terminate(pid)
    await vi.waitFor(() => expect(database.pool.totalCount).toBe(before - 1), PATIENCE)
    await answers(database.pool)
  })

  test('while idle in a transaction fails the transaction, and nothing of it is stored', async () => {
    await other.query('create table half (x int)')
    const transaction = database.writer.transaction().execute(async (trx) => {
      await sql`insert into half values (1)`.execute(trx)
      const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
      await terminate(rows[0]?.pid as number)
      await vi.waitFor(async () => {
        const { rows: left } = await other.query('select from pg_stat_activity where pid = $1', [
          rows[0]?.pid,
        ])
        expect(left).toEqual([])
      }, PATIENCE)
      await sql`insert into half values (2)`.execute(trx)
    })
    expect(isDatabaseUnavailable(await failureOf(transaction))).toBe(true)
    expect(await run(database.pool, 'select x from half')).toEqual([])
  })

  test('while it is held and idle is noticed by its holder and not given to the next', async () => {
    const client = await connectTo(database.pool)
    const ended = new Promise((resolve) => client.once('end', resolve))
    await terminate(await pidOf(client))
    await ended
    expect(isDatabaseUnavailable(await failureOf(client.query('select 1')))).toBe(true)
    client.release()
    await answers(database.pool)
  })

  test('during a statement fails that statement', async () => {
    const maintenance = cluster.connectForMaintenance()
    const client = await maintenance.pool.connect()
    const pid = await pidOf(client)
    const sleeping = failureOf(client.query('select pg_sleep(30)'))
    await vi.waitFor(async () => {
      const { rows } = await other.query('select state from pg_stat_activity where pid = $1', [pid])
      expect(rows).toEqual([{ state: 'active' }])
    }, PATIENCE)
    await terminate(pid)
    const error = await sleeping
    expect(error).toMatchObject({ code: '57P01' })
    expect(isDatabaseUnavailable(error)).toBe(true)
    client.release()
    expect(await run(maintenance.pool, 'select 1 as x')).toEqual([{ x: 1 }])
    await maintenance.close()
  })
})

describe('a network that swallows packets', () => {
  let proxy: TcpProxy
  let pool: pg.Pool

  beforeAll(async () => {
    proxy = await startTcpProxy(testDatabase.config.DATABASE_URL as string)
    pool = createPool({ target: proxy.url, size: 1, statementTimeout: 200 })
  })
  afterEach(() => proxy.mend())
  afterAll(async () => {
    await pool.end()
    await proxy.close()
  })

  test.for([
    ['a connection from the pool', () => run(pool, 'select 1')],
    ['pool.query', () => pool.query('select 1')],
    ['COPY', () => copyOutFrom({ run: (part) => part(pool) }, `select ''`)],
  ] as const)('ends the wait of %s at the deadline, and the connection', async ([, ask]) => {
    await answers(pool)
    proxy.stall()
    const error = await failureOf(ask())
    expect(error.message).toBe('no answer within 700 ms')
    expect(isDatabaseUnavailable(error)).toBe(true)
    expect(pool.totalCount).toBe(0)
    await proxy.mend()
    await answers(pool)
  })

  test('costs one statement its time: the connections that were idle meanwhile are given up with it', async () => {
    const several = createPool({ target: proxy.url, size: 3, statementTimeout: 1000 })
    await Promise.all([1, 2, 3].map(() => run(several, 'select pg_sleep(0.05)')))
    expect(several.idleCount).toBe(3)
    proxy.stall()
    await failureOf(run(several, 'select 1'))
    // What was stalled stays so.
    await proxy.mend()
    await answers(several)
    expect(several.totalCount).toBe(1)
    await several.end()
  })

  test('ends the wait for a new connection', async () => {
    await proxy.cut()
    await vi.waitFor(() => expect(pool.totalCount).toBe(0), PATIENCE)
    await proxy.mend()
    proxy.stall()
    const error = await failureOf(run(pool, 'select 1'))
    expect(error.message).toMatch(/^(timeout expired|Connection terminated due to connection timeout)$/)
    expect(isDatabaseUnavailable(error)).toBe(true)
  })
})

/** A connection, once a busy machine makes one in time. */
const connectTo = (pool: pg.Pool) => vi.waitFor(() => pool.connect(), PATIENCE)

/** Waits until a statement is answered. */
const answers = (pool: pg.Pool) =>
  vi.waitFor(async () => expect(await run(pool, 'select 1 as x')).toEqual([{ x: 1 }]), PATIENCE)
