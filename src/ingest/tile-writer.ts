import { once } from 'node:events'
import { sql } from 'kysely'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '#src/database/client.ts'
import type { Tile } from './tiles.ts'

/** Writes the tiles of one coverage. Nothing of them is to be seen before `finish` has resolved. */
export interface TileWriter {
  write(tile: Tile): Promise<void>
  finish(): Promise<void>
  /** Ends the writing after an error. */
  abort(error: Error): Promise<void>
}

/** The fastest way into the database at hand: COPY on a server; the embedded one cannot read a COPY. */
export function openTileWriter(database: Database, coverageId: number): Promise<TileWriter> {
  return database.kind === 'server' ? copyWriter(database, coverageId) : statementWriter(database, coverageId)
}

/** COPY rows are gathered to about this size before they go to the socket. */
const COPY_CHUNK_BYTES = 256 * 1024

async function copyWriter(database: Database, coverageId: number): Promise<TileWriter> {
  const client = await database.pool.connect()
  const stream = client.query(
    copyFrom('copy raster_tile (coverage_id, tile_row, tile_column, rast) from stdin'),
  )
  let failure: Error | undefined
  stream.on('error', (error: Error) => {
    failure = error
  })
  let rows: string[] = []
  let size = 0

  async function flush(): Promise<void> {
    if (failure) throw failure
    const chunk = rows.join('')
    rows = []
    size = 0
    if (!stream.write(chunk, 'latin1')) await drained()
  }

  async function drained(): Promise<void> {
    const settled = new AbortController()
    const { signal } = settled
    // The event that does not come must not leave its listeners behind: there are thousands of chunks.
    await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]).finally(() =>
      settled.abort(),
    )
  }

  return {
    async write({ row, column, wkb }) {
      const line = `${coverageId}\t${row}\t${column}\t${wkb.toString('hex')}\n`
      rows.push(line)
      size += line.length
      if (size >= COPY_CHUNK_BYTES) await flush()
    },
    async finish() {
      await flush()
      stream.end()
      await once(stream, 'finish')
      client.release()
    },
    async abort(error) {
      stream.destroy()
      client.release(error)
    },
  }
}

/** Rows a statement: enough that the round trip does not count, few enough that memory does not grow. */
const ROWS_PER_STATEMENT = 100

async function statementWriter(database: Database, coverageId: number): Promise<TileWriter> {
  let tiles: Tile[] = []

  async function flush(): Promise<void> {
    if (tiles.length === 0) return
    await sql`
      insert into raster_tile (coverage_id, tile_row, tile_column, rast)
      select ${coverageId}::bigint, tile_row, tile_column, wkb::raster
      from unnest(
        ${tiles.map(({ row }) => row)}::integer[],
        ${tiles.map(({ column }) => column)}::integer[],
        ${tiles.map(({ wkb }) => wkb.toString('hex'))}::text[]
      ) as tile (tile_row, tile_column, wkb)`.execute(database.writer)
    tiles = []
  }

  return {
    async write(tile) {
      tiles.push(tile)
      if (tiles.length >= ROWS_PER_STATEMENT) await flush()
    },
    finish: flush,
    async abort() {},
  }
}
