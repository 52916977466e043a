import { execFile } from 'node:child_process'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { sql } from 'kysely'
import type { Database } from '#src/data/database.ts'
import type { Manifest } from '#src/ingest/manifest.ts'
import { type Bench, byTurns, median, say } from '../bench.ts'
import { cpuSecondsOfServer, serverOf } from '../processes.ts'
import type { LoadsResult } from '../results.ts'
import { ingest, type Where, withDatabase } from '../service.ts'

/** What one turn took: seconds of CPU of this process, which has the embedded database, and of the server. */
interface Turn {
  node: number
  database: number
  seconds: number
}

/**
 * The fertilizer release of 8 layers, loaded by turns with a plain copy of its tiles: what both move is the same, so that
 * their ratio is of the load's own work, on any machine.
 */
export async function measureLoads(bench: Bench, where: Where): Promise<LoadsResult['rows'][number]> {
  const [manifest] = bench.data.manifests as [Manifest]
  const isServer = 'DATABASE_URL' in where
  const target = isServer ? 'server' : 'embedded'
  const turns: { load: Turn[]; copy: Turn[] } = { load: [], copy: [] }
  await withDatabase(where, async (database) => {
    const ofServer = await measureServer(database, isServer)
    // Compiles what is hot, and has the tiles that are copied.
    const { code } = await ingest(database, manifest, { publish: false })
    for (let round = 0; round < bench.effort.rounds; round++) {
      say(`loads, ${target}, round ${round + 1} of ${bench.effort.rounds}`)
      const work = [
        async () =>
          turns.load.push(await timed(ofServer, () => ingest(database, manifest, { publish: false }))),
        async () => turns.copy.push(await timed(ofServer, () => copyTiles(database, code))),
      ]
      for (const turn of byTurns(work, round)) await turn()
    }
  })
  const ofLoad = (of: (turn: Turn) => number) => median(turns.load.map(of))
  const cpuOf = ({ node, database }: Turn) => node + database
  return {
    target,
    node: ofLoad(({ node }) => node),
    database: isServer ? ofLoad(({ database }) => database) : null,
    seconds: ofLoad(({ seconds }) => seconds),
    cpuToCopy: median(turns.load.map((turn, round) => cpuOf(turn) / cpuOf(turns.copy[round] as Turn))),
  }
}

async function timed(ofServer: () => number, work: () => Promise<unknown>): Promise<Turn> {
  const [before, own, started] = [ofServer(), process.cpuUsage(), performance.now()]
  await work()
  const { user, system } = process.cpuUsage(own)
  const seconds = (performance.now() - started) / 1000
  return { node: (user + system) / 1e6, database: ofServer() - before, seconds }
}

/** Its CPU so far; nothing of an embedded one, which this process has. */
async function measureServer({ writer }: Database, isServer: boolean): Promise<() => number> {
  if (!isServer) return () => 0
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(writer)
  const server = serverOf((rows[0] as { pid: number }).pid)
  return () => cpuSecondsOfServer(server)
}

const COPIED_ROWS = 100

/** Reads tiles and writes them, a hundred a statement, as a program would that knows nothing of them. */
async function copyTiles({ writer }: Database, release: string): Promise<void> {
  await sql`create table bench_copy (tile_row integer, tile_column integer, bytes bytea)`.execute(writer)
  const { rows: places } = await sql<{ row: number; column: number; id: number }>`
    select coverage.id, tile_row as row, tile_column as column
    from release
    join coverage on coverage.release_id = release.id
    join raster_tile on raster_tile.coverage_id = coverage.id
    where release.code = ${release}
    order by coverage.id, tile_row, tile_column`.execute(writer)
  for (let at = 0; at < places.length; at += COPIED_ROWS) {
    const some = places.slice(at, at + COPIED_ROWS)
    const { rows } = await sql<{ row: number; column: number; bytes: Buffer }>`
      select tile_row as row, tile_column as column, rast::bytea as bytes
      from raster_tile
      join unnest(
        ${some.map(({ id }) => id)}::bigint[],
        ${some.map(({ row }) => row)}::integer[],
        ${some.map(({ column }) => column)}::integer[]
      ) as place (coverage_id, tile_row, tile_column) using (coverage_id, tile_row, tile_column)`.execute(
      writer,
    )
    const values = rows.map(
      ({ row, column, bytes }) => sql`(${row}::integer, ${column}::integer, ${bytes}::bytea)`,
    )
    await sql`insert into bench_copy values ${sql.join(values)}`.execute(writer)
  }
  await sql`drop table bench_copy`.execute(writer)
}

/**
 * Seconds of `raster2pgsql | psql` of one layer of the release, in tiles of the same size; null where that is not
 * installed.
 */
export async function measureRaster2pgsql({ data }: Bench, url: string): Promise<number | null> {
  const [{ layers }] = data.manifests as [Manifest]
  const file = layers[0]?.files[0] as string
  const run = (script: string) => promisify(execFile)('sh', ['-c', script, 'sh', file, url])
  const isThere = await run('command -v raster2pgsql psql').catch(() => false)
  if (!isThere) return null
  say('raster2pgsql')
  const started = performance.now()
  await run('raster2pgsql -t 16x16 -Y "$1" reference | psql -q "$2"')
  return (performance.now() - started) / 1000
}
