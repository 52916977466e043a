import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { loadRelease } from '#src/ingest/load.ts'
import { OUTLOOK } from '#test/advice/certainty/releases.ts'
import { runAgro } from '#test/setup/cli.ts'
import { withDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'

const testDatabase = ownDatabase('empty')

test('agro scorecard scores the odds and ranges of a release against a file', async () => {
  await withDatabase(testDatabase, (database) => loadRelease(database, OUTLOOK))
  const file = join(await newFolder(), 'trials.csv')
  // The yield of Normal five times, and five yields of a season that is named.
  const near = Array(5).fill('9.5,38.2,2000,')
  const named = Array(5).fill('9.5,38.2,2900,below normal')
  await writeFile(file, ['lat,lng,yield_kg_ha,scenario', ...near, ...named].join('\n'))
  const parameters = ['scorecard', 'yield-eth-wheat-2026-07-v1', '--observations', file, '--json']
  const { stdout } = await runAgro(testDatabase, ...parameters)
  const { odds } = JSON.parse(stdout)
  expect(odds).toMatchObject({ count: 10, told: 5 })
  // By hand, of 0.5, 0.3 and 0.2: 0.25 + 0.49 + 0.04, and 0.25 + 0.09 + 0.64.
  expect(odds.brier).toBeCloseTo((0.78 + 0.98) / 2, 12)

  // As a spreadsheet saves it, with decimal commas and rows that were once used.
  const rows = [...near, ...named].map((row) => row.replaceAll(',', ';').replaceAll('.', ','))
  const table = ['sep=;', 'lat;lng;yield_kg_ha;scenario', ';;;', ...rows, ' ;;;', ';;;'].join('\r\n')
  await writeFile(file, Buffer.from(`\ufeff${table}`, 'utf16le'))
  const again = await runAgro(testDatabase, ...parameters)
  expect(JSON.parse(again.stdout)).toEqual(JSON.parse(stdout))

  await writeFile(file, Buffer.from('lat,lng,yield_kg_ha,site\n9.5,38.2,2000,é\n', 'latin1'))
  const { stderr } = await runAgro(testDatabase, ...parameters)
  expect(stderr).toContain('trials.csv is not UTF-8, from line 2 on (probably Windows-1252).')
})
