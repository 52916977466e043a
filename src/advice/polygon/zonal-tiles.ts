import type { Ask } from '#src/data/cancellable.ts'
import { columnsIn, tileRowsOf } from '#src/raster/blocks.ts'
import { type Measure, measureOf } from '#src/raster/pixel-area.ts'
import { clip, ellipsoidArea, planarArea, type Rings, ringLength, sumOfRings } from '#src/raster/rings.ts'
import { type PlacedPolygon, placeOnGrid } from '#src/raster/scan.ts'
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

/**
 * Positions that are transformed by one statement, which takes some milliseconds for them. The embedded database does
 * nothing else meanwhile.
 */
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
  // Each position is transformed by itself: it makes no difference which of them are together in a line.
  for (const part of partsOf(positions)) {
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

/** Views of positions, as equal as they can be: none has a single position, which would be no line. */
function partsOf(positions: Float64Array): Float64Array[] {
  const total = positions.length / 2
  const parts = Math.ceil(total / POSITIONS_A_STATEMENT)
  const startOf = (part: number) => 2 * Math.floor((part * total) / parts)
  return Array.from({ length: parts }, (_, part) => positions.subarray(startOf(part), startOf(part + 1)))
}

/** Polygons on the grid of a coverage, and how much of them that is. */
export interface ZonalPolygon extends PlacedPolygon {
  /** The part of the polygons' own area that it is: below 1 where it was cut off beyond the grid. */
  share: number
}

/**
 * Places polygons on the grid of a coverage.
 *
 * Grids in other coordinates than longitude and latitude are gone to by PostGIS. What lies far beyond
 * them is cut off first: it may not be possible to transform it.
 */
export async function placeOnCoverage(
  ask: Ask,
  coverage: ZonalCoverage,
  polygons: Rings[],
): Promise<ZonalPolygon> {
  const inGridCrs = coverage.srid === 4326 ? { polygons, share: 1 } : await transform(ask, coverage, polygons)
  const placed = placeOnGrid(coverage, coverage.geographic, inGridCrs.polygons)
  const { share } = inGridCrs
  return { ...placed, share, within: share === 1 && placed.within }
}

/**
 * Degrees by which a polygon may reach beyond a projected grid. What is cut off counts by its area on the
 * ellipsoid, which is nearly the same: so the margin is as wide as projections allow for.
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

/** Tiles that are read with one statement: half a megabyte where a tile has one Float32 band. */
const TILES_A_CHUNK = 512

/** A tile, and of each of its pixels the area that counts. */
export interface WeighedTile {
  row: number
  column: number
  /** Row by row, as wide as the tile size. */
  areas: Float64Array
}

/** Is given each tile that is there, until the next one is: those without any value are not. */
export type VisitTile = (tile: DecodedTile, areas: Float64Array) => void

/** Reads tiles of a coverage, chunk by chunk as enough of them are wanted, so that memory stays bounded. */
export class TileReader {
  readonly #computation: Computation
  readonly #coverage: ZonalCoverage
  readonly #columns: number
  readonly #visit: VisitTile
  readonly #decoder = new TileDecoder()
  #wanted = new Map<number, WeighedTile>()

  constructor(computation: Computation, coverage: ZonalCoverage, visit: VisitTile) {
    this.#computation = computation
    this.#coverage = coverage
    this.#columns = Math.ceil(coverage.width / coverage.tileSize)
    this.#visit = visit
  }

  async want(tile: WeighedTile): Promise<void> {
    this.#wanted.set(tile.row * this.#columns + tile.column, tile)
    if (this.#wanted.size >= TILES_A_CHUNK) await this.finish()
  }

  /** Wants whole tiles of a row, in runs of columns. */
  async wantWhole(row: number, runs: number[], measure: Measure): Promise<void> {
    const areas = wholeTile(this.#coverage, measure, row)
    for (const column of columnsIn(runs)) await this.want({ row, column, areas })
  }

  /** Reads what is left. */
  async finish(): Promise<void> {
    const wanted = this.#wanted
    this.#wanted = new Map()
    if (wanted.size === 0) return
    const { readTiles, pause } = this.#computation
    for (const { row, column, wkb } of await readTiles(this.#coverage, [...wanted.values()])) {
      const { areas } = wanted.get(row * this.#columns + column) as WeighedTile
      this.#visit(this.#decoder.decode(wkb), areas)
      await pause()
    }
  }
}

/** What of a polygon has been read, and what is inside as a whole. */
interface TilesRead {
  /** Of the grid, inside the polygon. */
  area: number
  /** The tiles inside that have not been read, as runs of columns by their row. */
  inside: Map<number, number[]>
}

/** Reads the tiles on the border of a polygon, and those inside as well where nothing is stored of them. */
export async function readTilesOf(
  computation: Computation,
  coverage: ZonalCoverage,
  placed: ZonalPolygon,
  visit: VisitTile,
): Promise<TilesRead> {
  const measure = measureOf(coverage, coverage.geographic)
  const reader = new TileReader(computation, coverage, visit)
  const read: TilesRead = { area: 0, inside: new Map() }
  for (const found of tileRowsOf(placed, coverage, measure)) {
    await computation.pause()
    if (!found) continue
    const { row, area, border, inside } = found
    read.area += area
    for (const [column, areas] of border) await reader.want({ row, column, areas })
    if (inside.length === 0) continue
    if (coverage.summarised) read.inside.set(row, inside)
    else await reader.wantWhole(row, inside, measure)
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
