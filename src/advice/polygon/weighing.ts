import type { Ask } from '#src/data/database.ts'
import { Cache } from '#src/lib/cache.ts'
import type { Pause } from '#src/lib/limiter.ts'
import type { Position } from '#src/lookup/layers.ts'
import { createMeasure } from '#src/raster/grid.ts'
import { clip, ellipsoidArea, planarArea, type Rings, ringLength, sumOfRings } from '#src/raster/rings.ts'
import { type ProjectedPolygon, projectOnGrid } from '#src/raster/scan.ts'
import {
  decodeWeights,
  encodeWeights,
  gridKey,
  type PolygonWeights,
  scanWeights,
} from '#src/raster/weights.ts'
import { findInteriorPoint, refuseInvalid } from './geometry.ts'
import { type AreaInRelease, readAreaShape, transformPolygons, type ZonalCoverage } from './queries.ts'

/** The area on the ellipsoid, and a position inside. */
interface Measures extends Position {
  areaHa: number
}

/** Polygons of a saved field, whose validity and location were checked before. Memory has no room for all of them. */
export interface MeasuredPolygons extends Measures {
  /** Read where they are needed: stored weights may do. */
  polygons(): Promise<Rings[]>
  /** Bytes of its stored weights; undefined where it is still to be weighed. */
  storedBytes: number | undefined
  /** Gives stored weights on a grid, or weighs and stores them. */
  recall(coverage: ZonalCoverage, weigh: () => Promise<PolygonWeights>): Promise<PolygonWeights>
}

/** A polygon, a saved one, or an administrative area and its stored result. */
export type Region = Rings[] | MeasuredPolygons | AreaInRelease

/** Polygons as they were sent, or saved ones. */
export type Polygons = Rings[] | MeasuredPolygons

/** An area with the boundaries of a version. */
export type AreaVersion = Pick<AreaInRelease, 'id' | 'version'>

/** A region with all that statistics need of it. */
export interface WeighedRegion extends Measures {
  /** The pixels of a grid in it. @throws {ReplacedMeanwhile} for an area whose boundaries are replaced */
  weightsOf(coverage: ZonalCoverage): Promise<PolygonWeights>
}

interface Weighing {
  ask: Ask
  pause: Pause
}

/** Weighs valid polygons on a grid. */
async function weigh(
  { ask, pause }: Weighing,
  coverage: ZonalCoverage,
  polygons: Rings[],
): Promise<PolygonWeights> {
  const projected = await projectOnCoverage(ask, coverage, polygons)
  await pause()
  const measure = createMeasure(coverage, coverage.geographic)
  const rows = () => scanWeights(projected, coverage, measure)
  const steps = encodeWeights(rows(), coverage, measure)
  let step = steps.next()
  for (; !step.done; step = steps.next()) await pause()
  return step.value ? readWeights(coverage, step.value) : { rows, bytes: undefined }
}

/** The weights of a region on a grid with the same key, from their bytes. */
export function readWeights(coverage: ZonalCoverage, bytes: Uint8Array): PolygonWeights {
  const measure = createMeasure(coverage, coverage.geographic)
  return { rows: () => decodeWeights(bytes, coverage, measure), bytes }
}

const SQUARE_METRES_A_HECTARE = 10_000

/** Makes a region of valid polygons, weighed when they are asked for. */
export function weighPolygons(weighing: Weighing, polygons: Rings[]): WeighedRegion {
  return {
    ...measureOutline(polygons),
    weightsOf: (coverage) => weigh(weighing, coverage, polygons),
  }
}

/** Makes a region of a saved field. */
export function weighMeasured(
  weighing: Weighing,
  { areaHa, longitude, latitude, polygons, recall }: MeasuredPolygons,
): WeighedRegion {
  return {
    areaHa,
    longitude,
    latitude,
    weightsOf: (coverage) => recall(coverage, async () => weigh(weighing, coverage, await polygons())),
  }
}

export function measureOutline(polygons: Rings[]): Measures {
  return { areaHa: ellipsoidArea(polygons) / SQUARE_METRES_A_HECTARE, ...findInteriorPoint(polygons) }
}

/** A region whose weights are in memory. */
interface KnownRegion extends Measures {
  /** Encoded weights with the keys of their grids: one or two, for which a map would take as much memory as the rest. */
  grids: readonly { key: string; bytes: Uint8Array }[]
}

const REMEMBERED_BYTES = 33_554_432

/** What objects, keys and maps take of memory beside encoded weights: a region, and a grid of it. */
const BYTES_A_REGION = 500
const BYTES_A_GRID = 300

const keysOfCoverages = new WeakMap<ZonalCoverage, string>()

/** The key of the grid; one string for all regions. */
export function findGridKey(coverage: ZonalCoverage): string {
  const key = keysOfCoverages.get(coverage) ?? gridKey(coverage)
  keysOfCoverages.set(coverage, key)
  return key
}

/** Makes the function that gives regions with weights, remembered by grid. A remembered polygon is valid. */
export function createRegions() {
  const known = new Cache<string, KnownRegion>('weights of polygons', {
    maxSize: REMEMBERED_BYTES,
    sizeOf: ({ grids }) =>
      grids.reduce((sum, { bytes }) => sum + BYTES_A_GRID + bytes.length, BYTES_A_REGION),
  })

  /**
   * @param key of the region
   * @throws {ApiError} for an invalid polygon, {ReplacedMeanwhile} for an area whose boundaries are replaced
   */
  return async (weighing: Weighing, region: Rings[] | AreaVersion, key: string): Promise<WeighedRegion> => {
    let shape: Promise<Rings[]> | undefined
    const readShape = () => {
      shape ??= readValidShape(weighing, region)
      return shape
    }
    const outline = known.get(key) ?? measureOutline(await readShape())
    const { areaHa, longitude, latitude } = outline
    return {
      areaHa,
      longitude,
      latitude,
      async weightsOf(coverage) {
        const grid = findGridKey(coverage)
        const found = known.peek(key)?.grids.find((one) => one.key === grid)
        if (found) return readWeights(coverage, found.bytes)
        const weights = await weigh(weighing, coverage, await readShape())
        const { bytes } = weights
        if (bytes) {
          // Another request may have weighed it in the meantime.
          const others = known.peek(key)?.grids.filter((one) => one.key !== grid) ?? []
          const grids = [...others, { key: grid, bytes }]
          known.set(key, { areaHa, longitude, latitude, grids })
        }
        return weights
      },
    }
  }
}

async function readValidShape({ ask, pause }: Weighing, region: Rings[] | AreaVersion): Promise<Rings[]> {
  if (!Array.isArray(region)) return readAreaShape(ask, region)
  await refuseInvalid(region, pause)
  return region
}

/** Projects polygons on a grid. Parts far beyond a projected grid are clipped, as they may have no image there. */
async function projectOnCoverage(
  ask: Ask,
  coverage: ZonalCoverage,
  polygons: Rings[],
): Promise<ProjectedPolygon> {
  const { share, ...inGridCrs } =
    coverage.srid === 4326 ? { polygons, share: 1 } : await transform(ask, coverage, polygons)
  const projected = projectOnGrid(coverage, coverage.geographic, inGridCrs.polygons)
  if (share === 1) return projected
  // Areas far beyond the grid have no image on it.
  const area = share > 0 ? projected.area / share : ellipsoidArea(polygons)
  return { ...projected, area, within: false }
}

/** Degrees beyond a projected grid: clipped parts count by their area on the ellipsoid, nearly the same. */
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
