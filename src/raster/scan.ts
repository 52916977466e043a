import { type Edge, edgesOf } from './edges.ts'
import type { Measure } from './pixel-area.ts'
import { type RowCoverage, RowSums } from './row-sums.ts'

/** A polygon in the coordinates of a grid: column and row by turns; the corner of the first pixel is 0, 0. */
export interface GridPolygon {
  /** Closed; outer rings run one way, holes the other. */
  rings: Float64Array[]
  /** A coordinate as near as this to a border of pixels lies on it: so little are coordinates known. */
  tolerance: number
}

/** After so many pieces the scan lets others have a turn, if its caller wants to. */
const PIECES_A_TURN = 1000

/**
 * Finds the area of every pixel of a grid that lies inside a polygon, row by row.
 *
 * Each edge is cut where it crosses the borders of pixels, and its pieces are added up. So holes, several
 * polygons and slivers need no case of their own, and what is inside as a whole is never visited. Memory
 * is that of a row; time is that of the border.
 *
 * @yields the rows that have any, ascending; undefined now and then in between, where it can be left alone
 */
export function* scan(
  { rings, tolerance }: GridPolygon,
  width: number,
  height: number,
  measure: Measure,
): Generator<RowCoverage | undefined> {
  const edges = edgesOf(rings, height)
  const first = (edge: Edge) => Math.max(0, Math.floor(edge.top))
  edges.sort((a, b) => first(a) - first(b))
  const sums = new RowSums(width, measure)
  let turn = PIECES_A_TURN

  const active: Edge[] = []
  let next = 0
  for (let row = 0; active.length > 0 || next < edges.length; row++) {
    if (active.length === 0) row = first(edges[next] as Edge)
    for (; next < edges.length && first(edges[next] as Edge) <= row; next++) active.push(edges[next] as Edge)
    for (const edge of active) {
      addEdge(sums, edge, row, width, tolerance)
      if (sums.pieces < turn) continue
      turn = sums.pieces + PIECES_A_TURN
      yield undefined
    }
    const found = sums.collect(row)
    if (found.columns.length > 0 || found.runs.length > 0) yield found
    keepBelow(active, row + 1)
  }
}

/** Leaves those of some edges that reach below a row: in place, since this is done for every row. */
function keepBelow(edges: Edge[], row: number): void {
  let kept = 0
  for (const edge of edges) if (edge.bottom > row) edges[kept++] = edge
  edges.length = kept
}

/** Adds the part of an edge that lies in a row, in pieces of one pixel each. */
function addEdge(sums: RowSums, edge: Edge, row: number, width: number, tolerance: number): void {
  const top = Math.max(edge.top, row)
  const bottom = Math.min(edge.bottom, row + 1)
  const from = top === edge.top ? edge.topColumn : crossing(edge, top, tolerance)
  const to = bottom === edge.bottom ? edge.bottomColumn : crossing(edge, bottom, tolerance)
  if (from === to) {
    // On a border of columns there is nothing between it and the border: it belongs to the left one.
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

/** Where an edge leaves a column to the east; beside the grid all columns are one. */
function eastOf(column: number, width: number): number {
  if (column < 0) return 0
  return column >= width ? Number.POSITIVE_INFINITY : column + 1
}

function westOf(column: number, width: number): number {
  if (column < 0) return Number.NEGATIVE_INFINITY
  return column >= width ? width : column
}

/** The column in which an edge crosses a border of rows. */
function crossing({ top, topColumn, bottom, bottomColumn }: Edge, y: number, tolerance: number): number {
  return snapped(topColumn + ((y - top) / (bottom - top)) * (bottomColumn - topColumn), tolerance)
}

/** A coordinate, on the border of pixels where it is as near to it as it is known. */
export function snapped(coordinate: number, tolerance: number): number {
  const border = Math.round(coordinate)
  return Math.abs(coordinate - border) <= tolerance ? border : coordinate
}
