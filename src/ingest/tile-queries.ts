import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { type Kysely, sql } from 'kysely'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '#src/data/client.ts'
import type { Tables } from '#src/data/tables.ts'
import type { StoredRun } from '#src/raster/pyramid.ts'
import type { Tile } from '#src/raster/tiles.ts'

/**
 * Writes the tiles of a coverage.
 *
 * @returns what the work comes to
 * @throws the error of the work or of the database; what was written before may be there or not, and goes
 *   when the coverage is deleted
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

/** Writes the summaries of a coverage's blocks, run by run, as `writingTiles` does tiles. */
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

/** Takes one more row of a coverage. Rows are sent many at a time: it may be stored only later. */
type Write<Row> = (row: Row) => Promise<void>

/** What makes rows and writes them; when it is done, they are all stored. */
type Work<Row, Result> = (write: Write<Row>) => Promise<Result>

/** Where rows go, and how. */
interface Destination<Row> {
  /** The table and its columns, for COPY. */
  table: string
  /** A row as a line of COPY. */
  line(row: Row): string
  /** The statement that inserts rows. */
  insert(db: Kysely<Tables>, rows: Row[]): Promise<unknown>
}

/**
 * Writes rows the fastest way into the database at hand: COPY on a server; the embedded one cannot read a
 * COPY.
 *
 * @returns what the work comes to
 * @throws the error of the work or of the database; what was written before may be there or not
 */
function writing<Row, Result>(
  database: Database,
  destination: Destination<Row>,
  work: Work<Row, Result>,
): Promise<Result> {
  return database.kind === 'server'
    ? copying(database, destination, work)
    : inserting(database, destination, work)
}

/** COPY rows are gathered to about this size before they go to the socket. */
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
    // It may have come while the last rows were waited for.
    if (failure) throw failure
    stream.end()
    await once(stream, 'finish')
    client.release()
    return result
  } catch (error) {
    stream.destroy()
    client.release(true)
    // What the database has said tells more than what came of writing on.
    throw failure ?? error
  }
}

async function drained(stream: Writable): Promise<void> {
  const settled = new AbortController()
  const { signal } = settled
  // The event that does not come must not leave its listeners behind: there are thousands of chunks.
  await Promise.race([once(stream, 'drain', { signal }), once(stream, 'close', { signal })]).finally(() =>
    settled.abort(),
  )
}

/** Rows a statement: enough that the round trip does not count, few enough that memory does not grow. */
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
