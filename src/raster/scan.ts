import { GAUSS_AT, GAUSS_WEIGHT, type Measure } from './pixel-area.ts'

/** What of a row of pixels lies in a polygon. */
export interface RowCoverage {
  row: number
  /** The area of a whole pixel of the row. */
  pixelArea: number
  /** The pixels that the border passes through, ascending, and the area of each that lies inside. */
  columns: number[]
  areas: number[]
  /** The runs of pixels that lie inside as a whole: first column and the one after the last, by turns. */
  runs: number[]
}

/** A polygon in the coordinates of a grid: column and row by turns; the corner of the first pixel is 0, 0. */
export interface GridPolygon {
  /** Closed; outer rings run one way, holes the other. */
  rings: Float64Array[]
  /** A coordinate as near as this to a border of pixels lies on it: so little are coordinates known. */
  tolerance: number
}

/** Below this part of what was added up, a sum is the noise of rounding. */
const NOISE = 2 ** -45

/** After so many pieces the scan lets others have a turn, if its caller wants to. */
const PIECES_A_TURN = 20_000

/**
 * Finds the area of every pixel of a grid that lies inside a polygon, row by row.
 *
 * Each edge is cut where it crosses the borders of pixels. A piece adds, with its sign, what lies between
 * it and the next border of columns to its own pixel, and its height to all pixels of the row beyond. So
 * holes, several polygons and slivers need no case of their own, and what is inside as a whole is never
 * visited. Memory is that of a row; time is that of the border.
 *
 * @yields the rows that have any, ascending; undefined now and then in between, where it can be left alone
 */
export function* scan(
  { rings, tolerance }: GridPolygon,
  width: number,
  height: number,
  { density, pixelArea }: Measure,
): Generator<RowCoverage | undefined> {
  const edges = edgesOf(rings, height)
  const first = (edge: Edge) => Math.max(0, Math.floor(edge.top))
  edges.sort((a, b) => first(a) - first(b))

  const area = new Float64Array(width)
  const cover = new Float64Array(width)
  const touched = new Uint8Array(width)
  let columns: number[] = []
  /** What is added left of the first column. */
  let left = 0
  /** The sum of everything added in a row, without signs. */
  let added = 0
  let pieces = 0

  let active: Edge[] = []
  let next = 0
  for (let row = 0; active.length > 0 || next < edges.length; row++) {
    if (active.length === 0) row = first(edges[next] as Edge)
    for (; next < edges.length && first(edges[next] as Edge) <= row; next++) active.push(edges[next] as Edge)
    left = 0
    added = 0
    for (const edge of active) {
      addEdge(edge, row)
      if (pieces < PIECES_A_TURN) continue
      pieces = 0
      yield undefined
    }
    const found = collect(row)
    if (found.columns.length > 0 || found.runs.length > 0) yield found
    active = active.filter(({ bottom }) => bottom > row + 1)
  }

  /** Adds the part of an edge that lies in a row. */
  function addEdge(edge: Edge, row: number): void {
    const top = Math.max(edge.top, row)
    const bottom = Math.min(edge.bottom, row + 1)
    const from = top === edge.top ? edge.topColumn : crossing(edge, top)
    const to = bottom === edge.bottom ? edge.bottomColumn : crossing(edge, bottom)
    if (from === to) {
      // On a border of columns there is nothing between it and the border: it belongs to the left one.
      addPiece(edge.sign, row, Math.ceil(from) - 1, from, top, to, bottom)
      return
    }
    const eastward = to > from
    let column = eastward ? Math.floor(from) : Math.ceil(from) - 1
    let x = from
    let y = top
    while (x !== to) {
      const border = eastward ? crossingEast(column) : crossingWest(column)
      const nextX = eastward ? Math.min(border, to) : Math.max(border, to)
      const nextY =
        nextX === to
          ? bottom
          : Math.min(bottom, Math.max(y, snapped(top + ((nextX - from) / (to - from)) * (bottom - top))))
      addPiece(edge.sign, row, column, x, y, nextX, nextY)
      x = nextX
      y = nextY
      column = eastward ? border : border - 1
    }
  }

  /** Where an edge leaves a column; beside the grid all columns are one. */
  function crossingEast(column: number): number {
    if (column < 0) return 0
    return column >= width ? Number.POSITIVE_INFINITY : column + 1
  }
  function crossingWest(column: number): number {
    if (column < 0) return Number.NEGATIVE_INFINITY
    return column >= width ? width : column
  }

  /** The column in which an edge crosses a border of rows. */
  function crossing({ top, topColumn, bottom, bottomColumn }: Edge, y: number): number {
    return snapped(topColumn + ((y - top) / (bottom - top)) * (bottomColumn - topColumn))
  }

  function snapped(coordinate: number): number {
    const border = Math.round(coordinate)
    return Math.abs(coordinate - border) <= tolerance ? border : coordinate
  }

  /** Adds a piece of an edge within one pixel, which goes down from `y` to `toY`. */
  function addPiece(
    sign: number,
    row: number,
    column: number,
    x: number,
    y: number,
    toX: number,
    toY: number,
  ): void {
    if (column >= width) return
    pieces++
    if (y === toY) {
      // Along the border of rows it is in no pixel.
      if (column >= 0 && y !== row && y !== row + 1) touch(column)
      return
    }
    // The heights of the piece, and what lies between it and the next border of columns.
    const slope = (toX - x) / (toY - y)
    const border = column + 1 - x
    let covered = 0
    let beside = 0
    for (let point = 0; point < GAUSS_AT.length; point++) {
      const part = (GAUSS_AT[point] as number) * (toY - y)
      const covers = (GAUSS_WEIGHT[point] as number) * density(y + part)
      covered += covers
      beside += (border - slope * part) * covers
    }
    covered *= toY - y
    beside *= toY - y
    added += covered
    if (column < 0) {
      left += sign * covered
      return
    }
    touch(column)
    cover[column] = (cover[column] as number) + sign * covered
    area[column] = (area[column] as number) + sign * beside
  }

  function touch(column: number): void {
    if (touched[column]) return
    touched[column] = 1
    columns.push(column)
  }

  /** What the row comes to; leaves everything empty for the next one. */
  function collect(row: number): RowCoverage {
    const whole = pixelArea(row)
    const result: RowCoverage = { row, pixelArea: whole, columns: [], areas: [], runs: [] }
    let inside = left
    let column = 0
    // Pixels that no piece of the border is in lie inside as a whole, or not at all.
    const runTo = (end: number) => {
      if (inside > whole / 2 && end > column) result.runs.push(column, end)
    }
    for (const touchedColumn of columns.sort((a, b) => a - b)) {
      runTo(touchedColumn)
      const found = inside + (area[touchedColumn] as number)
      if (found > added * NOISE) {
        result.columns.push(touchedColumn)
        result.areas.push(Math.min(found, whole))
      }
      inside += cover[touchedColumn] as number
      area[touchedColumn] = 0
      cover[touchedColumn] = 0
      touched[touchedColumn] = 0
      column = touchedColumn + 1
    }
    runTo(width)
    columns = []
    return result
  }
}

/** An edge from its upper to its lower end, in rows and columns. */
interface Edge {
  top: number
  topColumn: number
  bottom: number
  bottomColumn: number
  /** 1 where the ring goes down along it, -1 where it goes up. */
  sign: number
}

/** The edges that have a part in the rows of the grid, and none that lie along a border of rows. */
function edgesOf(rings: Float64Array[], height: number): Edge[] {
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
      edges.push(...clippedToRows(edge, height))
    }
  }
  return edges
}

function clippedToRows(edge: Edge, height: number): Edge[] {
  const { top, topColumn, bottom, bottomColumn } = edge
  if (bottom < 0 || top > height || (bottom === 0 && top < 0) || top === height) return []
  const columnAt = (y: number) => topColumn + ((y - top) / (bottom - top)) * (bottomColumn - topColumn)
  return [
    {
      ...edge,
      ...(top < 0 && { top: 0, topColumn: columnAt(0) }),
      ...(bottom > height && { bottom: height, bottomColumn: columnAt(height) }),
    },
  ]
}
