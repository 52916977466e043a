// Runs on a server alone: a column is one on both databases.
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Database } from '#src/data/client.ts'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ingestManifest, kindFixture, manifestText, writeManifest } from './fixtures.ts'

let service: TestApp
beforeAll(async () => {
  const folder = await newFolder()
  const ingest = async (database: Database, file: string, settings: Record<string, unknown>) => {
    const text = manifestText([{ file: kindFixture(file) }], settings)
    return ingestManifest(database, await writeManifest(folder, text))
  }
  service = await createTestApp({
    template: 'empty',
    prepare: async (database) => {
      await ingest(database, 'jpeg.tif', { lossy: true, forecast_period: '2025-01' })
      await ingest(database, 'lerc-uint8.tif', { forecast_period: '2025-02' })
    },
  })
})
afterAll(() => service.close())

test('the catalog and the operator are told of a release that its manifest says it is lossy, and of no other', async () => {
  const { releases } = (await service.app.inject('/catalog')).json()
  expect(releases.map((release: { lossy?: true }) => release.lossy)).toEqual([undefined, true])
  const show = async (month: string, ...options: string[]) =>
    (await runAgro(service.testDatabase, 'releases', 'show', `yield-eth-wheat-${month}-v1`, ...options))
      .stdout
  expect(await show('2025-01')).toContain('\nlossy: a compression may have changed its values\n')
  expect(await show('2025-02')).not.toContain('lossy')
  expect(JSON.parse(await show('2025-01', '--json')).lossy).toBe(true)
  expect(JSON.parse(await show('2025-02', '--json')).lossy).toBe(false)
})
