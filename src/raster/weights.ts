import { type TileRow, tileRowsOf } from './blocks.ts'
import type { Measure, TiledGrid } from './grid.ts'
import type { ProjectedPolygon } from './scan.ts'

/**
 * Rows of tiles that a polygon covers, ascending; undefined at points where the caller may pause. Returns the area of the
 * polygon in the measure of the grid, also beside it.
 */
type WeighedRows = Generator<TileRow | undefined, number>

/** The pixels of a grid that a polygon covers, and by how much. */
export interface PolygonWeights {
  /** May be read several times. */
  rows(): WeighedRows
  /** Encoded; undefined where that takes more than a megabyte, and each reading scans the polygon. */
  bytes: Uint8Array | undefined
}

type TileGrid = Pick<TiledGrid, 'width' | 'height' | 'tileSize'>

export function* scanWeights(polygon: ProjectedPolygon, grid: TileGrid, measure: Measure): WeighedRows {
  const onGrid = yield* tileRowsOf(polygon, grid, measure)
  // The sum of the parts is as exact as the parts; only the area beside the grid is missing.
  return polygon.within ? onGrid : polygon.area
}

/** Raise it with each change of the format or its meaning. */
const WEIGHTS_VERSION = 1

/** A text that grids have in common where encoded weights are the same, to the last bit. */
export function gridKey({ srid, width, height, tileSize, ...grid }: TiledGrid): string {
  const { originX, originY, pixelWidth, pixelHeight } = grid
  const numbers = [srid, originX, originY, pixelWidth, pixelHeight, width, height, tileSize]
  return [WEIGHTS_VERSION, ...numbers].join(' ')
}

/** The most bytes of encoded weights: a border of 100,000 pixels. */
const MOST_BYTES = 1_048_576

/**
 * A field of a hectare in one pixel of 300 m takes some 17 bytes; the border of a zone 9 to 10 bytes a pixel. Numbers are
 * varints of seven bits, the lowest first, and areas doubles, little-endian:
 *
 * - twice the number of rows; plus one if the area of the polygon follows, which else is the sum of the pixels on its
 *   border, in their order
 * - by row: rows since the one before; twice the number of tiles on the border; plus one if the number of runs follows,
 *   and by run its distance from the one before, and its length
 * - by tile on the border: columns since the one before, with the sign in the lowest bit; the number of pixels, in
 *   stretches: left-out pixels before it; twice its pixels; plus one for whole pixels, else their areas follow
 *
 * @yields at points where the caller may pause
 * @returns undefined for more than {@link MOST_BYTES}
 */
export function* encodeWeights(
  rows: WeighedRows,
  grid: TileGrid,
  measure: Measure,
): Generator<undefined, Uint8Array | undefined> {
  const body = new Writer()
  let [count, sum, lastRow, lastColumn] = [0, 0, 0, 0]
  let step = rows.next()
  for (; !step.done; step = rows.next()) {
    yield undefined
    if (!step.value) continue
    const { row, border, inside } = step.value
    count++
    body.number(row - lastRow)
    lastRow = row
    body.number(2 * border.length + (inside.length > 0 ? 1 : 0))
    if (inside.length > 0) writeRuns(body, inside)
    const pixelArea = measurePixels(row, grid, measure)
    for (const { column, indexes, areas } of border) {
      body.number(column < lastColumn ? 2 * (lastColumn - column) - 1 : 2 * (column - lastColumn))
      lastColumn = column
      writePixels(body, indexes, areas, (index) => pixelArea(column, index))
      for (let at = 0; at < areas.length; at++) sum += areas[at] as number
    }
    if (body.length > MOST_BYTES) return undefined
  }
  const head = new Writer()
  const isSum = Object.is(step.value, sum)
  head.number(2 * count + (isSum ? 0 : 1))
  if (!isSum) head.double(step.value)
  return head.joined(body)
}

function writeRuns(to: Writer, runs: number[]): void {
  to.number(runs.length / 2)
  let last = 0
  for (const end of runs) {
    to.number(end - last)
    last = end
  }
}

function writePixels(
  to: Writer,
  indexes: Int32Array,
  areas: Float64Array,
  wholeArea: (index: number) => number,
): void {
  to.number(indexes.length)
  let end = 0
  for (let at = 0; at < indexes.length; ) {
    const first = at
    const start = indexes[at] as number
    const isWhole = areas[at] === wholeArea(start)
    do at++
    while (
      at < indexes.length &&
      indexes[at] === start + at - first &&
      isWhole === (areas[at] === wholeArea(indexes[at] as number))
    )
    to.number(start - end)
    to.number(2 * (at - first) + (isWhole ? 1 : 0))
    for (let pixel = first; pixel < at && !isWhole; pixel++) to.double(areas[pixel] as number)
    end = start + at - first
  }
}

/** Makes the function for the area of a whole pixel of a row of tiles, by column and index in the tile. */
function measurePixels(row: number, { width, tileSize }: TileGrid, { pixelArea }: Measure) {
  const ofLines: number[] = []
  let [start, end, tile, area] = [0, 0, -1, 0]
  return (column: number, index: number): number => {
    // Most pixels are on the line of the one before.
    if (column === tile && index >= start && index < end) return area
    const columns = Math.min(tileSize, width - column * tileSize)
    const line = Math.floor(index / columns)
    ofLines[line] ??= pixelArea(row * tileSize + line)
    ;[start, end, tile, area] = [line * columns, (line + 1) * columns, column, ofLines[line] as number]
    return area
  }
}

/** Of {@link encodeWeights} on the same grid, to the last bit. @throws {RangeError} for a part of the bytes */
export function* decodeWeights(bytes: Uint8Array, grid: TileGrid, measure: Measure): WeighedRows {
  const from = new Reader(bytes)
  const head = from.number()
  const area = head % 2 === 1 ? from.double() : undefined
  let [sum, row, column] = [0, 0, 0]
  for (let left = Math.floor(head / 2); left > 0; left--) {
    row += from.number()
    const tiles = from.number()
    const inside = tiles % 2 === 1 ? readRuns(from) : []
    const pixelArea = measurePixels(row, grid, measure)
    const border: TileRow['border'] = []
    while (border.length < Math.floor(tiles / 2)) {
      const step = from.number()
      const next = column + (step % 2 === 1 ? -(step + 1) / 2 : step / 2)
      column = next
      const covered = readPixels(from, (pixel) => pixelArea(next, pixel))
      for (let at = 0; at < covered.areas.length; at++) sum += covered.areas[at] as number
      border.push({ column, ...covered })
    }
    yield { row, border, inside }
  }
  return area ?? sum
}

function readRuns(from: Reader): number[] {
  const runs: number[] = []
  for (let left = 2 * from.number(); left > 0; left--) runs.push((runs.at(-1) ?? 0) + from.number())
  return runs
}

function readPixels(from: Reader, wholeArea: (index: number) => number) {
  const count = from.number()
  const [indexes, areas] = [new Int32Array(count), new Float64Array(count)]
  for (let at = 0, index = 0; at < count; ) {
    index += from.number()
    const stretch = from.number()
    for (const end = at + Math.floor(stretch / 2); at < end; at++, index++) {
      indexes[at] = index
      areas[at] = stretch % 2 === 1 ? wholeArea(index) : from.double()
    }
  }
  return { indexes, areas }
}

/** Most fields need no more. */
const FIRST_BYTES = 64

const SEVEN_BITS = 128
const DOUBLE_BYTES = 8
/** Of a number up to 2 ** 53. */
const NUMBER_BYTES = 8

class Writer {
  length = 0
  #bytes = new Uint8Array(FIRST_BYTES)
  #view = new DataView(this.#bytes.buffer)

  number(value: number): void {
    this.#makeRoom(NUMBER_BYTES)
    let left = value
    for (; left >= SEVEN_BITS; left = Math.floor(left / SEVEN_BITS)) {
      this.#bytes[this.length++] = SEVEN_BITS + (left % SEVEN_BITS)
    }
    this.#bytes[this.length++] = left
  }

  double(value: number): void {
    this.#makeRoom(DOUBLE_BYTES)
    this.#view.setFloat64(this.length, value, true)
    this.length += DOUBLE_BYTES
  }

  #makeRoom(bytes: number): void {
    if (this.length + bytes <= this.#bytes.length) return
    const larger = new Uint8Array(2 * this.#bytes.length)
    larger.set(this.#bytes)
    this.#bytes = larger
    this.#view = new DataView(larger.buffer)
  }

  /** With the bytes of another one behind. */
  joined(other: Writer): Uint8Array {
    const all = new Uint8Array(this.length + other.length)
    all.set(this.#bytes.subarray(0, this.length))
    all.set(other.#bytes.subarray(0, other.length), this.length)
    return all
  }
}

class Reader {
  #at = 0
  readonly #bytes: Uint8Array
  readonly #view: DataView

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  number(): number {
    let value = 0
    for (let unit = 1; ; unit *= SEVEN_BITS) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new RangeError('the weights are cut off')
      if (byte < SEVEN_BITS) return value + unit * byte
      value += unit * (byte - SEVEN_BITS)
    }
  }

  double(): number {
    this.#at += DOUBLE_BYTES
    return this.#view.getFloat64(this.#at - DOUBLE_BYTES, true)
  }
}
