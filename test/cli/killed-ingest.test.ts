// Runs on both databases: a killed command leaves the folder of the embedded one to the next.
import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openCluster } from '#src/data/client.ts'
import { fixture, manifestText, writeManifest } from '#test/ingest/fixtures.ts'
import { writeTiff } from '#test/ingest/tiff.ts'
import { runAgro } from '#test/setup/cli.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { newFolder } from '#test/setup/folders.ts'
import { testOnServer } from '#test/setup/on-server.ts'

/** Pixels on each side of a raster that is large enough to be killed over. */
const SIZE = 2000

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

/** How many rows each table of releases has. */
async function rows(): Promise<Record<string, number>> {
  const cluster = await openCluster(testDatabase.config)
  const database = cluster.connectForMaintenance()
  const counts: Record<string, number> = {}
  for (const table of ['coverage', 'layer', 'raster_tile'] as const) {
    const { rows: found } = await database.pool.query(`select count(*) as count from ${table}`)
    counts[table] = found[0].count
  }
  await database.close()
  await cluster.close()
  return counts
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
  const child = spawn(process.execPath, ['bin/run.mjs', 'src/cli/agro.ts', 'ingest', path], {
    env: { ...process.env, ...testDatabase.environment },
  })
  let progress = ''
  child.stderr.on('data', (text) => {
    progress += text
    if (progress.includes('loading: 30 %')) child.kill('SIGKILL')
  })
  const signal = await new Promise((resolve) => child.on('close', (_, signal) => resolve(signal)))
  expect(signal).toBe('SIGKILL')
  expect(progress).not.toContain('loading: 100 %')
}

describe.sequential('an ingest that is killed half-way', () => {
  test('leaves the published release answering, and is listed as incomplete', async () => {
    const { stdout } = await agro('releases', 'list')
    const [, ...lines] = stdout.trim().split('\n')
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 2)).sort()).toEqual([
      [published, 'published'],
      [incomplete, 'incomplete'],
    ])
  })

  testOnServer('cannot be published', async () => {
    expect(await agro('releases', 'publish', incomplete)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${incomplete} is not complete: its load was cut off. Delete it and ingest it again.\n`,
    })
  })

  test('is cleared away by the next load, which loads everything', async () => {
    const { code, stdout, stderr } = await agro('ingest', join(folder, 'large.yaml'))
    expect(code).toBe(0)
    const tiles = (SIZE / 16) ** 2
    expect(stdout).toMatch(
      new RegExp(
        `^${incomplete} is published in the place of ${published}: ${tiles} tiles in \\d+\\.\\d s\\.\n$`,
      ),
    )
    const lines = Array.from({ length: 11 }, (_, tenth) => `loading: ${tenth * 10} %(, \\d+ s left)?\n`)
    // A busy machine takes longer than ten seconds, after which there are more lines.
    expect(stderr.replaceAll(/^deleting .*\n/gm, '')).toMatch(
      new RegExp(
        `The load of ${incomplete} was cut off: what it left is deleted\\.\n${lines.join('(loading: .*\n)*')}$`,
      ),
    )
    expect(await rows()).toMatchObject({ coverage: 2, layer: 2, raster_tile: 4 + tiles })
  })
})
