import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { smooth, writeField } from '#test/ingest/checks/rasters.ts'
import { manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'

let testDatabase: TestDatabase
let folder: string
const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)
const codeOf = (version: number, month = '2026-01') => `yield-eth-wheat-${month}-v${version}`

async function ingest(month: string, ...parameters: string[]): Promise<void> {
  const manifest = manifestText([{ file: 'field.tif' }], { forecast_period: month })
  await agro('ingest', await writeManifest(folder, manifest), '--force', ...parameters)
}

async function listed(): Promise<{ code: string; state: string; bytes: number }[]> {
  return JSON.parse((await agro('releases', 'list', '--json')).stdout)
}

beforeAll(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
  await writeField(folder, 'field.tif', smooth)
  // Of the month, the second is published, and would be rolled back to the first.
  for (const _ of [1, 2]) await ingest('2026-01')
  for (const _ of [3, 4, 5]) await ingest('2026-01', '--no-publish')
  await ingest('2026-02', '--no-publish')
})
afterAll(() => testDatabase.drop())

describe.sequential('agro releases prune', () => {
  test('says with --dry-run what would go, and deletes nothing', async () => {
    const { code, stdout } = await agro('releases', 'prune', '--keep', '2', '--dry-run')
    expect([code, stdout]).toEqual([0, `${codeOf(3)}\n`])
    expect(await listed()).toHaveLength(6)
  })

  test('asks before, and where nobody can be asked does nothing without --yes', async () => {
    const { code, stderr } = await agro('releases', 'prune', '--keep', '2')
    expect([code, stderr]).toEqual([
      1,
      `This deletes ${codeOf(3)} with all data, for good: there is no terminal to confirm it. Add --yes.\n`,
    ])
    expect(await listed()).toHaveLength(6)
  })

  test('keeps what is published, what that is rolled back to and the newest of the others', async () => {
    const { stdout } = await agro('releases', 'prune', '--keep', '0', '--yes', '--json')
    const gone = [codeOf(3), codeOf(4), codeOf(5), codeOf(1, '2026-02')]
    expect(JSON.parse(stdout)).toEqual({ deleted: gone, prunable: gone })
    expect((await listed()).map(({ code, state }) => [code, state])).toEqual([
      [codeOf(1), 'not published'],
      [codeOf(2), 'published'],
    ])
    expect((await agro('releases', 'prune', '--keep', '0')).stdout).toBe('There is nothing to delete.\n')
    expect((await agro('releases', 'rollback', codeOf(2))).code).toBe(0)
  })
})

test('agro releases list says what the rasters of each take', async () => {
  const [first] = await listed()
  // 80 tiles of 16 x 16 pixels of 4 bytes, and what describes each; those on the edge are smaller.
  expect(first?.bytes).toBeGreaterThan(150 * 115 * 4)
  expect(first?.bytes).toBeLessThan(80 * (16 * 16 * 4 + 100))
  const { stdout } = await agro('releases', 'list')
  expect(stdout).toMatch(/^RELEASE +STATE +SINCE \(UTC\) +SIZE +IN +SOURCE$/m)
  expect(stdout).toMatch(/ \d+(\.\d)? kB +database +A test$/m)
})
