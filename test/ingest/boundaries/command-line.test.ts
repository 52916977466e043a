// Runs on a server alone: each command opens the database, and the words are the same on both.
import { join } from 'node:path'
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

test('the command line says what had to be guessed about a file, and --strict lets nothing be guessed', async () => {
  const testDatabase = await createTestDatabase('empty')
  const path = join(import.meta.dirname, '../../fixtures/boundaries/encoding-unlabelled-1252.zip')
  const load = (...more: string[]) =>
    runAgro(testDatabase, 'boundaries', path, '--country', 'eth', '--level', '1', ...more)
  const guess =
    'encoding-unlabelled-1252.zip/areas.shp does not say what its texts are in, and they are not UTF-8: they are read as Windows-1252. If names look damaged, give --encoding.'
  const strict = await load('--strict')
  const unknown = await load('--encoding', 'klingon')
  const guessed = await load('--json')
  const given = await load('--encoding', 'windows-1252', '--strict')
  await testDatabase.drop()
  expect([strict.code, strict.stderr]).toEqual([1, `${guess} --strict does not let that pass.\n`])
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    '--encoding must be an encoding that is known, such as utf-8, windows-1252 or 850, not klingon.\n',
  ])
  expect([guessed.code, guessed.stderr]).toEqual([0, `note: ${guess}\n`])
  expect(JSON.parse(guessed.stdout).report).toMatchObject({ added: 2, notes: [guess] })
  // The same bytes, but not the same decisions.
  expect([given.code, given.stdout, given.stderr]).toEqual([
    0,
    'Now level 1 of Ethiopia has 2 areas: 0 new, 2 with a code that was there, 0 removed.\n',
    '',
  ])
})
