import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { type Kysely, sql } from 'kysely'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '#src/data/client.ts'
import type { Tables } from '#src/data/tables.ts'
import type { StoredRun } from '#src/raster/pyramid.ts'
import type { Tile } from '#src/raster/tiles.ts'

/**
 * After an error, written tiles may remain until the coverage is deleted.
 *
 * @throws the error of the work or of the database; the tiles so far go with their coverage
 */
export function writingTiles<Result>(
  database: Database,
  coverageId: number,
  work: Work<Tile, Result>,
): Promise<Result> {
  const destination: Destination<Tile> = {
    table: 'raster_tile (coverage_id, tile_row, tile_column, rast)',
    line: ({ row, column, wkb }) => `${coverageId}\t${row}\t${column}\t${wkb.toString('hex')}\n`,
    insert: (db, tiles) =>
      sql`
        insert into raster_tile (coverage_id, tile_row, tile_column, rast)
        select ${coverageId}::bigint, tile_row, tile_column, wkb::raster
        from unnest(
          ${tiles.map(({ row }) => row)}::integer[],
          ${tiles.map(({ column }) => column)}::integer[],
          ${tiles.map(({ wkb }) => wkb.toString('hex'))}::text[]
        ) as tile (tile_row, tile_column, wkb)`.execute(db),
  }
  return writing(database, destination, work)
}

export function writingSummaries<Result>(
  database: Database,
  coverageId: number,
  work: Work<StoredRun, Result>,
): Promise<Result> {
  const destination: Destination<StoredRun> = {
    table: 'tile_summary (coverage_id, level, block_row, block_column, bands)',
    line: ({ level, row, column, bands }) =>
      `${coverageId}\t${level}\t${row}\t${column}\t\\\\x${bands.toString('hex')}\n`,
    insert: (db, blocks) =>
      sql`
        insert into tile_summary (coverage_id, level, block_row, block_column, bands)
        select ${coverageId}::bigint, level, block_row, block_column, bands
        from unnest(
          ${blocks.map(({ level }) => level)}::integer[],
          ${blocks.map(({ row }) => row)}::integer[],
          ${blocks.map(({ column }) => column)}::integer[],
          ${blocks.map(({ bands }) => bands)}::bytea[]
        ) as block (level, block_row, block_column, bands)`.execute(db),
  }
  return writing(database, destination, work)
}

type Write<Row> = (row: Row) => Promise<void>

type Work<Row, Result> = (write: Write<Row>) => Promise<Result>

interface Destination<Row> {
  table: string
  line(row: Row): string
  insert(db: Kysely<Tables>, rows: Row[]): Promise<unknown>
}

/** COPY on a server; the embedded database cannot read a COPY. */
function writing<Row, Result>(database: Database, destination: Destination<Row>, work: Work<Row, Result>) {
  return database.kind === 'server'
    ? copying(database, destination, work)
    : inserting(database, destination, work)
}

/** Size of a write to the socket. */
const COPY_CHUNK_BYTES = 256 * 1024

async function copying<Row, Result>(
  { pool }: Database,
  { table, line }: Destination<Row>,
  work: Work<Row, Result>,
): Promise<Result> {
  const client = await pool.connect()
  const stream = client.query(copyFrom(`copy ${table} from stdin`))
  let failure: Error | undefined
  stream.on('error', (error: Error) => {
    failure = error
  })
  let rows: string[] = []
  let size = 0

  async function write(row: Row): Promise<void> {
    const text = line(row)
    rows.push(text)
    size += text.length
    if (size >= COPY_CHUNK_BYTES) await flush()
  }

  async function flush(): Promise<void> {
    if (failure) throw failure
    const chunk = rows.join('')
    rows = []
    size = 0
    if (!stream.write(chunk, 'latin1')) await drained(stream)
  }

  try {
    const result = await work(write)
    await flush()
    // The error may have come during the last write.
    if (failure) throw failure
    stream.end()
    await once(stream, 'finish')
    client.release()
    return result
  } catch (error) {
    stream.destroy()
    client.release(true)
    // The database's own error says more.
    throw failure ?? error
  }
}

async function drained(stream: Writable): Promise<void> {
  const settled = new AbortController()
  const { signal } = settled
  // Thousands of chunks would leave their listeners behind.
  await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]).finally(() =>
    settled.abort(),
  )
}

/** Few round trips, and little memory. */
const ROWS_PER_STATEMENT = 100

async function inserting<Row, Result>(
  { writer }: Database,
  { insert }: Destination<Row>,
  work: Work<Row, Result>,
): Promise<Result> {
  let rows: Row[] = []

  async function flush(): Promise<void> {
    if (rows.length === 0) return
    await insert(writer, rows)
    rows = []
  }

  const result = await work(async (row) => {
    rows.push(row)
    if (rows.length >= ROWS_PER_STATEMENT) await flush()
  })
  await flush()
  return result
}
