import type { Kysely } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { TileStores } from '#src/data/tiles/stores.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { Pause } from '#src/lib/turns.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import { degreesOfPixel, latitudesOf, longitudesOf, MAP_TILE_SIZE, type MapTile } from '#src/raster/maps.ts'
import { createInterleaver } from '#src/raster/tiles.ts'
import { type MapCoverage, type MapLayer, type Place, positionsIn, readMeans } from './queries.ts'

/** Of each pixel of a map tile, row by row, the pixel of the grid that its centre lies in. */
interface Cells {
  /** -1 where it lies in none. */
  columns: Int32Array
  rows: Int32Array
  /** How many pixels of the grid lie side by side in one of the map. */
  density: number
}

/** Positions on a side of the lattice that is transformed into a projected grid; between them it is as good as straight. */
const LATTICE = 17

const WGS84 = 4326

/** Pixels of a tile: from the first to the one after the last. */
interface Span {
  from: number
  to: number
}

/** Pixels of a map that are worked on at a time: a tenth of a millisecond or two. */
const PIXELS_A_PART = 4096

const ROWS_A_PART = PIXELS_A_PART / MAP_TILE_SIZE

/** Divides the pixels of a map into parts, between which others have their turn. */
export function* partsOf(pixels: number): Generator<Span> {
  for (let from = 0; from < pixels; from += PIXELS_A_PART) {
    yield { from, to: Math.min(from + PIXELS_A_PART, pixels) }
  }
}

/** Finds the pixels of a grid that a map tile shows; undefined where it shows none. */
export async function cellsOf(
  db: Kysely<Tables>,
  coverage: MapCoverage,
  tile: MapTile,
  pause: Pause,
): Promise<Cells | undefined> {
  const longitudes = longitudesOf(tile)
  const latitudes = latitudesOf(tile)
  const across = spanWithin(longitudes, coverage.west, coverage.east)
  const down = spanWithin(latitudes, coverage.south, coverage.north)
  if (across.from >= across.to || down.from >= down.to) return undefined
  const places = await placesOn(db, coverage, { longitudes, latitudes, across, down })
  const cells = await cellsAt(coverage, across, down, places, pause)
  return { ...cells, density: densityOf(coverage, tile, across, down, places) }
}

/** What lies between two degrees of positions that ascend or descend. */
function spanWithin(degrees: Float64Array, from: number, to: number): Span {
  const first = degrees.findIndex((degree) => degree >= from && degree <= to)
  if (first < 0) return { from: 0, to: 0 }
  return { from: first, to: degrees.findLastIndex((degree) => degree >= from && degree <= to) + 1 }
}

/** Where the pixels of a map are, in the CRS of a grid. */
type PlaceOf = (x: number, y: number) => readonly [x: number, y: number]

interface Shown {
  longitudes: Float64Array
  latitudes: Float64Array
  across: Span
  down: Span
}

async function placesOn(
  db: Kysely<Tables>,
  { srid }: MapCoverage,
  { longitudes, latitudes, across, down }: Shown,
): Promise<PlaceOf> {
  if (srid === WGS84) return (x, y) => [longitudes[x] as number, latitudes[y] as number]
  const columns = latticeOf(across)
  const rows = latticeOf(down)
  const positions = await positionsIn(
    db,
    srid,
    rows.flatMap(() => columns.map((at) => between(longitudes, at))),
    rows.flatMap((at) => columns.map(() => between(latitudes, at))),
  )
  const xs = positions.map(({ x }) => x)
  const ys = positions.map(({ y }) => y)
  return (x, y) => {
    const column = stepOf(x, across)
    const row = stepOf(y, down)
    return [bilinear(xs, column, row), bilinear(ys, column, row)]
  }
}

/** Places of pixels at equal distances, with both ends. */
function latticeOf({ from, to }: Span): number[] {
  return Array.from({ length: LATTICE }, (_, at) => from + (at * (to - 1 - from)) / (LATTICE - 1))
}

/** Where a pixel lies on the lattice, in its steps. */
function stepOf(at: number, { from, to }: Span): number {
  return to - 1 === from ? 0 : ((at - from) / (to - 1 - from)) * (LATTICE - 1)
}

/** The number at a place between two of a list. */
function between(numbers: Float64Array, at: number): number {
  const below = Math.floor(at)
  const [lower, upper] = [
    numbers[below] as number,
    numbers[Math.min(below + 1, numbers.length - 1)] as number,
  ]
  return lower + (upper - lower) * (at - below)
}

function bilinear(lattice: number[], column: number, row: number): number {
  const left = Math.min(Math.floor(column), LATTICE - 2)
  const top = Math.min(Math.floor(row), LATTICE - 2)
  const at = (x: number, y: number) => lattice[y * LATTICE + x] as number
  const [right, bottom] = [column - left, row - top]
  return (
    (at(left, top) * (1 - right) + at(left + 1, top) * right) * (1 - bottom) +
    (at(left, top + 1) * (1 - right) + at(left + 1, top + 1) * right) * bottom
  )
}

async function cellsAt(
  grid: MapCoverage,
  across: Span,
  down: Span,
  placeOf: PlaceOf,
  pause: Pause,
): Promise<Omit<Cells, 'density'>> {
  const columns = new Int32Array(MAP_TILE_SIZE ** 2).fill(-1)
  const rows = new Int32Array(MAP_TILE_SIZE ** 2)
  for (let y = down.from; y < down.to; y++) {
    if (y % ROWS_A_PART === 0) await pause()
    for (let x = across.from; x < across.to; x++) {
      const [placeX, placeY] = placeOf(x, y)
      const column = Math.floor((placeX - grid.originX) / grid.pixelWidth)
      const row = Math.floor((placeY - grid.originY) / grid.pixelHeight)
      if (!(column >= 0 && column < grid.width && row >= 0 && row < grid.height)) continue
      columns[y * MAP_TILE_SIZE + x] = column
      rows[y * MAP_TILE_SIZE + x] = row
    }
  }
  return { columns, rows }
}

/** Pixels of the grid a pixel of the map, along the middle of what is shown; of one column, by the extent of the grid. */
function densityOf(
  { pixelWidth, pixelHeight, width, west, east }: MapCoverage,
  { zoom }: MapTile,
  across: Span,
  down: Span,
  placeOf: PlaceOf,
): number {
  const [middle, last] = [Math.floor((down.from + down.to) / 2), across.to - 1]
  if (last === across.from) return (width * degreesOfPixel(zoom)) / (east - west)
  const [westX, westY] = placeOf(across.from, middle)
  const [eastX, eastY] = placeOf(last, middle)
  return Math.hypot((eastX - westX) / pixelWidth, (eastY - westY) / pixelHeight) / (last - across.from)
}

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
