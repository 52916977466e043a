// Runs on a server alone: each command opens the database, and the words are the same on both.
import { expect, test } from 'vitest'
import { boundaryFile, feature, rectangle } from '#test/setup/boundaries.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase } from '#test/setup/database.ts'

test('the command line prints the sentence alone, and fails', async () => {
  const testDatabase = await createTestDatabase('empty')
  // A rectangle of Ethiopia as it looks when latitude comes first.
  const path = await boundaryFile([feature({ code: 'A', name: 'Region A' }, rectangle(8, 37, 9, 38))])
  const load = (file: string, level: string) =>
    runAgro(testDatabase, 'boundaries', file, '--country', 'eth', '--level', level)
  const swapped = await load(path, '1')
  const missing = await load(`${path}.geojson`, '1')
  const wrongLevel = await load(path, '4')
  await testDatabase.drop()
  expect([swapped.code, swapped.stdout]).toEqual([1, ''])
  expect(swapped.stderr).toMatch(
    /^A \(feature 1 of areas\.geojson\) begins at 8, 37, .*did you mean lng, lat\?\n$/,
  )
  expect([missing.code, missing.stderr]).toEqual([1, `${path}.geojson does not exist.\n`])
  expect([wrongLevel.code, wrongLevel.stderr]).toEqual([
    2,
    expect.stringContaining('It must be 0, 1, 2 or 3.'),
  ])
})

test('the command line says what was loaded, and that the same file changes nothing, named or not', async () => {
  const testDatabase = await createTestDatabase('empty')
  const path = await boundaryFile([feature({ code: 'A', name: 'Region A' }, rectangle(37, 8, 38, 9))])
  const load = (...more: string[]) =>
    runAgro(testDatabase, 'boundaries', path, '--country', 'Ethiopia', '--level', '1', ...more)
  const first = await load('--source', 'OCHA', '--licence', 'CC BY-IGO')
  const second = await load('--source', 'OCHA', '--licence', 'CC BY-IGO')
  // Without them, what is known of the file stays: its licence may ask for that.
  const third = await load()
  await testDatabase.drop()
  const nothing = 'The same files are loaded as level 1 of Ethiopia: nothing to do.\n'
  expect([first.code, first.stdout]).toEqual([
    0,
    'Now level 1 of Ethiopia has 1 area: 1 new, 0 with a code that was there, 0 removed.\n',
  ])
  expect([second.code, second.stdout]).toEqual([0, nothing])
  expect([third.code, third.stdout]).toEqual([0, nothing])
})
