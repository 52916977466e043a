import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { StoredRun } from '#src/raster/pyramid.ts'
import type { Tile } from '#src/raster/tiles.ts'

/** Size of a statement: few round trips, and little memory. */
const BATCH_BYTES = 1024 * 1024

/** Inserts rows in statements of some size, the last ones by `flush`. */
export function batchRows<Row>(
  db: Kysely<Tables>,
  countBytes: (row: Row) => number,
  insert: (rows: Row[]) => ReturnType<typeof sql>,
) {
  let rows: Row[] = []
  let bytes = 0

  async function flush(): Promise<void> {
    if (rows.length > 0) await insert(rows).execute(db)
    rows = []
    bytes = 0
  }

  return {
    async add(row: Row): Promise<void> {
      rows.push(row)
      bytes += countBytes(row)
      if (bytes >= BATCH_BYTES) await flush()
    },
    flush,
  }
}

/** After an error, written tiles remain until their coverage is deleted. */
export function createTileWriter(db: Kysely<Tables>, coverageId: number) {
  const insert = (tiles: Tile[]) => sql`
    insert into raster_tile (coverage_id, tile_row, tile_column, rast)
    select ${coverageId}::bigint, tile_row, tile_column, wkb::raster
    from unnest(
      ${tiles.map(({ row }) => row)}::integer[],
      ${tiles.map(({ column }) => column)}::integer[],
      ${tiles.map(({ wkb }) => wkb.toString('hex'))}::text[]
    ) as tile (tile_row, tile_column, wkb)`
  return batchRows(db, ({ wkb }) => wkb.length, insert)
}

/** After an error, written summaries remain until their coverage is deleted. */
export function createSummaryWriter(db: Kysely<Tables>, coverageId: number) {
  const insert = (runs: StoredRun[]) => sql`
    insert into tile_summary (coverage_id, level, block_row, block_column, bands)
    select ${coverageId}::bigint, level, block_row, block_column, bands
    from unnest(
      ${runs.map(({ level }) => level)}::integer[],
      ${runs.map(({ row }) => row)}::integer[],
      ${runs.map(({ column }) => column)}::integer[],
      ${runs.map(({ bands }) => bands)}::bytea[]
    ) as block (level, block_row, block_column, bands)`
  return batchRows(db, ({ bands }) => bands.length, insert)
}
