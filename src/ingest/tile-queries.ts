import { sql } from 'kysely'
import type { Database } from '#src/database/client.ts'
import type { StoredRun } from '#src/raster/pyramid.ts'
import type { Tile } from '#src/raster/tiles.ts'
import { type Destination, type Work, writing } from './row-writer.ts'

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
