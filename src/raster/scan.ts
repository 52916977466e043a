import {
  createMeasure,
  GAUSS_AT,
  GAUSS_WEIGHT,
  type Geotransform,
  type Grid,
  type GridSize,
  type Measure,
} from './grid.ts'
import { ellipsoidArea, planarArea, type Rings } from './rings.ts'

/** Upper to lower end, in rows and columns. */
interface Edge {
  top: number
  topColumn: number
  bottom: number
  bottomColumn: number
  /** 1 if the ring goes down, -1 if up. */
  sign: number
}

/** Without edges outside the rows, or along a border of rows. */
function listEdges(rings: Float64Array[], height: number): Edge[] {
  const edges: Edge[] = []
  for (const ring of rings) {
    for (let at = 0; at + 3 < ring.length; at += 2) {
      const column = ring[at] as number
      const row = ring[at + 1] as number
      const toColumn = ring[at + 2] as number
      const toRow = ring[at + 3] as number
      if (row === toRow && (Number.isInteger(row) || row < 0 || row > height)) continue
      const edge =
        row <= toRow
          ? { top: row, topColumn: column, bottom: toRow, bottomColumn: toColumn, sign: 1 }
          : { top: toRow, topColumn: toColumn, bottom: row, bottomColumn: column, sign: -1 }
      const clipped = clippedToRows(edge, height)
      if (clipped) edges.push(clipped)
    }
  }
  return edges
}

function clippedToRows(edge: Edge, height: number): Edge | undefined {
  const { top, topColumn, bottom, bottomColumn } = edge
  if (bottom < 0 || top > height || (bottom === 0 && top < 0) || top === height) return undefined
  if (top >= 0 && bottom <= height) return edge
  const columnAt = (y: number) => topColumn + ((y - top) / (bottom - top)) * (bottomColumn - topColumn)
  return {
    ...edge,
    ...(top < 0 && { top: 0, topColumn: columnAt(0) }),
    ...(bottom > height && { bottom: height, bottomColumn: columnAt(height) }),
  }
}

export interface RowCoverage {
  row: number
  /** Of a whole pixel. */
  pixelArea: number
  /** Border pixels, ascending, with their inner areas. */
  columns: number[]
  areas: number[]
  /** Whole pixels: first column and the one after the last, by turns. */
  runs: number[]
}

/** Columns from the first to the one after the last. */
interface ColumnRange {
  start: number
  end: number
}

/** The columns of a grid that edges may have pieces in, with one more on each side for rounding. */
function measureColumns(edges: Edge[], width: number): ColumnRange {
  let [west, east] = [width, 0]
  for (const { topColumn, bottomColumn } of edges) {
    west = Math.min(west, topColumn, bottomColumn)
    east = Math.max(east, topColumn, bottomColumn)
  }
  const start = Math.max(0, Math.floor(west) - 1)
  return { start, end: Math.max(start, Math.min(width, Math.ceil(east) + 1)) }
}

/** Smaller shares of the sum are rounding. */
const NOISE = 2 ** -45

/**
 * Sums what border pieces enclose in a row. A piece adds, signed, its area to the next column border to its pixel, and
 * its height to all pixels beyond.
 */
class RowSums {
  /** In all rows, also beside the grid. */
  pieces = 0
  readonly #range: ColumnRange
  readonly #measure: Measure
  /** By column of the range, as the next two. */
  readonly #area: Float64Array
  readonly #cover: Float64Array
  readonly #touched: Uint8Array
  #columns: number[] = []
  /** Left of the first column. */
  #left = 0
  /** Unsigned sum of the row. */
  #added = 0

  constructor(range: ColumnRange, measure: Measure) {
    const width = range.end - range.start
    this.#range = range
    this.#measure = measure
    this.#area = new Float64Array(width)
    this.#cover = new Float64Array(width)
    this.#touched = new Uint8Array(width)
  }

  /** A piece within one pixel, down from `y` to `toY`. */
  add(sign: number, row: number, column: number, x: number, y: number, toX: number, toY: number): void {
    this.pieces++
    if (column >= this.#range.end) return
    if (y === toY) {
      // On a border of rows it lies in no pixel.
      if (column >= 0 && y !== row && y !== row + 1) this.#touch(column)
      return
    }
    // Heights, and the area to the next column border.
    const slope = (toX - x) / (toY - y)
    const border = column + 1 - x
    let covered = 0
    let beside = 0
    for (let point = 0; point < GAUSS_AT.length; point++) {
      const part = (GAUSS_AT[point] as number) * (toY - y)
      const covers = (GAUSS_WEIGHT[point] as number) * this.#measure.density(y + part)
      covered += covers
      beside += (border - slope * part) * covers
    }
    covered *= toY - y
    beside *= toY - y
    this.#added += covered
    if (column < 0) {
      this.#left += sign * covered
      return
    }
    this.#touch(column)
    const at = column - this.#range.start
    this.#cover[at] = (this.#cover[at] as number) + sign * covered
    this.#area[at] = (this.#area[at] as number) + sign * beside
  }

  #touch(column: number): void {
    const at = column - this.#range.start
    if (this.#touched[at]) return
    this.#touched[at] = 1
    this.#columns.push(column)
  }

  collect(row: number): RowCoverage {
    const whole = this.#measure.pixelArea(row)
    const result: RowCoverage = { row, pixelArea: whole, columns: [], areas: [], runs: [] }
    let inside = this.#left
    const { start, end } = this.#range
    let column = start
    // Pixels without pieces are whole or empty.
    const runTo = (next: number) => {
      if (inside > whole / 2 && next > column) result.runs.push(column, next)
    }
    for (const touched of this.#columns.sort((a, b) => a - b)) {
      runTo(touched)
      const at = touched - start
      const found = inside + (this.#area[at] as number)
      if (found > this.#added * NOISE) {
        result.columns.push(touched)
        result.areas.push(Math.min(found, whole))
      }
      inside += this.#cover[at] as number
      this.#area[at] = 0
      this.#cover[at] = 0
      this.#touched[at] = 0
      column = touched + 1
    }
    runTo(end)
    this.#columns = []
    this.#left = 0
    this.#added = 0
    return result
  }
}

/** Columns and rows by turns; the first pixel's corner is 0, 0. */
export interface GridPolygon {
  /** Closed; holes run against outer rings. */
  rings: Float64Array[]
  /** Coordinates this near to a border lie on it. */
  tolerance: number
}

/** The caller may pause after so many pieces. */
const PIECES_A_STEP = 1000

/**
 * Cuts edges at pixel borders and sums the pieces: holes, several polygons and slivers need no case, and whole pixels
 * no step. Memory is the width of the polygon, time is the border.
 *
 * @yields rows with any area, ascending; undefined at points where the caller may pause
 */
export function* scan(
  { rings, tolerance }: GridPolygon,
  width: number,
  height: number,
  measure: Measure,
): Generator<RowCoverage | undefined> {
  const edges = listEdges(rings, height)
  const first = (edge: Edge) => Math.max(0, Math.floor(edge.top))
  edges.sort((a, b) => first(a) - first(b))
  const sums = new RowSums(measureColumns(edges, width), measure)
  let due = PIECES_A_STEP

  const active: Edge[] = []
  let next = 0
  for (let row = 0; active.length > 0 || next < edges.length; row++) {
    if (active.length === 0) row = first(edges[next] as Edge)
    for (; next < edges.length && first(edges[next] as Edge) <= row; next++) active.push(edges[next] as Edge)
    for (const edge of active) {
      addEdge(sums, edge, row, width, tolerance)
      if (sums.pieces < due) continue
      due = sums.pieces + PIECES_A_STEP
      yield undefined
    }
    const found = sums.collect(row)
    if (found.columns.length > 0 || found.runs.length > 0) yield found
    keepBelow(active, row + 1)
  }
}

/** In place: this runs for every row. */
function keepBelow(edges: Edge[], row: number): void {
  let left = 0
  for (const edge of edges) if (edge.bottom > row) edges[left++] = edge
  edges.length = left
}

function addEdge(sums: RowSums, edge: Edge, row: number, width: number, tolerance: number): void {
  const top = Math.max(edge.top, row)
  const bottom = Math.min(edge.bottom, row + 1)
  const from = top === edge.top ? edge.topColumn : crossing(edge, top, tolerance)
  const to = bottom === edge.bottom ? edge.bottomColumn : crossing(edge, bottom, tolerance)
  if (from === to) {
    // Nothing lies between the piece and its border: the left pixel owns it.
    sums.add(edge.sign, row, Math.ceil(from) - 1, from, top, to, bottom)
    return
  }
  const eastward = to > from
  let column = eastward ? Math.floor(from) : Math.ceil(from) - 1
  let x = from
  let y = top
  while (x !== to) {
    const border = eastward ? eastOf(column, width) : westOf(column, width)
    const nextX = eastward ? Math.min(border, to) : Math.max(border, to)
    const part = (nextX - from) / (to - from)
    const nextY =
      nextX === to ? bottom : Math.min(bottom, Math.max(y, snapped(top + part * (bottom - top), tolerance)))
    sums.add(edge.sign, row, column, x, y, nextX, nextY)
    x = nextX
    y = nextY
    column = eastward ? border : border - 1
  }
}

/** Columns beside the grid count as one. */
function eastOf(column: number, width: number): number {
  if (column < 0) return 0
  return column >= width ? Number.POSITIVE_INFINITY : column + 1
}

function westOf(column: number, width: number): number {
  if (column < 0) return Number.NEGATIVE_INFINITY
  return column >= width ? width : column
}

function crossing({ top, topColumn, bottom, bottomColumn }: Edge, y: number, tolerance: number): number {
  return snapped(topColumn + ((y - top) / (bottom - top)) * (bottomColumn - topColumn), tolerance)
}

/** Snaps to a pixel border within the tolerance. */
function snapped(coordinate: number, tolerance: number): number {
  const border = Math.round(coordinate)
  return Math.abs(coordinate - border) <= tolerance ? border : coordinate
}

export interface ProjectedPolygon extends GridPolygon {
  /** In the measure of the grid. */
  area: number
  /** All of them lie on the grid. */
  within: boolean
}

/**
 * @param polygons in the CRS of the grid
 * @param geographic in degrees
 */
export function projectOnGrid(grid: Grid, geographic: boolean, polygons: Rings[]): ProjectedPolygon {
  const tolerance = computeTolerance(grid, polygons)
  const rings = polygons.flatMap((polygon) =>
    polygon.map((ring, index) => oriented(onGrid(grid, ring, tolerance), index > 0)),
  )
  const { pixelArea } = createMeasure(grid, false)
  return {
    rings,
    tolerance,
    area: geographic
      ? ellipsoidArea(polygons)
      : -rings.reduce((sum, ring) => sum + planarArea(ring), 0) * pixelArea(0),
    within: rings.every((ring) => liesWithin(ring, grid)),
  }
}

/**
 * Units in the last place: coordinates on a border are mostly computed from corner and size of pixels in several
 * steps.
 */
const UNITS = 64

/** Distance at which a coordinate counts as on a border. */
function computeTolerance({ originX, originY, pixelWidth, pixelHeight }: Geotransform, polygons: Rings[]) {
  let x = Math.abs(originX)
  let y = Math.abs(originY)
  for (const ring of polygons.flat()) {
    for (let at = 0; at < ring.length; at += 2) {
      x = Math.max(x, Math.abs(ring[at] as number))
      y = Math.max(y, Math.abs(ring[at + 1] as number))
    }
  }
  return UNITS * Number.EPSILON * Math.max(x / pixelWidth, y / Math.abs(pixelHeight))
}

function onGrid(
  { originX, originY, pixelWidth, pixelHeight }: Geotransform,
  ring: Float64Array,
  tolerance: number,
): Float64Array {
  const placed = new Float64Array(ring.length)
  for (let at = 0; at < ring.length; at += 2) {
    placed[at] = snapped(((ring[at] as number) - originX) / pixelWidth, tolerance)
    placed[at + 1] = snapped(((ring[at + 1] as number) - originY) / pixelHeight, tolerance)
  }
  return placed
}

/** GeoJSON rings run either way. */
function oriented(ring: Float64Array, hole: boolean): Float64Array {
  if (planarArea(ring) > 0 === hole) return ring
  const reversed = new Float64Array(ring.length)
  for (let at = 0; at < ring.length; at += 2) {
    reversed[at] = ring[ring.length - 2 - at] as number
    reversed[at + 1] = ring[ring.length - 1 - at] as number
  }
  return reversed
}

function liesWithin(ring: Float64Array, { width, height }: GridSize): boolean {
  for (let at = 0; at < ring.length; at += 2) {
    const column = ring[at] as number
    const row = ring[at + 1] as number
    if (column < 0 || column > width || row < 0 || row > height) return false
  }
  return true
}
