import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { Pause } from '#src/lib/turns.ts'
import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import { createInterleaver } from '#src/raster/interleave.ts'
import type { TileStores } from '#src/tiles/stores.ts'
import { ReplacedMeanwhile } from '../lookup/replaced.ts'
import { type Cells, partsOf } from './cells.ts'
import { type MapLayer, type Place, readMeans } from './queries.ts'

/** Where maps are drawn from. */
export interface MapSource {
  db: Kysely<Tables>
  stores: TileStores
}

/** So many pixels of a grid side by side in one of the map are still read; of more, the means of blocks are. */
const MOST_PIXELS = 4

/** What of a grid one pixel of the map shows at most, in pixels of the map: blocks are seen as such when larger. */
const MOST_SEEN = 4

/**
 * Reads the values of a layer at the pixels of a map: each is that of the pixel at its centre, and where the map is so
 * coarse that most would be passed over, the mean of a block of pixels.
 *
 * @returns a value a pixel of the map, NaN where there is none
 * @throws {ReplacedMeanwhile} where the release has been deleted
 * @throws {ApiError} OVERLOADED while the means of blocks are being made
 */
export async function valuesAt(
  { db, stores }: MapSource,
  layer: MapLayer,
  cells: Cells,
  pause: Pause,
): Promise<Float64Array> {
  const values = await (cells.density <= MOST_PIXELS
    ? pixelsAt(stores, layer, cells, pause)
    : meansAt(db, layer, cells, pause))
  await pause()
  const { scale, offset } = layer
  return values.map((value) => value * scale + offset)
}

async function pixelsAt(
  stores: TileStores,
  { coverage, band }: MapLayer,
  cells: Cells,
  pause: Pause,
): Promise<Float64Array> {
  const { id, store, width, tileSize } = coverage
  const tilesAcross = Math.ceil(width / tileSize)
  const keys = await keysOf(cells, tileSize, tilesAcross, pause)
  const values = new Float64Array(keys.length).fill(Number.NaN)
  const interleave = createInterleaver()
  for (const wanted of chunksOf([...(await pixelsByTile(keys, pause))])) {
    const addresses = wanted.map(([key]) => ({
      coverageId: id,
      row: Math.floor(key / tilesAcross),
      column: key % tilesAcross,
    }))
    const found = await stores[store].find(addresses)
    for (const [index, [, places]] of wanted.entries()) {
      await pause()
      const wkb = found[index]
      if (wkb instanceof Error) throw wkb
      if (!wkb) throw new ReplacedMeanwhile()
      if (wkb.length === 0) continue
      const { width: across, bands, start, pixels } = interleave(wkb)
      for (const at of places) {
        const row = (cells.rows[at] as number) % tileSize
        const column = (cells.columns[at] as number) % tileSize
        values[at] = pixels[start + (row * across + column) * bands + band - 1] as number
      }
    }
  }
  return values
}

/** The pixels of a map that show each tile. */
async function pixelsByTile(keys: Int32Array, pause: Pause): Promise<Map<number, number[]>> {
  const tiles = new Map<number, number[]>()
  for (const { from, to } of partsOf(keys.length)) {
    await pause()
    for (let at = from; at < to; at++) {
      const key = keys[at] as number
      if (key < 0) continue
      const places = tiles.get(key)
      if (places) places.push(at)
      else tiles.set(key, [at])
    }
  }
  return tiles
}

/** Tiles that are read at a time: half a megabyte where a tile has one Float32 band. */
const TILES_A_CHUNK = 512

function* chunksOf<One>(all: One[]): Generator<One[]> {
  for (let from = 0; from < all.length; from += TILES_A_CHUNK) yield all.slice(from, from + TILES_A_CHUNK)
}

async function meansAt(
  db: Kysely<Tables>,
  layer: MapLayer,
  cells: Cells,
  pause: Pause,
): Promise<Float64Array> {
  const { level, pixels } = blocksFor(layer, cells.density)
  const blocksAcross = Math.ceil(layer.coverage.width / pixels)
  const keys = await keysOf(cells, pixels, blocksAcross, pause)
  const placed = keys.filter((key) => key >= 0)
  const values = new Float64Array(keys.length).fill(Number.NaN)
  if (placed.length === 0) return values
  const { first, last } = cornersOf(placed, blocksAcross)
  const means = await readMeans(db, layer, {
    level,
    firstRow: first.row,
    lastRow: last.row,
    firstColumn: first.column,
    lastColumn: last.column,
  })
  if (!means) throw overloaded()
  const meanOf = new Map(means.map(({ row, column, mean }) => [row * blocksAcross + column, mean]))
  for (const { from, to } of partsOf(keys.length)) {
    await pause()
    for (let at = from; at < to; at++) values[at] = meanOf.get(keys[at] as number) ?? Number.NaN
  }
  return values
}

/** The largest blocks that are not seen as such, and how many pixels they have on a side. */
function blocksFor({ coverage }: MapLayer, density: number): { level: number; pixels: number } {
  let level = 0
  let pixels = coverage.tileSize
  const end = Math.max(coverage.width, coverage.height)
  while (pixels * BLOCK_FACTOR <= density * MOST_SEEN && pixels < end) {
    level++
    pixels *= BLOCK_FACTOR
  }
  return { level, pixels }
}

/** Of each pixel of a map the number of the square of so many pixels on a side that it shows; -1 where it shows none. */
async function keysOf(
  { columns, rows }: Cells,
  side: number,
  squaresAcross: number,
  pause: Pause,
): Promise<Int32Array> {
  const keys = new Int32Array(columns.length).fill(-1)
  for (const { from, to } of partsOf(keys.length)) {
    await pause()
    for (let at = from; at < to; at++) {
      const column = columns[at] as number
      if (column < 0) continue
      keys[at] = Math.floor((rows[at] as number) / side) * squaresAcross + Math.floor(column / side)
    }
  }
  return keys
}

function cornersOf(keys: Int32Array, across: number): { first: Place; last: Place } {
  const first = { row: Number.POSITIVE_INFINITY, column: Number.POSITIVE_INFINITY }
  const last = { row: 0, column: 0 }
  for (const key of keys) {
    const row = Math.floor(key / across)
    const column = key % across
    first.row = Math.min(first.row, row)
    first.column = Math.min(first.column, column)
    last.row = Math.max(last.row, row)
    last.column = Math.max(last.column, column)
  }
  return { first, last }
}
