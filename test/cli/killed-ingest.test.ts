// Runs on the embedded database alone: a killed command leaves its folder to the next; loads.test.ts kills loads on a server.
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { fixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { writeTiff } from '#test/ingest/tiff.ts'
import { runAgro, startAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { PATIENCE } from '#test/setup/patience.ts'

/** Pixels on each side of a raster that is large enough to be killed over: eleven windows. */
const SIZE = 11 * 128

const published = 'yield-eth-wheat-2026-01-v1'
const incomplete = 'yield-eth-wheat-2026-01-v2'

let testDatabase: TestDatabase
let folder: string

const agro = (...parameters: string[]) => runAgro(testDatabase, ...parameters)

function manifest(name: string, file: string): Promise<string> {
  return writeManifest(
    folder,
    manifestText([{ file }], { forecast_period: '2026-01', allow: ['extent', 'range'] }),
    name,
  )
}

beforeAll(async () => {
  folder = await newFolder()
  testDatabase = await createTestDatabase('empty')
  const path = await manifest('small.yaml', fixture('type-int16.tif'))
  expect(await agro('ingest', path)).toMatchObject({ code: 0 })
  await killHalfWay()
})
afterAll(() => testDatabase.drop())

/** A raster that is large enough to be killed over, made of noise. */
async function killHalfWay(): Promise<void> {
  const row = Float32Array.from({ length: SIZE }, (_, column) => Math.sin(column) * 1000 + 2000)
  await writeTiff(join(folder, 'large.tif'), { width: SIZE, height: SIZE, row: () => row })
  const path = await manifest('large.yaml', 'large.tif')
  const load = startAgro(testDatabase, 'ingest', path)
  await vi.waitUntil(() => load.result.stderr.includes('loading: 30 %'), { ...PATIENCE, interval: 5 })
  load.kill('SIGKILL')
  const { code, stderr } = await load.ended
  expect(code).toBeNull()
  expect(stderr).not.toContain('loading: 100 %')
}

describe.sequential('an ingest that is killed half-way', () => {
  test('leaves the published release answering, and is listed as incomplete', async () => {
    const { stdout } = await agro('releases', 'list')
    const [, ...lines] = stdout.trim().split('\n')
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 2)).sort()).toEqual([
      // It is stale from February 2027 on.
      [published, expect.stringMatching(/^published\b/)],
      [incomplete, 'incomplete'],
    ])
  })

  test('is cleared away by the next load, which loads everything', async () => {
    const { code, stdout, stderr } = await agro('ingest', join(folder, 'large.yaml'))
    expect(code).toBe(0)
    const tiles = (SIZE / 16) ** 2
    expect(stdout).toMatch(
      new RegExp(`^${incomplete} is published instead of ${published}: ${tiles} tiles in \\d+\\.\\d s\\.\n$`),
    )
    const lines = Array.from({ length: 11 }, (_, tenth) => `loading: ${tenth * 10} %(, \\d+ s left)?\n`)
    // A busy machine takes longer than ten seconds, after which there are more lines.
    expect(stderr.replaceAll(/^deleting .*\n/gm, '')).toMatch(
      new RegExp(
        `The load of ${incomplete} was cut off: its rows are deleted\\.\n${lines.join('(loading: .*\n)*')}$`,
      ),
    )
  })
})
