import { type Kysely, sql } from 'kysely'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import { decodeTile } from '#src/raster/wkb.ts'
import type { Copy } from '../cancellable.ts'
import type { Database } from '../client.ts'
import { findAlsoAtPrimary } from '../failures.ts'
import { copyOutOf } from '../pool.ts'
import type { Reading } from '../replica-reads.ts'
import { arrayOf } from '../sql.ts'
import type { Tables } from '../tables.ts'
import type { StoredTile, StoredWindow, TileAddress, TileStore } from './store.ts'

/** What of a database the table of tiles is read by. */
export type TileSource = Pick<Database, 'reader' | 'beginReading' | 'beginReadingAtPrimary'>

/** Makes the store of what is in the table of tiles. */
export function createPostgisTiles({ reader, beginReading, beginReadingAtPrimary }: TileSource): TileStore {
  const begin = { reader: beginReading, readerAtPrimary: beginReadingAtPrimary }
  return {
    find: (tiles) => findAlsoAtPrimary(begin, tiles, findTiles),
    read: ({ copy }, coverageId, tiles) => readTiles(copy, coverageId, tiles),
    windows: (coverageId) => windowsOf(reader, coverageId),
  }
}

/** Tiles as well-known binary; empty where there is none, null where the coverage has been deleted. */
async function findTiles(begin: () => Reading, tiles: TileAddress[]): Promise<(Buffer | null)[]> {
  const column = (of: (tile: TileAddress) => number) => arrayOf(tiles.map(of))
  const rows = await copyOutOf(
    begin(),
    `select tiles_of(
      '${column(({ coverageId }) => coverageId)}',
      '${column(({ row }) => row)}',
      '${column(({ column }) => column)}'
    )`,
  )
  return rows.map(([tile]) => tile as Buffer | null)
}

async function readTiles(
  copy: Copy,
  coverageId: number,
  tiles: { row: number; column: number }[],
): Promise<StoredTile[]> {
  const rows = await copy(sql`
    select tile.tile_row, tile.tile_column, tile.rast::bytea
    from unnest(
      ${sql.lit(arrayOf(tiles.map(({ row }) => row)))}::integer[],
      ${sql.lit(arrayOf(tiles.map(({ column }) => column)))}::integer[]
    ) as wanted (tile_row, tile_column)
    -- One look-up a tile, whatever the planner believes of the table.
    cross join lateral (
      select tile_row, tile_column, rast from raster_tile
      where coverage_id = ${sql.lit(coverageId)}
        and raster_tile.tile_row = wanted.tile_row
        and raster_tile.tile_column = wanted.tile_column
      offset 0
    ) as tile`)
  return rows.map((row) => {
    const [tileRow, tileColumn, wkb] = row as [Buffer, Buffer, Buffer]
    return { row: tileRow.readInt32BE(), column: tileColumn.readInt32BE(), wkb }
  })
}

/** Tiles that are read with one statement, where all are. */
const TILES_A_CHUNK = 512

async function* windowsOf(db: Kysely<Tables>, coverageId: number): AsyncGenerator<StoredWindow> {
  let tiles = await tilesAfter(db, coverageId, { row: -1, column: -1 }, TILES_A_CHUNK)
  while (tiles.length > 0) {
    for (const { row, column, wkb } of tiles) {
      const tile = decodeTile(wkb)
      const { width, height } = tile
      yield { ...tile, window: { row: row * TILE_SIZE, column: column * TILE_SIZE, width, height } }
    }
    tiles = await tilesAfter(db, coverageId, tiles.at(-1) as StoredTile, TILES_A_CHUNK)
  }
}

/** The next tiles of a coverage, row by row. */
async function tilesAfter(
  db: Kysely<Tables>,
  coverageId: number,
  after: Pick<StoredTile, 'row' | 'column'>,
  limit: number,
): Promise<StoredTile[]> {
  const { rows } = await sql<StoredTile>`
    select tile_row as row, tile_column as column, rast::bytea as wkb
    from raster_tile
    where coverage_id = ${coverageId} and (tile_row, tile_column) > (${after.row}, ${after.column})
    order by tile_row, tile_column
    limit ${limit}`.execute(db)
  return rows
}
