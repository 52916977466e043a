import type { Db } from '#src/data/tables.ts'
import { requireStore, type TileStores } from '#src/data/tiles/store.ts'
import { ReplacedMeanwhile } from '#src/errors.ts'
import type { Pause } from '#src/lib/limiter.ts'
import { BLOCK_FACTOR } from '#src/raster/blocks.ts'
import {
  degreesOfPixel,
  listLatitudes,
  listLongitudes,
  MAP_TILE_SIZE,
  type MapTile,
} from '#src/raster/maps.ts'
import { createInterleaver } from '#src/raster/tiles.ts'
import type { Layer } from './published.ts'
import { readMeans, transformPositions } from './queries.ts'

export interface MapSource {
  db: Db
  stores: TileStores
  /** Lets others go on, for whichever request. */
  pause: Pause
}

/** The pixels of a grid at the centres of the pixels of a map tile, row by row. */
interface Cells {
  /** -1 for a centre outside the grid. */
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

/** Divides the pixels of a map into parts, between which others have their slices. */
export function* partsOf(pixels: number): Generator<Span> {
  for (let from = 0; from < pixels; from += PIXELS_A_PART) {
    yield { from, to: Math.min(from + PIXELS_A_PART, pixels) }
  }
}

/** Finds the pixels of a grid that a map tile shows; undefined where it shows none. */
export async function findCells(
  { db, pause }: MapSource,
  grid: Layer['coverage'],
  tile: MapTile,
): Promise<Cells | undefined> {
  const longitudes = listLongitudes(tile)
  const latitudes = listLatitudes(tile)
  const [west, south, east, north] = grid.extent
  const across = findSpan(longitudes, west, east)
  const down = findSpan(latitudes, south, north)
  if (across.from >= across.to || down.from >= down.to) return undefined
  const positionOf = await transformPixels(db, grid, [longitudes, latitudes], [across, down])
  const columns = new Int32Array(MAP_TILE_SIZE ** 2).fill(-1)
  const rows = new Int32Array(MAP_TILE_SIZE ** 2)
  for (let y = down.from; y < down.to; y++) {
    if (y % ROWS_A_PART === 0) await pause()
    for (let x = across.from; x < across.to; x++) {
      const [atX, atY] = positionOf(x, y)
      const column = Math.floor((atX - grid.originX) / grid.pixelWidth)
      const row = Math.floor((atY - grid.originY) / grid.pixelHeight)
      if (!(column >= 0 && column < grid.width && row >= 0 && row < grid.height)) continue
      columns[y * MAP_TILE_SIZE + x] = column
      rows[y * MAP_TILE_SIZE + x] = row
    }
  }
  return { columns, rows, density: measureDensity(grid, tile, across, down, positionOf) }
}

/** The positions between two degrees; they ascend or descend. */
function findSpan(degrees: Float64Array, from: number, to: number): Span {
  const first = degrees.findIndex((degree) => degree >= from && degree <= to)
  if (first < 0) return { from: 0, to: 0 }
  return { from: first, to: degrees.findLastIndex((degree) => degree >= from && degree <= to) + 1 }
}

/** The positions of the pixels of a map in the CRS of a grid. */
type PositionOf = (x: number, y: number) => readonly [x: number, y: number]

async function transformPixels(
  db: Db,
  { srid }: Layer['coverage'],
  [longitudes, latitudes]: readonly [Float64Array, Float64Array],
  [across, down]: readonly [Span, Span],
): Promise<PositionOf> {
  if (srid === WGS84) return (x, y) => [longitudes[x] as number, latitudes[y] as number]
  const columns = spreadLattice(across)
  const rows = spreadLattice(down)
  const positions = await transformPositions(
    db,
    srid,
    rows.flatMap(() => columns.map((at) => interpolate(longitudes, at))),
    rows.flatMap((at) => columns.map(() => interpolate(latitudes, at))),
  )
  const xs = positions.map(({ x }) => x)
  const ys = positions.map(({ y }) => y)
  return (x, y) => {
    const column = latticeStep(x, across)
    const row = latticeStep(y, down)
    return [interpolateBoth(xs, column, row), interpolateBoth(ys, column, row)]
  }
}

/** Positions of pixels at equal distances, with both ends. */
function spreadLattice({ from, to }: Span): number[] {
  return Array.from({ length: LATTICE }, (_, at) => from + (at * (to - 1 - from)) / (LATTICE - 1))
}

/** Where a pixel lies on the lattice, in its steps. */
function latticeStep(at: number, { from, to }: Span): number {
  return to - 1 === from ? 0 : ((at - from) / (to - 1 - from)) * (LATTICE - 1)
}

/** The number at a position between two of a list. */
function interpolate(numbers: Float64Array, at: number): number {
  const below = Math.floor(at)
  const [lower, upper] = [
    numbers[below] as number,
    numbers[Math.min(below + 1, numbers.length - 1)] as number,
  ]
  return lower + (upper - lower) * (at - below)
}

function interpolateBoth(lattice: number[], column: number, row: number): number {
  const left = Math.min(Math.floor(column), LATTICE - 2)
  const top = Math.min(Math.floor(row), LATTICE - 2)
  const at = (x: number, y: number) => lattice[y * LATTICE + x] as number
  const [right, bottom] = [column - left, row - top]
  return (
    (at(left, top) * (1 - right) + at(left + 1, top) * right) * (1 - bottom) +
    (at(left, top + 1) * (1 - right) + at(left + 1, top + 1) * right) * bottom
  )
}

/** Pixels of the grid a pixel of the map, along the middle of the tile; of one column, by the extent of the grid. */
function measureDensity(
  { pixelWidth, pixelHeight, width, extent: [west, , east] }: Layer['coverage'],
  { zoom }: MapTile,
  across: Span,
  down: Span,
  positionOf: PositionOf,
): number {
  const [middle, last] = [Math.floor((down.from + down.to) / 2), across.to - 1]
  if (last === across.from) return (width * degreesOfPixel(zoom)) / (east - west)
  const [westX, westY] = positionOf(across.from, middle)
  const [eastX, eastY] = positionOf(last, middle)
  return Math.hypot((eastX - westX) / pixelWidth, (eastY - westY) / pixelHeight) / (last - across.from)
}

/** So many pixels of a grid side by side in one of the map are still read; of more, the means of blocks are. */
const MOST_PIXELS = 4

/** Blocks have at most so many pixels of the map on a side: larger ones are seen as such. */
const MOST_SEEN = 4

/**
 * Reads the values at the pixels of a map, or the means of blocks where most would be passed over; NaN for none. Codes have
 * no means: one of so many is read.
 */
export async function readValues(source: MapSource, layer: Layer, cells: Cells): Promise<Float64Array> {
  const isDense = cells.density > MOST_PIXELS
  const values = await (isDense && layer.role !== 'landscape'
    ? readBlockMeans(source, layer, cells)
    : readPixels(source, layer, isDense ? await sampleCells(source, layer, cells) : cells))
  await source.pause()
  const { scale, offset } = layer
  return values.map((value) => value * scale + offset)
}

/** One pixel for each square of the grid that takes as many pixels of the map as blocks do at most. */
async function sampleCells({ pause }: MapSource, { coverage }: Layer, cells: Cells): Promise<Cells> {
  const side = Math.ceil(cells.density * MOST_SEEN)
  const middleOf = (at: number, size: number) =>
    Math.min(size - 1, Math.floor(at / side) * side + Math.floor(side / 2))
  const [columns, rows] = [new Int32Array(cells.columns), new Int32Array(cells.rows)]
  for (const { from, to } of partsOf(columns.length)) {
    await pause()
    for (let at = from; at < to; at++) {
      if ((columns[at] as number) < 0) continue
      columns[at] = middleOf(columns[at] as number, coverage.width)
      rows[at] = middleOf(rows[at] as number, coverage.height)
    }
  }
  return { ...cells, columns, rows }
}

/** Tiles that are read at a time: half a megabyte where a tile has one Float32 band. */
const TILES_A_CHUNK = 512

async function readPixels(
  { stores, pause }: MapSource,
  { coverage, band }: Layer,
  cells: Cells,
): Promise<Float64Array> {
  const { id, store, width, tileSize } = coverage
  const tilesAcross = Math.ceil(width / tileSize)
  const tiles = [...(await groupBySquare(cells, tileSize, tilesAcross, pause))]
  const values = new Float64Array(cells.columns.length).fill(Number.NaN)
  const interleave = createInterleaver()
  for (let first = 0; first < tiles.length; first += TILES_A_CHUNK) {
    const chunk = tiles.slice(first, first + TILES_A_CHUNK)
    const addresses = chunk.map(([tile]) => ({ coverageId: id, ...squareAt(tile, tilesAcross) }))
    const found = await requireStore(stores, store).find(addresses)
    for (const [index, [, pixelsOfMap]] of chunk.entries()) {
      await pause()
      const wkb = found[index]
      if (wkb instanceof Error) throw wkb
      if (!wkb) throw new ReplacedMeanwhile()
      if (wkb.length === 0) continue
      const { width: across, bands, start, pixels } = interleave(wkb)
      for (const at of pixelsOfMap) {
        const row = (cells.rows[at] as number) % tileSize
        const column = (cells.columns[at] as number) % tileSize
        values[at] = pixels[start + (row * across + column) * bands + band - 1] as number
      }
    }
  }
  return values
}

async function readBlockMeans({ db, pause }: MapSource, layer: Layer, cells: Cells): Promise<Float64Array> {
  const { level, side } = chooseBlocks(layer, cells.density)
  const blocksAcross = Math.ceil(layer.coverage.width / side)
  const blocks = await groupBySquare(cells, side, blocksAcross, pause)
  const values = new Float64Array(cells.columns.length).fill(Number.NaN)
  const blockPositions = [...blocks.keys()].map((block) => squareAt(block, blocksAcross))
  if (blockPositions.length === 0) return values
  const rows = blockPositions.map(({ row }) => row)
  const columns = blockPositions.map(({ column }) => column)
  const means = await readMeans(db, layer, {
    level,
    firstRow: Math.min(...rows),
    lastRow: Math.max(...rows),
    firstColumn: Math.min(...columns),
    lastColumn: Math.max(...columns),
  })
  for (const { row, column, mean } of means) {
    for (const at of blocks.get(row * blocksAcross + column) ?? []) values[at] = mean
  }
  return values
}

/** The largest blocks that are not seen as such, and how many pixels they have on a side. */
function chooseBlocks({ coverage }: Layer, density: number): { level: number; side: number } {
  let level = 0
  let side = coverage.tileSize
  const end = Math.max(coverage.width, coverage.height)
  while (side * BLOCK_FACTOR <= density * MOST_SEEN && side < end) {
    level++
    side *= BLOCK_FACTOR
  }
  return { level, side }
}

function squareAt(square: number, squaresAcross: number): { row: number; column: number } {
  return { row: Math.floor(square / squaresAcross), column: square % squaresAcross }
}

/** The pixels of a map by the numbers of the squares that they show, each of so many pixels of the grid on a side. */
async function groupBySquare(
  { columns, rows }: Cells,
  side: number,
  squaresAcross: number,
  pause: Pause,
): Promise<Map<number, number[]>> {
  const squares = new Map<number, number[]>()
  for (const { from, to } of partsOf(columns.length)) {
    await pause()
    for (let at = from; at < to; at++) {
      const column = columns[at] as number
      if (column < 0) continue
      const square = Math.floor((rows[at] as number) / side) * squaresAcross + Math.floor(column / side)
      const pixels = squares.get(square)
      if (pixels) pixels.push(at)
      else squares.set(square, [at])
    }
  }
  return squares
}
