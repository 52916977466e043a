import type { GridSize, Measure, TiledGrid } from './grid.ts'
import { type GridPolygon, type RowCoverage, scan } from './scan.ts'

/** First column and the one after the last, by turns, ascending. */
type Runs = number[]

/** Pixels of a tile with their areas inside; 0 excludes a pixel. */
export interface CoveredPixels {
  /** In the pixels of the tile, row by row, ascending. */
  indexes: Int32Array
  areas: Float64Array
}

/** A row of tiles that a polygon covers in part or as a whole. */
export interface TileRow {
  row: number
  /** Tiles on the border, in no order of columns. */
  border: (CoveredPixels & { column: number })[]
  /** Whole tiles. */
  inside: Runs
}

/**
 * Covers all pixels of a tile.
 *
 * @param first the row of its first pixels
 */
export function coverWhole(
  { pixelArea }: Measure,
  first: number,
  { width, height }: GridSize,
): CoveredPixels {
  const indexes = new Int32Array(width * height).map((_, at) => at)
  const areas = new Float64Array(width * height)
  for (let line = 0; line < height; line++) {
    areas.fill(pixelArea(first + line), line * width, (line + 1) * width)
  }
  return { indexes, areas }
}

/** @param areas in rows of `stride` */
function pickCovered(areas: Float64Array, stride: number, width: number): CoveredPixels {
  let count = 0
  for (let at = 0; at < areas.length; at++) if (areas[at] !== 0) count++
  const covered = { indexes: new Int32Array(count), areas: new Float64Array(count) }
  for (let at = 0, to = 0; to < count; at++) {
    if (areas[at] === 0) continue
    covered.indexes[to] = Math.floor(at / stride) * width + (at % stride)
    covered.areas[to++] = areas[at] as number
  }
  return covered
}

/**
 * @yields rows of tiles, ascending; undefined at points where the caller may pause
 * @returns the area on the grid
 */
export function* tileRowsOf(
  polygon: GridPolygon,
  { width, height, tileSize }: Pick<TiledGrid, 'width' | 'height' | 'tileSize'>,
  measure: Measure,
): Generator<TileRow | undefined, number> {
  let area = 0
  let rows: RowCoverage[] = []
  let current = 0
  for (const found of scan(polygon, width, height, measure)) {
    if (!found) {
      yield undefined
      continue
    }
    const row = Math.floor(found.row / tileSize)
    if (rows.length > 0 && row !== current) {
      yield assemble(current, rows)
      rows = []
    }
    current = row
    rows.push(found)
  }
  if (rows.length > 0) yield assemble(current, rows)
  return area

  function assemble(row: number, coverages: RowCoverage[]): TileRow {
    const border = new Map<number, Float64Array>()
    const tileAt = (column: number): Float64Array => {
      const areas = border.get(column) ?? new Float64Array(tileSize * tileSize)
      border.set(column, areas)
      return areas
    }
    const full: Runs[] = []
    let ofTiles = 0
    for (const coverage of coverages) {
      const line = (coverage.row % tileSize) * tileSize
      coverage.columns.forEach((column, index) => {
        const covered = coverage.areas[index] as number
        tileAt(Math.floor(column / tileSize))[line + (column % tileSize)] = covered
        ofTiles += covered
      })
      const ofRow: Runs = []
      for (let at = 0; at < coverage.runs.length; at += 2) {
        const start = coverage.runs[at] as number
        const end = coverage.runs[at + 1] as number
        ofTiles += (end - start) * coverage.pixelArea
        const from = Math.ceil(start / tileSize)
        const to = end === width ? Math.ceil(width / tileSize) : Math.floor(end / tileSize)
        if (from * tileSize !== start) tileAt(from - 1)
        if (to * tileSize < end) tileAt(to)
        if (from < to) ofRow.push(from, to)
      }
      full.push(ofRow)
    }
    area += ofTiles
    const tileHeight = Math.min(tileSize, height - row * tileSize)
    const inside = coverages.length === tileHeight ? common(full) : []
    // An edge along a border of rows leaves whole and empty rows in a tile.
    for (const runs of full) for (const column of columnsIn(without(runs, inside))) tileAt(column)
    const tiles = [...border.keys()].sort((a, b) => a - b)
    for (const coverage of coverages) fillRuns(coverage, tiles, tileAt)
    return { row, border: [...border].map(([column, areas]) => pick(column, areas)), inside }
  }

  function pick(column: number, areas: Float64Array): TileRow['border'][number] {
    return { column, ...pickCovered(areas, tileSize, Math.min(tileSize, width - column * tileSize)) }
  }

  /** Enters whole pixels into tiles of the border. */
  function fillRuns(
    { row, runs, pixelArea }: RowCoverage,
    tiles: number[],
    tileAt: (column: number) => Float64Array,
  ): void {
    const line = (row % tileSize) * tileSize
    let at = 0
    for (const column of tiles) {
      const start = column * tileSize
      const end = Math.min(width, start + tileSize)
      while (at < runs.length && (runs[at + 1] as number) <= start) at += 2
      for (let run = at; run < runs.length && (runs[run] as number) < end; run += 2) {
        const from = Math.max(start, runs[run] as number) - start
        const to = Math.min(end, runs[run + 1] as number) - start
        tileAt(column).fill(pixelArea, line + from, line + to)
      }
    }
  }
}

/** Side of a block in blocks of the level below. */
export const BLOCK_FACTOR = 4

/** Level 0 has the tiles. */
export interface BlockRun {
  level: number
  row: number
  start: number
  end: number
}

/**
 * The number of the largest blocks grows with the border, not with the area.
 *
 * @param inside tiles by row
 * @param most the smallest blocks of which there are no more; without it the largest
 */
export function largestBlocks(
  inside: Map<number, Runs>,
  { width, height, tileSize }: Pick<TiledGrid, 'width' | 'height' | 'tileSize'>,
  most?: number,
): BlockRun[] {
  const highest =
    most === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(0, Math.ceil(Math.log(countTiles(inside) / most) / Math.log(BLOCK_FACTOR ** 2)))
  let [columns, rows] = [Math.ceil(width / tileSize), Math.ceil(height / tileSize)]
  const blocks: BlockRun[] = []
  let lower = inside
  for (let level = 0; lower.size > 0; level++) {
    const upper = new Map<number, Runs>()
    // A single block has no parent.
    const last = level === highest || (columns === 1 && rows === 1)
    for (const row of lower.keys()) {
      const above = Math.floor(row / BLOCK_FACTOR)
      if (last || upper.has(above)) continue
      const parts: Runs[] = []
      for (let part = above * BLOCK_FACTOR; part < Math.min(rows, (above + 1) * BLOCK_FACTOR); part++) {
        parts.push(lower.get(part) ?? [])
      }
      upper.set(above, whole(common(parts), columns))
    }
    for (const [row, runs] of lower) {
      const covered = (upper.get(Math.floor(row / BLOCK_FACTOR)) ?? []).map((end) =>
        Math.min(columns, end * BLOCK_FACTOR),
      )
      const rest = without(runs, covered)
      for (let at = 0; at < rest.length; at += 2) {
        blocks.push({ level, row, start: rest[at] as number, end: rest[at + 1] as number })
      }
    }
    lower = new Map([...upper].filter(([, runs]) => runs.length > 0))
    columns = Math.ceil(columns / BLOCK_FACTOR)
    rows = Math.ceil(rows / BLOCK_FACTOR)
  }
  return blocks
}

export function countTiles(inside: Map<number, Runs>): number {
  let count = 0
  for (const runs of inside.values()) {
    for (let at = 0; at < runs.length; at += 2) count += (runs[at + 1] as number) - (runs[at] as number)
  }
  return count
}

/** Whole blocks of the next level. */
function whole(runs: Runs, columns: number): Runs {
  const result: Runs = []
  for (let at = 0; at < runs.length; at += 2) {
    const end = runs[at + 1] as number
    const from = Math.ceil((runs[at] as number) / BLOCK_FACTOR)
    const to = end === columns ? Math.ceil(end / BLOCK_FACTOR) : Math.floor(end / BLOCK_FACTOR)
    if (from < to) result.push(from, to)
  }
  return result
}

/** The intersection. */
function common(lists: Runs[]): Runs {
  return lists.reduce((a, b) => {
    const result: Runs = []
    for (let i = 0, j = 0; i < a.length && j < b.length; ) {
      const end = Math.min(a[i + 1] as number, b[j + 1] as number)
      const start = Math.max(a[i] as number, b[j] as number)
      if (start < end) result.push(start, end)
      if (a[i + 1] === end) i += 2
      else j += 2
    }
    return result
  })
}

/** The difference; `others` lie within `runs`. */
function without(runs: Runs, others: Runs): Runs {
  const result: Runs = []
  let other = 0
  for (let at = 0; at < runs.length; at += 2) {
    let start = runs[at] as number
    const end = runs[at + 1] as number
    for (; other < others.length && (others[other] as number) < end; other += 2) {
      if ((others[other] as number) > start) result.push(start, others[other] as number)
      start = others[other + 1] as number
    }
    if (start < end) result.push(start, end)
  }
  return result
}

export function* columnsIn(runs: Runs): Generator<number> {
  for (let at = 0; at < runs.length; at += 2) {
    for (let column = runs[at] as number; column < (runs[at + 1] as number); column++) yield column
  }
}
