import { existsSync } from 'node:fs'
import { chmod, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { openCluster } from '#src/data/client.ts'
import { lockFolder, openToOthers } from '#src/data/embedded/cluster.ts'
import { OperatorError } from '#src/errors.ts'
import { createTestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { addressOf, startProcess, startService } from '#test/setup/service-process.ts'
import { failureOf } from './failure.ts'

// Runs on the embedded database alone.

describe('the folder of the embedded database', () => {
  let scratch: string
  beforeAll(async () => {
    scratch = await newFolder()
  })

  test('is refused to others while a process holds it, who are told the holder; after kill -9 it is free, and what was committed is there', async () => {
    const testDatabase = await createTestDatabase('empty')
    onTestFinished(() => testDatabase.drop())
    const folder = testDatabase.config.DATA_DIR
    const holder = startProcess('test/data/folder-holder.ts', testDatabase.environment)
    await holder.prints(/committed/)

    const refusal = new RegExp(
      `^(agro: )?The embedded database in ${folder} is in use by process ${holder.pid} on ${hostname()}, ` +
        'started [0-9TZ:.-]+\\. Stop that process first, or set DATABASE_URL: a PostgreSQL server can be shared\\.\n$',
    )
    const service = startService(testDatabase.environment)
    expect(await service.ended).toBe(1)
    expect(service.stderr()).toMatch(refusal)
    const cli = startProcess('src/cli/agro.ts', testDatabase.environment, 'releases', 'list')
    expect(await cli.ended).toBe(1)
    expect(cli.stderr()).toMatch(refusal)

    holder.signal('SIGKILL')
    expect(await holder.ended).toBe('SIGKILL')
    const cluster = await openCluster(testDatabase.config)
    const database = cluster.connectForMaintenance()
    const { rows } = await database.pool.query('select count(*), min(x), max(x) from committed')
    expect(rows).toEqual([{ count: 1000, min: 1, max: 1000 }])

    const refused = failureOf(openCluster(testDatabase.config))
    expect((await refused).message).toContain(
      `The embedded database in ${folder} is in use by process ${process.pid} on ${hostname()}`,
    )
    await database.close()
    await cluster.close()
    await (await lockFolder(folder)).close()
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
    const service = startService({ DATA_DIR: folder, DEMO_DATA: 'false' })
    const address = await addressOf(service)
    expect(existsSync(join(folder, 'unfinished'))).toBe(false)
    const registered = await fetch(`${address}/auth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'amina@example.org', password: 'teff grows at dawn', name: 'Amina' }),
    })
    expect(registered.status).toBe(201)
    expect(await openIn(folder)).toEqual([])
    service.signal('SIGTERM')
    expect(await service.ended).toBe(0)
    expect(await openIn(folder)).toEqual([])
  })

  test('that a backup has left open is closed to others when it is opened', async () => {
    const { config, drop } = await createTestDatabase('empty')
    onTestFinished(drop)
    const folder = config.DATA_DIR
    for (const path of await readdir(folder, { recursive: true })) await chmod(join(folder, path), 0o755)
    await chmod(folder, 0o755)
    const said: string[] = []
    const cluster = await openCluster(config, (message) => said.push(message))
    expect(said).toContain(`closed ${folder} to other users of this machine, who could read it`)
    const database = cluster.connectForMaintenance()
    await database.pool.query('create table written as select generate_series(1, 1000)')
    expect(await openToOthers(folder)).toEqual([])
    await database.close()
    await cluster.close()
    expect(await openToOthers(folder)).toEqual([])
  })

  /** Why the database in a folder cannot be opened. */
  async function refusalOf(folder: string): Promise<string> {
    const error = await failureOf(openCluster(loadConfig({ DATA_DIR: folder })))
    expect(error).toBeInstanceOf(OperatorError)
    return error.message
  }

  test('that holds something else than a database is refused in a sentence', async () => {
    const testDatabase = await createTestDatabase('empty')
    const folder = testDatabase.config.DATA_DIR
    await writeFile(join(folder, 'postgres/global/pg_control'), 'not this')
    expect(await refusalOf(folder)).toBe(
      `In ${folder} the embedded database could not be started: could not read file "global/pg_control": ` +
        'read 8 of 296. Its files are damaged: put back a backup, or move them away to begin anew.',
    )
    // It may be the operator's only copy: nothing is removed.
    expect(await readFile(join(folder, 'postgres/global/pg_control'), 'utf8')).toBe('not this')
    await testDatabase.drop()
  })

  test('that is a file is refused in a sentence', async () => {
    const path = join(scratch, 'a file')
    await writeFile(path, '')
    expect(await refusalOf(path)).toMatch(
      /^The folder .* cannot be used for the embedded database: E[A-Z]+: .*\. Set DATA_DIR to one that can be written to\.$/,
    )
  })
})
