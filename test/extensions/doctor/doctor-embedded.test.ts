// Runs on the embedded database alone: there are other things to say of it.
import { describe, expect, test } from 'vitest'
import { closeToOthers, lockFolder } from '#src/data/embedded/cluster.ts'
import { examine } from '#test/setup/examination.ts'
import { ownDatabase } from '#test/setup/open-service.ts'

const testDatabase = ownDatabase('empty')

const examined = (settings?: Record<string, string>) => examine(testDatabase, settings)

describe('the doctor of an embedded database', () => {
  test('says who has it, and looks at the rest; when it is free, it looks into it', async () => {
    const { DATA_DIR } = testDatabase.config
    await closeToOthers(DATA_DIR)
    const lock = await lockFolder(DATA_DIR)
    const locked = await examined()
    expect(locked.code).toBe(3)
    expect(locked.of('database open')).toEqual([
      ['unknown', expect.stringContaining(`is in use by process ${process.pid} on `)],
    ])
    expect(locked.of('disk free')).toEqual([['ok', expect.stringMatching(/ are free for DATA_DIR\.$/)]])
    await lock.close()
    const free = await examined()
    expect(free.of('database open')).toEqual([])
    expect(free.of('versions postgresql')).toEqual([
      ['ok', expect.stringMatching(/^The database is PostgreSQL 1\d\.\d+ \(PGlite [\d.]+\)\.$/)],
    ])
    expect(free.of('schema migrations')).toEqual([['ok', expect.stringMatching(/up to date/)]])
    expect(free.findings.filter(({ level }) => ['unknown', 'error'].includes(level))).toEqual([])
  })

  test('makes no database where there is none', async () => {
    const { code, of } = await examined({ DATA_DIR: `${testDatabase.config.DATA_DIR}/none` })
    expect(code).toBe(3)
    expect(of('database open')).toEqual([
      ['unknown', expect.stringMatching(/^There is no embedded database in /)],
    ])
  })
})
