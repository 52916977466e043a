import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import type { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { Cluster, Database } from '#src/data/database.ts'
import { lockFolder, openToOthers } from '#src/data/embedded/cluster.ts'
import { isDatabaseUnavailable } from '#src/data/failures.ts'
import { OperatorError } from '#src/errors.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { addressOf, startProcess, startService } from '#test/setup/service-process.ts'
import { CRASHING, failureOf } from './failure.ts'

// Runs on the embedded database alone.

const CRASHED = 'the embedded database failed inside this statement and was restarted'

/* A start takes seconds of computing: the tests of a database follow each other, in the order in which they are written. */

const testDatabase = ownDatabase('empty', { STATEMENT_TIMEOUT_MS: '100' })

describe('the embedded database', () => {
  const workers: Worker[] = []
  const keepWorker = (worker: Worker) => workers.push(worker)
  let cluster: Cluster
  let database: Database
  let isOpen = false

  beforeAll(async () => {
    process.on('worker', keepWorker)
    cluster = await openCluster(testDatabase.config)
    isOpen = true
    database = cluster.connectForMaintenance()
    await query('create table kept (x int)')
  })

  async function close(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    await Promise.all([database.close(), cluster.close()])
  }
  afterAll(async () => {
    process.off('worker', keepWorker)
    await close()
  })

  async function query(statement: string, values?: unknown[]): Promise<Record<string, unknown>[]> {
    return (await database.pool.query(statement, values)).rows
  }

  /** Does something and counts how often the main thread had a turn meanwhile. */
  async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
    let turns = 0
    const timer = setInterval(() => turns++, 5)
    await work().finally(() => clearInterval(timer))
    return turns
  }

  test('a statement with parameters that fails in GEOS is an error, and its transaction is not committed', async () => {
    let failure: Error | undefined
    const failing = database.writer.transaction().execute(async (trx) => {
      await sql`insert into kept values (4)`.execute(trx)
      const overlay = sql`
        select st_area(st_intersection(
          'POLYGON((0 0,1 1,1 0,0 1,0 0))'::geometry, 'POLYGON((0 0,1 0,1 0.7,0 0.7,0 0))'::geometry
        )) where 1 = ${1}::int`.execute(trx)
      failure = await failureOf(overlay)
      throw failure
    })
    await failureOf(failing)
    expect(failure?.message).toBe(CRASHED)
    expect(await query('select x from kept where x = $1', [4])).toEqual([])
  })

  test('a statement that crashes it takes its transaction and the prepared statements with it, and nothing that was committed; those that wait behind it are answered, by a new instance', async () => {
    await query('insert into kept values (1)')
    const prepared = { name: 'doubled', text: 'select $1::int * 2 as x' }
    expect((await database.pool.query({ ...prepared, values: [2] })).rows).toEqual([{ x: 4 }])
    const crashed = database.writer.transaction().execute(async (trx) => {
      await sql`insert into kept values (2)`.execute(trx)
      const failure = await failureOf(sql.raw(`select ${CRASHING}`).execute(trx))
      expect(failure.message).toBe(CRASHED)
      // Whoever asks so again would crash it again: it is answered 500.
      expect(isDatabaseUnavailable(failure)).toBe(false)
      await sql`insert into kept values (3)`.execute(trx)
    })
    const [failure, ...after] = await Promise.all([
      failureOf(crashed),
      query('select 2 as x'),
      query('select 3 as x'),
    ])
    expect(isDatabaseUnavailable(failure)).toBe(true)
    expect(after).toEqual([[{ x: 2 }], [{ x: 3 }]])
    expect(await query('select x from kept')).toEqual([{ x: 1 }])
    // Their names can be used again.
    for (const value of [3, 4]) {
      expect((await database.pool.query({ ...prepared, values: [value] })).rows).toEqual([{ x: value * 2 }])
    }
  })

  test('a statement is ended at the deadline, and the main thread goes on meanwhile', async () => {
    await database.close()
    database = cluster.connect()
    const turns = await turnsDuring(async () => {
      // Nothing in the thread waits without computing: `pg_sleep` is no other case.
      const error = await failureOf(query('select count(*) from generate_series(1, 1e10::bigint)'))
      expect(error.message).toBe('no answer within 4600 ms')
      expect(isDatabaseUnavailable(error)).toBe(true)
    })
    // A statement on the main thread would hold it up for the whole 4600 ms.
    expect(turns).toBeGreaterThan(10)
    await database.close()
    database = cluster.connectForMaintenance()
    expect(await query('select 1 as x')).toEqual([{ x: 1 }])
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

  test('an answer of 20 MB comes in pieces, so that neither thread holds it twice', async () => {
    const sizes: number[] = []
    const note = (message: { bytes: Uint8Array }) => sizes.push(message.bytes?.length ?? Number.NaN)
    const worker = workers.at(-1) as Worker
    worker.on('message', note)
    onTestFinished(() => void worker.off('message', note))
    await query("select repeat('x', 1000) from generate_series(1, 20000)")
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThan(20e6)
    expect(Math.max(...sizes)).toBeLessThan(100_000)
  })

  test('the thread keeps nothing of 40 MB that were read', async () => {
    const readMegabyte = () => query("select i, repeat('x', 1000) as text from generate_series(1, 1000) as i")
    await readMegabyte()
    const worker = workers.at(-1) as Worker
    const before = await heldBy(worker)
    for (let megabyte = 0; megabyte < 40; megabyte++) expect(await readMegabyte()).toHaveLength(1000)
    expect((await heldBy(worker)) - before).toBeLessThan(5e6)
  })

  test('a statement that crashes it in the middle of its rows gives none of them', async () => {
    const crashing = `
      select repeat('x', 1000), case when i = 1000 then ${CRASHING} end from generate_series(1, 1000) as i`
    expect((await failureOf(query(crashing))).message).toBe(CRASHED)
    expect(await query('select 4 as x')).toEqual([{ x: 4 }])
  })

  test('one that fails in the middle of its rows gives its error, and the session goes on', async () => {
    const client = await database.pool.connect()
    onTestFinished(() => client.release())
    await client.query('create temp table of_session (x int)')
    const failing = client.query(
      "select repeat('x', 1000), 1 / (1000 - i) from generate_series(1, 1000) as i",
    )
    expect(await failureOf(failing)).toMatchObject({ code: '22012' })
    expect((await client.query('select count(*) from of_session')).rows).toEqual([{ count: 0 }])
  })

  test('statements that wait behind one that fails have their own answers', async () => {
    const client = await database.pool.connect()
    onTestFinished(() => client.release())
    const failing = failureOf(client.query('select 1 / $1::int', [0]))
    const others = [1, 2, 3].map((value) => client.query('select $1::int as x', [value]))
    expect(await failing).toMatchObject({ code: '22012' })
    expect((await Promise.all(others)).map(({ rows }) => rows)).toEqual([[{ x: 1 }], [{ x: 2 }], [{ x: 3 }]])
  })

  test('what the environment says about servers is not for the embedded database', async () => {
    vi.stubEnv('PGSSLMODE', 'require')
    vi.stubEnv('PGOPTIONS', '-c search_path=nowhere')
    const client = await database.pool.connect()
    client.release(true)
    expect(await query('select count(*) from kept where x = 1')).toEqual([{ count: 1 }])
    vi.unstubAllEnvs()
  })

  test('closing waits for the statement under way', async () => {
    const inserted = query('insert into kept select 7 from pg_sleep(0.3) returning x')
    await vi.waitFor(() => expect(database.pool.idleCount).toBe(0), PATIENCE)
    await close()
    expect(await inserted).toEqual([{ x: 7 }])
  })
})

/** Loaded into a service: SIGUSR2 fills the heap of the thread of its database. */
const FILLS_THREAD = `
  import { BroadcastChannel, isMainThread } from 'node:worker_threads'
  const channel = new BroadcastChannel('fill')
  channel.unref()
  if (isMainThread) process.on('SIGUSR2', () => channel.postMessage('fill'))
  else channel.onmessage = () => {
    const held = []
    while (held.length < 750) held.push(new Array(100_000).fill(0.5))
    console.log(held.length * 0.8 + ' MB are held')
  }`

describe('the folder of the embedded database', () => {
  let folder: string
  beforeAll(() => {
    folder = testDatabase.config.DATA_DIR
  })

  async function refusalOf(path: string): Promise<string> {
    const error = await failureOf(openCluster(loadConfig({ DATA_DIR: path })))
    expect(error).toBeInstanceOf(OperatorError)
    return error.message
  }

  test('is refused to others while a process holds it, who are told the holder; after kill -9 it is free', async () => {
    const holder = startProcess('test/data/folder-holder.ts', testDatabase.environment)
    await holder.prints(/committed/)
    expect(await runAgro(testDatabase, 'releases', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        new RegExp(
          `^The embedded database in ${folder} is in use by process ${holder.pid} on ${hostname()}, ` +
            'started [0-9TZ:.-]+\\. Stop that process first, or set DATABASE_URL: a PostgreSQL server can be shared\\.\n$',
        ),
      ),
    })
    holder.signal('SIGKILL')
    expect(await holder.ended).toBe('SIGKILL')
  })

  test('has what was committed before, and is closed to others when it is opened, whatever a backup has left open', async () => {
    for (const path of await readdir(folder, { recursive: true })) await chmod(join(folder, path), 0o755)
    await chmod(folder, 0o755)
    const said: string[] = []
    const cluster = await openCluster(testDatabase.config, (message) => said.push(message))
    expect(said).toContain(`closed ${folder} to other users of this machine, who could read it`)
    const database = cluster.connectForMaintenance()
    const { rows } = await database.pool.query('select count(*), min(x), max(x) from committed')
    expect(rows).toEqual([{ count: 1000, min: 1, max: 1000 }])
    const { rows: kept } = await database.pool.query('select x from kept where x in (1, 7) order by x')
    expect(kept).toEqual([{ x: 1 }, { x: 7 }])
    expect(await refusalOf(folder)).toContain(
      `The embedded database in ${folder} is in use by process ${process.pid} on ${hostname()}`,
    )
    await database.pool.query('create table written as select generate_series(1, 1000)')
    expect(await openToOthers(folder)).toEqual([])
    await database.close()
    await cluster.close()
    expect(await openToOthers(folder)).toEqual([])
    await (await lockFolder(folder)).close()
  })

  test('is opened again where its thread has filled the memory that it may have, and it may have 600 MB by no means', async () => {
    const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(FILLS_THREAD)}`
    const service = startService({ ...testDatabase.environment, NODE_OPTIONS })
    const address = await addressOf(service)
    service.signal('SIGUSR2')
    const [ended] = await service.prints(/600 MB are held|the embedded database ended.*/)
    expect(ended).toBe(
      'the embedded database ended: Worker terminated due to reaching memory limit: JS heap out of memory; opening it again',
    )
    await service.prints(/the embedded database is open again/)
    await expect.poll(async () => (await fetch(`${address}/catalog`)).status, PATIENCE).toBe(200)
    service.signal('SIGTERM')
    expect(await service.ended).toBe(0)
  })

  test('that holds something else than a database is refused in a sentence', async () => {
    await writeFile(join(folder, 'postgres/global/pg_control'), 'not this')
    expect(await refusalOf(folder)).toBe(
      `In ${folder} the embedded database could not be started: could not read file "global/pg_control": ` +
        'read 8 of 296. Its files are damaged: put back a backup, or move them away to begin anew.',
    )
    // It may be the operator's only copy: nothing is removed.
    expect(await readFile(join(folder, 'postgres/global/pg_control'), 'utf8')).toBe('not this')
  })

  /** What others than its owner may do anything with, of a folder and all that is in it. */
  async function openIn(folder: string): Promise<string[]> {
    const paths = [folder, ...(await readdir(folder, { recursive: true })).map((name) => join(folder, name))]
    const modes = await Promise.all(paths.map(async (path) => (await stat(path)).mode))
    return paths.filter((_, index) => ((modes[index] as number) & 0o077) !== 0)
  }

  test('is made whole by the next start after a first start that was killed half-way, and is its user’s alone', async () => {
    // Spaces and letters of any script may be in its path.
    const folder = join(await newFolder(), 'données de la saison', 'የአየር ሁኔታ 🌾')
    const start = startProcess('test/data/folder-holder.ts', { DATA_DIR: folder })
    const isBegun = () => expect(existsSync(join(folder, 'postgres/base'))).toBe(true)
    await vi.waitFor(isBegun, { ...PATIENCE, interval: 5 })
    start.signal('SIGKILL')
    await start.ended
    expect(existsSync(join(folder, 'unfinished'))).toBe(true)
    const cluster = await openCluster(loadConfig({ DATA_DIR: folder }))
    expect(existsSync(join(folder, 'unfinished'))).toBe(false)
    const database = cluster.connectForMaintenance()
    await database.pool.query('create table kept as select 1 as x')
    expect((await database.pool.query('select x from kept')).rows).toEqual([{ x: 1 }])
    expect(await openIn(folder)).toEqual([])
    await database.close()
    await cluster.close()
    expect(await openIn(folder)).toEqual([])
  })

  test('that is a file is refused in a sentence', async () => {
    const path = join(await newFolder(), 'a file')
    await writeFile(path, '')
    expect(await refusalOf(path)).toMatch(
      /^The folder .* cannot be used for the embedded database: E[A-Z]+: .*\. Set DATA_DIR to one that can be written to\.$/,
    )
  })
})

/** The bytes that a thread holds, without garbage: of JavaScript's objects, and of memory outside of its heap. */
async function heldBy(worker: Worker): Promise<number> {
  const { snapshot, nodes } = (await json(await worker.getHeapSnapshot())) as {
    snapshot: { meta: { node_fields: string[] } }
    nodes: number[]
  }
  const fields = snapshot.meta.node_fields
  const size = fields.indexOf('self_size')
  return nodes.reduce((sum, value, index) => sum + (index % fields.length === size ? value : 0), 0)
}
