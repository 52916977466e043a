import { expect, onTestFinished, test, vi } from 'vitest'
import { deleteRelease, pruneRelease } from '#src/catalog/removal-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import { loadRelease } from '#src/ingest/load.ts'
import type { CoverageSource, ReleaseSource } from '#src/ingest/source.ts'
import { testOnServer } from '#test/setup/on-server.ts'
import { openDatabase } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { gridOf, layerOf, operatorOf, releaseDescription } from '#test/setup/releases.ts'

/** Rows of tiles of each of the two grids of a release. */
const TALL = 120
const SHORT = 30

const opened = openDatabase('empty')

test('a release is deleted with all that is stored of it, piece by piece, and says how far that is', async () => {
  const code = await load(false)
  const parts: number[] = []
  expect((await counts())[0]).toBe(TALL + SHORT)
  await inTransaction(opened.database.writer, (trx) =>
    deleteRelease(trx, code, false, (part) => parts.push(part)),
  )
  expect(await counts()).toEqual([0, 0, 0, 0])
  // Three rows of the first grid at a time, and one of the second.
  const tall = Array.from({ length: TALL / 3 }, (_, index) => (3 * (index + 1)) / (TALL + SHORT))
  const short = Array.from({ length: SHORT }, (_, index) => (TALL + index + 1) / (TALL + SHORT))
  expect(parts.map((part) => part.toFixed(6))).toEqual([...tall, ...short].map((part) => part.toFixed(6)))
})

const refusedDeletion = (code: string) =>
  expect(inTransaction(opened.database.writer, (trx) => deleteRelease(trx, code, false))).rejects.toThrow(
    `${code} is published: roll it back`,
  )

async function vainPruning(code: string): Promise<void> {
  const parts: number[] = []
  const pruned = pruneRelease(opened.database.writer, code, 0, (part) => parts.push(part))
  expect(await pruned).toBe(false)
  expect(parts.at(-1)).toBe(1)
}

testOnServer.each([
  ['deleted', refusedDeletion],
  ['pruned', vainPruning],
])('others are published while a release is %s, which stays whole if it is itself', async (_, attempt) => {
  const code = await load(false)
  const before = await counts()
  const other = await opened.database.pool.connect()
  onTestFinished(() => other.release())
  await other.query('begin; lock table publication in share row exclusive mode')
  const refused = attempt(code)
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
  // A transaction would see the sessions as they were when it first looked.
  await vi.waitFor(async () => expect((await opened.database.pool.query(waiting)).rowCount).toBe(1), PATIENCE)
  await other.query(
    `insert into publication (product, country_code, crop_code, forecast_period, release_id)
     select product, country_code, crop_code, forecast_period, id from release where code = $1`,
    [code],
  )
  await other.query('commit')
  await refused
  expect(await counts()).toEqual(before)
  await operatorOf(opened.database).remove(code, true)
})

function coverage(input: string, tileRows: number): CoverageSource {
  const height = 16 * tileRows
  return {
    grid: gridOf(4326, [38, 10], [0.001, -0.001], [16, height]),
    layers: [layerOf(input)],
    windows: [{ column: 0, row: 0, width: 16, height }],
    read: async () => [new Float32Array(16 * height).fill(5)],
  }
}

async function load(publish: boolean): Promise<string> {
  const source: ReleaseSource = {
    description: releaseDescription(),
    coverages: [coverage('Urea', TALL), coverage('Compost', SHORT)],
  }
  return (await loadRelease(opened.database, source, { publish })).code
}

async function counts(): Promise<number[]> {
  const { rows } = await opened.database.pool.query(
    `select (select count(*) from raster_tile) as tiles, (select count(*) from tile_summary) as summaries,
      (select count(*) from coverage) as coverages, (select count(*) from layer) as layers`,
  )
  return Object.values(rows[0])
}
