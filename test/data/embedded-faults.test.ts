import { execFileSync } from 'node:child_process'
import { cp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { fillDisk, mountDisk, unmountDisk } from '#chaos/faults/disks.ts'
import { buildApp } from '#src/app.ts'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import type { Cluster, Database } from '#src/data/database.ts'
import { isDatabaseUnavailable } from '#src/data/failures.ts'
import type { App } from '#src/http/app.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { captureLog } from '#test/setup/log.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson } from '#test/setup/people.ts'
import { failureOf } from './failure.ts'

// Runs on the embedded database alone.

/** Room for the database and for what the tests write into it. */
const DISK_MB = 400

const POINT = {
  method: 'POST',
  url: '/advisory/yield/point',
  payload: { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' },
} as const

const FIELD = { country_code: 'eth', crop: 'wheat', geometry: rectangle(38.5, 9.5, 38.6, 9.6) }

describe('the embedded database, of a service that runs,', () => {
  const workers: Worker[] = []
  const keepWorker = (worker: Worker) => workers.push(worker)
  const said: string[] = []
  let testDatabase: TestDatabase
  let folder: string
  let isMounted: boolean
  let isOpen = false
  let cluster: Cluster
  let database: Database
  let app: App
  let lines: string[]

  beforeAll(async () => {
    process.on('worker', keepWorker)
    testDatabase = await createTestDatabase('demo', { RELEASE_MAX_AGE_MS: '100', LOG_LEVEL: 'error' })
    folder = await newFolder()
    // It takes root, and Linux.
    isMounted = mountDisk(folder, DISK_MB)
    await cp(testDatabase.config.DATA_DIR, folder, { recursive: true })
    await start()
    await query('create table kept (x int, text text)')
  })

  afterAll(async () => {
    process.off('worker', keepWorker)
    await stop()
    if (isMounted) unmountDisk(folder)
    await testDatabase.drop()
  })

  async function start(): Promise<void> {
    const config = loadConfig({ ...testDatabase.environment, DATA_DIR: folder })
    cluster = await openCluster(config, (message) => said.push(message))
    database = cluster.connect()
    app = await buildApp(config, database)
    lines = captureLog(app)
    isOpen = true
  }

  async function stop(): Promise<void> {
    if (!isOpen) return
    isOpen = false
    await app.close()
    await database.close()
    await cluster.close()
  }

  async function query(statement: string): Promise<Record<string, unknown>[]> {
    return (await database.pool.query(statement)).rows
  }

  async function crash(): Promise<void> {
    await workers.at(-1)?.terminate()
  }

  async function isReady(): Promise<boolean> {
    return (await app.inject('/health/ready')).statusCode === 200
  }

  test('comes back by itself after a crash; points in memory are answered all the while, a polygon and a saved field are not kept waiting, and what is under way gets a 503 at most', async () => {
    // It takes several seconds of computing to come back.
    const impatient = await buildApp({ ...app.config, STATEMENT_TIMEOUT_MS: 1000 }, database)
    onTestFinished(() => impatient.close())
    const { headers } = await newPerson(app)
    const askPolygon = async () => {
      const request = { method: 'POST', url: '/advisory/yield', headers, payload: FIELD } as const
      const { statusCode, json } = await impatient.inject(request)
      return [statusCode, json().code]
    }
    const askField = async () => {
      const { statusCode, json } = await impatient.inject({ url: '/advisory/yield?place=coop/1', headers })
      return [statusCode, json().code]
    }
    const features = [{ type: 'Feature', id: 1, geometry: FIELD.geometry, properties: null }]
    await app.inject({
      ...{ method: 'PUT', url: '/fields/coop', payload: { type: 'FeatureCollection', features } },
      headers: { ...headers, 'content-type': 'application/geo+json' },
    })
    await expect.poll(askPolygon, PATIENCE).toEqual([200, undefined])
    await expect.poll(askField, PATIENCE).toEqual([200, undefined])
    // With the names of areas in memory nothing else of the answer needs the database.
    expect((await impatient.inject('/places?name=Fiche')).statusCode).toBe(200)
    const before = await app.inject(POINT)
    expect(before.statusCode).toBe(200)
    said.length = 0
    const underWay = Promise.all(Array.from({ length: 20 }, () => app.inject('/catalog')))
    await crash()
    impatient.forgetCallers(() => true)
    const asked = [askPolygon(), askField()]
    let isBack = false
    const back = isReady().then((ready) => {
      isBack = ready
    })
    // A point that waits for the database would be the only one that is answered until it is back.
    let answered = 0
    for (; answered < 150 && !isBack; answered++) {
      const { statusCode, json } = await app.inject(POINT)
      expect([statusCode, json()]).toEqual([200, before.json()])
      await new Promise(setImmediate)
    }
    expect(answered).toBeGreaterThan(100)
    const away = [503, 'DATABASE_UNAVAILABLE']
    expect(await Promise.all(asked)).toEqual([away, away])
    await back
    await expect.poll(isReady, PATIENCE).toBe(true)
    expect(said).toEqual([
      'the embedded database ended; opening it again',
      'the embedded database is open again',
    ])
    for (const { statusCode, json } of await underWay) {
      if (statusCode === 200) continue
      expect(statusCode).toBe(503)
      // The latter waited in the queue.
      expect(['DATABASE_UNAVAILABLE', 'OVERLOADED']).toContain(json().code)
    }
    expect((await app.inject('/catalog')).statusCode).toBe(200)
    await expect.poll(askPolygon, PATIENCE).toEqual([200, undefined])
  })

  test('keeps its write-ahead log short', async () => {
    const redo = async () => (await query('select redo_lsn from pg_control_checkpoint()'))[0]?.redo_lsn
    const first = await redo()
    await expect
      .poll(async () => {
        await query("select pg_logical_emit_message(false, 'filler', repeat('x', 8000000))")
        return redo()
      }, PATIENCE)
      .not.toBe(first)
  })

  test('on a full disk stores nothing, says so, and goes on when there is room again', async (context) => {
    context.skip(!isMounted, 'a file system can be mounted by root alone')
    expect((await app.inject(POINT)).statusCode).toBe(200)
    await query("insert into kept values (1, 'before')")
    const ballast = fillDisk(folder)

    const large = sql`insert into kept select i, repeat(md5(i::text), 200) from generate_series(1, 5000) as i`
    expect(await failureOf(large.execute(database.writer))).toMatchObject({ code: '53100' })
    expect(await query('select x, text from kept')).toEqual([{ x: 1, text: 'before' }])

    // Where its log cannot grow, PostgreSQL ends, and cannot be started.
    said.length = 0
    let error: Error | undefined
    while (!error) {
      const logged = query("select pg_logical_emit_message(true, 'filler', repeat('x', 2000000))")
      error = await logged.then(() => undefined).catch((reason) => reason)
    }
    expect(error.message).toMatch(/^the embedded database ended: .*No space left on device$/)
    expect(isDatabaseUnavailable(error)).toBe(true)
    await expect.poll(() => said.length, PATIENCE).toBe(2)
    expect(said).toEqual([
      `${error.message}; opening it again`,
      expect.stringMatching(
        /^the embedded database could not be started: .*No space left on device\. Make room there\. It is tried again$/,
      ),
    ])
    const refused = await app.inject('/catalog')
    expect([refused.statusCode, refused.headers['retry-after'], refused.json()]).toEqual([
      503,
      '1',
      expect.objectContaining({ code: 'DATABASE_UNAVAILABLE' }),
    ])
    expect((await app.inject(POINT)).statusCode).toBe(200)

    await rm(ballast)
    await expect.poll(isReady, PATIENCE).toBe(true)
    expect(said.at(-1)).toBe('the embedded database is open again')
    await query("insert into kept values (2, 'after')")
    expect(await query('select x, text from kept')).toEqual([
      { x: 1, text: 'before' },
      { x: 2, text: 'after' },
    ])
  })

  test('with a damaged page answers 500 where that is read, and the log says what to do', async () => {
    const [file] = await query("select pg_relation_filepath('release') as path")
    await query('checkpoint')
    await crash()
    // What the new one has not read yet is not in its memory.
    const page = await open(join(folder, 'postgres', file?.path as string), 'r+')
    await page.write(Buffer.alloc(64, 0xff), 0, 64, 4000)
    await page.close()
    await expect.poll(isReady, PATIENCE).toBe(true)
    lines.length = 0
    const { statusCode, json } = await app.inject('/catalog')
    expect([statusCode, json().code]).toEqual([500, 'INTERNAL'])
    const damage = lines.map((line) => JSON.parse(line)).find(({ err }) => err)
    expect(damage.msg).toMatch(
      /^The files of the database are damaged \(invalid page in block 0 of relation "base\/\d+\/\d+"\): stop the service, and put back a backup\.$/,
    )
  })

  describe('when it is opened', () => {
    beforeAll(stop)

    test('of another version of PostgreSQL, it is refused in a sentence', async () => {
      const file = join(folder, 'postgres/PG_VERSION')
      const content = await readFile(file)
      onTestFinished(() => writeFile(file, content))
      await writeFile(file, '17\n')
      expect((await failureOf(start())).message).toBe(
        `In ${folder} the embedded database could not be started: database files are incompatible with server (The data directory was initialized by PostgreSQL version 17, ` +
          'which is not compatible with this version 18.3). ' +
          'Start the version of the service that made them, or put back a backup of this one.',
      )
    })

    test('on a read-only file system, it is refused in a sentence', async (context) => {
      context.skip(!isMounted, 'a file system can be mounted by root alone')
      execFileSync('mount', ['-o', 'remount,ro', folder])
      onTestFinished(() => void execFileSync('mount', ['-o', 'remount,rw', folder]))
      expect((await failureOf(start())).message).toBe(
        `The folder ${folder} cannot be used for the embedded database: EROFS: read-only file system, ` +
          `open '${folder}/lock'. Set DATA_DIR to one that can be written to.`,
      )
    })
  })
})
