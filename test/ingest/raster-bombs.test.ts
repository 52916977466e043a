// Runs on a server alone: the embedded database takes more memory than what is measured.
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { type MeasuredResult, measureAgro, runAgro } from '#test/setup/cli.ts'
import { newFolder } from '#test/setup/folders.ts'
import { ownDatabase } from '#test/setup/open-service.ts'
import { manifestText, writeManifest } from './fixtures.ts'
import { BOMBS, BOUND, LOADED, PROGRESS, SPARSE_MONTH } from './raster-bombs.ts'
import { writeTiff } from './tiff.ts'

const testDatabase = ownDatabase('empty')
const results: MeasuredResult[] = []

beforeAll(async () => {
  const bombs = BOMBS.map(async ([, options, , layer]) => {
    const folder = await newFolder()
    const file = await writeTiff(join(folder, 'bomb.tif'), options)
    expect((await stat(file)).size).toBeLessThan(5e6)
    return writeManifest(folder, manifestText([{ file, ...layer }], { allow: ['extent'] }))
  })
  const loaded = LOADED.map(async ([, write, settings]) => {
    const folder = await newFolder()
    return writeManifest(folder, manifestText(await write(folder), settings))
  })
  const commands = (await Promise.all([...bombs, ...loaded])).map((manifest) => ['ingest', manifest])
  results.push(...(await measureAgro(testDatabase, commands)))
})

test.each(BOMBS.map(([what, , says], index) => ({ what, says, index })))(
  'agro ingest takes 512 MiB at most and refuses $what',
  ({ says, index }) => {
    const { code, stderr, peakBytes } = results[index] as MeasuredResult
    const said = stderr.replace(PROGRESS, '').replace(/\S+\/(?=bomb)/, '')
    expect([code, said]).toEqual([1, expect.stringMatching(says)])
    expect(peakBytes).toBeLessThan(BOUND)
  },
)

test.each(LOADED.map(([what, , , tiles], index) => ({ what, tiles, index })))(
  'agro ingest takes 512 MiB at most and loads $what',
  ({ tiles, index }) => {
    const { code, stdout, stderr, peakBytes } = results[BOMBS.length + index] as MeasuredResult
    expect({ code, stderr: stderr.replace(PROGRESS, '') }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(new RegExp(` is published( instead of \\S+)?: ${tiles} tiles in [\\d.]+ s\\.\n$`))
    expect(peakBytes).toBeLessThan(BOUND)
  },
)

test('the statistics of a sparse file are those of what was written', async () => {
  const code = `yield-eth-wheat-${SPARSE_MONTH}-v1`
  const shown = JSON.parse((await runAgro(testDatabase, 'releases', 'show', code, '--json')).stdout)
  const statistics = { validCount: 16 * 16_400, minimum: 1000, maximum: 1499 }
  expect(shown.layers).toMatchObject([statistics])
})
