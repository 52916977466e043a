import { once } from 'node:events'
import { type Kysely, sql } from 'kysely'
import { from as copyFrom } from 'pg-copy-streams'
import type { Database } from '#src/database/client.ts'
import type { Tables } from '#src/database/tables.ts'
import type { BlockSummary } from './pyramid.ts'
import type { Tile } from './tiles.ts'

/** Writes rows of one coverage. Nothing of them is to be seen before `finish` has resolved. */
export interface RowWriter<Row> {
  write(row: Row): Promise<void>
  finish(): Promise<void>
  /** Ends the writing after an error. */
  abort(error: Error): Promise<void>
}

/** Where rows go, and how. */
interface Destination<Row> {
  /** The table and its columns, for COPY. */
  table: string
  /** A row as a line of COPY. */
  line(row: Row): string
  /** The statement that inserts rows. */
  insert(db: Kysely<Tables>, rows: Row[]): Promise<unknown>
}

/** Writes the tiles of a coverage. */
export function openTileWriter(database: Database, coverageId: number): Promise<RowWriter<Tile>> {
  return openWriter(database, {
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
  })
}

/** Writes the summaries of a coverage's blocks. */
export function openSummaryWriter(database: Database, coverageId: number): Promise<RowWriter<BlockSummary>> {
  return openWriter(database, {
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
  })
}

/** The fastest way into the database at hand: COPY on a server; the embedded one cannot read a COPY. */
function openWriter<Row>(database: Database, destination: Destination<Row>): Promise<RowWriter<Row>> {
  return database.kind === 'server'
    ? copyWriter(database, destination)
    : statementWriter(database, destination)
}

/** COPY rows are gathered to about this size before they go to the socket. */
const COPY_CHUNK_BYTES = 256 * 1024

async function copyWriter<Row>(
  database: Database,
  { table, line }: Destination<Row>,
): Promise<RowWriter<Row>> {
  const client = await database.pool.connect()
  const stream = client.query(copyFrom(`copy ${table} from stdin`))
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
    async write(row) {
      const text = line(row)
      rows.push(text)
      size += text.length
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

async function statementWriter<Row>(
  { writer }: Database,
  { insert }: Destination<Row>,
): Promise<RowWriter<Row>> {
  let rows: Row[] = []

  async function flush(): Promise<void> {
    if (rows.length === 0) return
    await insert(writer, rows)
    rows = []
  }

  return {
    async write(row) {
      rows.push(row)
      if (rows.length >= ROWS_PER_STATEMENT) await flush()
    },
    finish: flush,
    async abort() {},
  }
}
