import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import { lockFolder, openToOthers } from '#src/data/embedded/cluster.ts'
import { OperatorError } from '#src/errors.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { startProcess, startService } from '#test/setup/service-process.ts'
import { failureOf } from './failure.ts'

// Runs on the embedded database alone.

describe.sequential('the folder of the embedded database', () => {
  let scratch: string
  let testDatabase: TestDatabase
  let folder: string
  beforeAll(async () => {
    scratch = await newFolder()
    testDatabase = await createTestDatabase('empty')
    folder = testDatabase.config.DATA_DIR
  })
  afterAll(() => testDatabase.drop())

  test('is refused to others while a process holds it, who are told the holder; after kill -9 it is free', async () => {
    const holder = startProcess('test/data/folder-holder.ts', testDatabase.environment)
    await holder.prints(/committed/)
    const refusal = new RegExp(
      `^(agro: )?The embedded database in ${folder} is in use by process ${holder.pid} on ${hostname()}, ` +
        'started [0-9TZ:.-]+\\. Stop that process first, or set DATABASE_URL: a PostgreSQL server can be shared\\.\n$',
    )
    const service = startService(testDatabase.environment)
    expect(await runAgro(testDatabase, 'releases', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(refusal),
    })
    expect([await service.ended, service.stderr()]).toEqual([1, expect.stringMatching(refusal)])
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

  async function refusalOf(path: string): Promise<string> {
    const error = await failureOf(openCluster(loadConfig({ DATA_DIR: path })))
    expect(error).toBeInstanceOf(OperatorError)
    return error.message
  }

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

  test('is made whole by the next start after first starts that were killed half-way, and is its user’s alone', async () => {
    // Spaces and letters of any script may be in its path.
    const folder = join(scratch, 'données de la saison', 'የአየር ሁኔታ 🌾')
    const moments = ['lock', 'unfinished', 'postgres/base']
    for (const moment of moments) {
      const start = startProcess('test/data/folder-holder.ts', { DATA_DIR: folder })
      const isThere = () => expect(existsSync(join(folder, moment))).toBe(true)
      await vi.waitFor(isThere, { ...PATIENCE, interval: 5 })
      start.signal('SIGKILL')
      await start.ended
      expect(existsSync(join(folder, 'unfinished')) || moment === 'lock').toBe(true)
    }
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
    const path = join(scratch, 'a file')
    await writeFile(path, '')
    expect(await refusalOf(path)).toMatch(
      /^The folder .* cannot be used for the embedded database: E[A-Z]+: .*\. Set DATA_DIR to one that can be written to\.$/,
    )
  })
})
