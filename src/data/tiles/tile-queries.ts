import { sql } from 'kysely'
import { decodeTile, TILE_SIZE, type Tile } from '#src/raster/tiles.ts'
import type { Copy, Reading } from '../database.ts'
import { findAlsoAtPrimary } from '../failures.ts'
import { copyOutFrom } from '../pool.ts'
import { formatArray } from '../sql.ts'
import type { Db } from '../tables.ts'
import type { StoredWindow, TileAddress, TileSource, TileStore } from './store.ts'

export function createPostgisTiles({ reader, beginReading, beginReadingAtPrimary }: TileSource): TileStore {
  const begin = { reader: beginReading, readerAtPrimary: beginReadingAtPrimary }
  return {
    find: (tiles) => findAlsoAtPrimary(begin, tiles, findTiles),
    read: ({ copy }, coverageId, tiles) => readTiles(copy, coverageId, tiles),
    windows: (coverageId) => windowsOf(reader, coverageId),
  }
}

async function findTiles(begin: () => Reading, tiles: TileAddress[]): Promise<(Buffer | null)[]> {
  const column = (of: (tile: TileAddress) => number) => formatArray(tiles.map(of))
  const rows = await copyOutFrom(
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
): Promise<Tile[]> {
  const rows = await copy(sql`
    select tile.tile_row, tile.tile_column, tile.rast::bytea
    from unnest(
      ${sql.lit(formatArray(tiles.map(({ row }) => row)))}::integer[],
      ${sql.lit(formatArray(tiles.map(({ column }) => column)))}::integer[]
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

/** Tiles of a statement. */
const TILES_A_CHUNK = 512

async function* windowsOf(db: Db, coverageId: number): AsyncGenerator<StoredWindow> {
  let tiles = await tilesAfter(db, coverageId, { row: -1, column: -1 }, TILES_A_CHUNK)
  while (tiles.length > 0) {
    for (const { row, column, wkb } of tiles) {
      const tile = decodeTile(wkb)
      const { width, height } = tile
      yield { ...tile, window: { row: row * TILE_SIZE, column: column * TILE_SIZE, width, height } }
    }
    tiles = await tilesAfter(db, coverageId, tiles.at(-1) as Tile, TILES_A_CHUNK)
  }
}

async function tilesAfter(
  db: Db,
  coverageId: number,
  after: Pick<Tile, 'row' | 'column'>,
  limit: number,
): Promise<Tile[]> {
  const { rows } = await sql<Tile>`
    select tile_row as row, tile_column as column, rast::bytea as wkb
    from raster_tile
    where coverage_id = ${coverageId} and (tile_row, tile_column) > (${after.row}, ${after.column})
    order by tile_row, tile_column
    limit ${limit}`.execute(db)
  return rows
}
