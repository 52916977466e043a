import { type Kysely, sql } from 'kysely'
import type { Database } from '#src/data/client.ts'
import type { Tables } from '#src/data/tables.ts'
import type { StoredRun } from '#src/raster/pyramid.ts'
import type { Tile } from '#src/raster/tiles.ts'

type Work<Row, Result> = (write: (row: Row) => Promise<void>) => Promise<Result>

/** After an error, written tiles remain until their coverage is deleted. */
export function writingTiles<Result>(
  { writer }: Database,
  coverageId: number,
  work: Work<Tile, Result>,
): Promise<Result> {
  const insert = (tiles: Tile[]) => sql`
    insert into raster_tile (coverage_id, tile_row, tile_column, rast)
    select ${coverageId}::bigint, tile_row, tile_column, wkb::raster
    from unnest(
      ${tiles.map(({ row }) => row)}::integer[],
      ${tiles.map(({ column }) => column)}::integer[],
      ${tiles.map(({ wkb }) => wkb.toString('hex'))}::text[]
    ) as tile (tile_row, tile_column, wkb)`
  return writing(writer, ({ wkb }) => wkb.length, insert, work)
}

/** After an error, written summaries remain until their coverage is deleted. */
export function writingSummaries<Result>(
  { writer }: Database,
  coverageId: number,
  work: Work<StoredRun, Result>,
): Promise<Result> {
  const insert = (blocks: StoredRun[]) => sql`
    insert into tile_summary (coverage_id, level, block_row, block_column, bands)
    select ${coverageId}::bigint, level, block_row, block_column, bands
    from unnest(
      ${blocks.map(({ level }) => level)}::integer[],
      ${blocks.map(({ row }) => row)}::integer[],
      ${blocks.map(({ column }) => column)}::integer[],
      ${blocks.map(({ bands }) => bands)}::bytea[]
    ) as block (level, block_row, block_column, bands)`
  return writing(writer, ({ bands }) => bands.length, insert, work)
}

/** Size of a statement: few round trips, and little memory. */
const BATCH_BYTES = 1024 * 1024

async function writing<Row, Result>(
  db: Kysely<Tables>,
  bytesOf: (row: Row) => number,
  insert: (rows: Row[]) => ReturnType<typeof sql>,
  work: Work<Row, Result>,
): Promise<Result> {
  let rows: Row[] = []
  let bytes = 0

  async function flush(): Promise<void> {
    if (rows.length > 0) await insert(rows).execute(db)
    rows = []
    bytes = 0
  }

  const result = await work(async (row) => {
    rows.push(row)
    bytes += bytesOf(row)
    if (bytes >= BATCH_BYTES) await flush()
  })
  await flush()
  return result
}
