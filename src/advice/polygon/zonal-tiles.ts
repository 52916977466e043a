import type { Ask } from '#src/data/cancellable.ts'
import { columnsIn, tileRowsOf } from '#src/raster/blocks.ts'
import { createMeasure, type Measure } from '#src/raster/pixel-area.ts'
import { clip, ellipsoidArea, planarArea, type Rings, ringLength, sumOfRings } from '#src/raster/rings.ts'
import { type ProjectedPolygon, projectOnGrid } from '#src/raster/scan.ts'
import {
  type DecodedTile,
  decodeLineString,
  decodeMultiPolygon,
  encodeLineString,
  encodeMultiPolygon,
  TileDecoder,
} from '#src/raster/wkb.ts'
import type { Computation } from './computing.ts'
import { divideEdges, transformTo, type ZonalCoverage } from './zonal-queries.ts'

/** Positions of one statement, which takes some milliseconds and blocks the embedded database. */
const POSITIONS_A_STATEMENT = 10_000

/**
 * Transforms polygons in longitude and latitude into the CRS of a grid.
 *
 * @param step degrees: longer edges are divided, since a line that is straight there is a curve in the grid
 */
export async function transformPolygons(
  ask: Ask,
  polygons: Rings[],
  srid: number,
  step: number,
): Promise<Rings[]> {
  const divided = decodeMultiPolygon(await divideEdges(ask, encodeMultiPolygon(polygons), step))
  const positions = joined(divided.flat())
  // Each position is transformed by itself, so any of them can share a line.
  for (const part of splitPositions(positions)) {
    part.set(decodeLineString(await transformTo(ask, encodeLineString(part), srid)))
  }
  let at = 0
  return divided.map((rings) =>
    rings.map(({ length }) => {
      at += length
      return positions.slice(at - length, at)
    }),
  )
}

function joined(rings: Float64Array[]): Float64Array {
  const positions = new Float64Array(rings.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const ring of rings) {
    positions.set(ring, at)
    at += ring.length
  }
  return positions
}

/** Views of positions of nearly equal length: a single position would be no line. */
function splitPositions(positions: Float64Array): Float64Array[] {
  const total = positions.length / 2
  const parts = Math.ceil(total / POSITIONS_A_STATEMENT)
  const startOf = (part: number) => 2 * Math.floor((part * total) / parts)
  return Array.from({ length: parts }, (_, part) => positions.subarray(startOf(part), startOf(part + 1)))
}

/** Polygons on the grid of a coverage. */
export interface ZonalPolygon extends ProjectedPolygon {
  /** The share of the polygons' area: below 1 where they were clipped beyond the grid. */
  share: number
}

/**
 * Places polygons on the grid of a coverage. PostGIS transforms to projected grids; parts far beyond a grid are clipped
 * first, as they may have no image there.
 */
export async function projectOnCoverage(
  ask: Ask,
  coverage: ZonalCoverage,
  polygons: Rings[],
): Promise<ZonalPolygon> {
  const inGridCrs = coverage.srid === 4326 ? { polygons, share: 1 } : await transform(ask, coverage, polygons)
  const placed = projectOnGrid(coverage, coverage.geographic, inGridCrs.polygons)
  const { share } = inGridCrs
  return { ...placed, share, within: share === 1 && placed.within }
}

/**
 * Degrees that a polygon may reach beyond a projected grid. Clipped parts count by their area on the ellipsoid, which
 * is nearly the same, so the margin is as wide as projections allow.
 */
const MARGIN = 3

/**
 * A line that is straight in longitude and latitude is a curve in the plane. Close to the equator it leaves
 * its chord by about 40 metres for the square of a degree; with steps as short as this (square degrees for
 * a degree of the polygon's width) that changes its area by less than 1e-9.
 */
const STEP = 7e-7

/** Polygons that would have more positions than this are divided more coarsely. */
const MOST_STEPS = 100_000

async function transform(
  ask: Ask,
  { srid, west, south, east, north }: ZonalCoverage,
  polygons: Rings[],
): Promise<{ polygons: Rings[]; share: number }> {
  const extent = { west: west - MARGIN, south: south - MARGIN, east: east + MARGIN, north: north + MARGIN }
  const clipped = polygons
    .map((rings) =>
      rings.flatMap((ring) => {
        const part = clip(ring, extent)
        return part.length > 0 ? [part] : []
      }),
    )
    .filter((rings) => rings.length > 0)
  if (clipped.length === 0) return { polygons: [], share: 0 }
  const length = clipped.flat().reduce((sum, ring) => sum + ringLength(ring), 0)
  // As wide as a square with the same proportion of area to border.
  const width = (4 * sumOfRings(clipped, planarArea)) / length
  const step = Math.max(Math.sqrt(STEP * width), length / MOST_STEPS)
  const transformed = await transformPolygons(ask, clipped, srid, step)
  const unchanged = clipped.flat().every((ring, index) => ring === polygons.flat()[index])
  return {
    polygons: transformed,
    share:
      unchanged && clipped.length === polygons.length ? 1 : ellipsoidArea(clipped) / ellipsoidArea(polygons),
  }
}

/** Tiles of one statement: half a megabyte with one Float32 band. */
const TILES_A_CHUNK = 512

/** A tile, and the area of each of its pixels inside the polygon. */
export interface WeighedTile {
  row: number
  column: number
  /** Row by row, as wide as the tile size. */
  areas: Float64Array
}

/** Takes each existing tile, which is valid until the next one. Tiles without values do not exist. */
export type VisitTile = (tile: DecodedTile, areas: Float64Array) => void

/** Reads requested tiles of a coverage in chunks, so that memory stays bounded. */
export class TileReader {
  readonly #computation: Computation
  readonly #coverage: ZonalCoverage
  readonly #columns: number
  readonly #visit: VisitTile
  readonly #decoder = new TileDecoder()
  #requested = new Map<number, WeighedTile>()

  constructor(computation: Computation, coverage: ZonalCoverage, visit: VisitTile) {
    this.#computation = computation
    this.#coverage = coverage
    this.#columns = Math.ceil(coverage.width / coverage.tileSize)
    this.#visit = visit
  }

  async request(tile: WeighedTile): Promise<void> {
    this.#requested.set(tile.row * this.#columns + tile.column, tile)
    if (this.#requested.size >= TILES_A_CHUNK) await this.finish()
  }

  /** Requests whole tiles of a row, in runs of columns. */
  async requestWhole(row: number, runs: number[], measure: Measure): Promise<void> {
    const areas = wholeTile(this.#coverage, measure, row)
    for (const column of columnsIn(runs)) await this.request({ row, column, areas })
  }

  /** Reads the last chunk. */
  async finish(): Promise<void> {
    const requested = this.#requested
    this.#requested = new Map()
    if (requested.size === 0) return
    const { readTiles, pause } = this.#computation
    for (const { row, column, wkb } of await readTiles(this.#coverage, [...requested.values()])) {
      const { areas } = requested.get(row * this.#columns + column) as WeighedTile
      this.#visit(this.#decoder.decode(wkb), areas)
      await pause()
    }
  }
}

/** The tiles of a polygon, read and unread. */
interface TilesRead {
  /** The area of the grid inside the polygon. */
  area: number
  /** The unread tiles inside, as runs of columns by their row. */
  inside: Map<number, number[]>
}

/** Reads the tiles on the border of a polygon, and those inside if the coverage has no summaries. */
export async function readPolygonTiles(
  computation: Computation,
  coverage: ZonalCoverage,
  placed: ZonalPolygon,
  visit: VisitTile,
): Promise<TilesRead> {
  const measure = createMeasure(coverage, coverage.geographic)
  const reader = new TileReader(computation, coverage, visit)
  const read: TilesRead = { area: 0, inside: new Map() }
  for (const found of tileRowsOf(placed, coverage, measure)) {
    await computation.pause()
    if (!found) continue
    const { row, area, border, inside } = found
    read.area += area
    for (const [column, areas] of border) await reader.request({ row, column, areas })
    if (inside.length === 0) continue
    if (coverage.summarised) read.inside.set(row, inside)
    else await reader.requestWhole(row, inside, measure)
  }
  await reader.finish()
  return read
}

/** The areas of the pixels of a whole tile in a row of them. */
export function wholeTile({ tileSize }: ZonalCoverage, measure: Measure, row: number): Float64Array {
  const areas = new Float64Array(tileSize * tileSize)
  for (let line = 0; line < tileSize; line++) {
    areas.fill(measure.pixelArea(row * tileSize + line), line * tileSize, (line + 1) * tileSize)
  }
  return areas
}
