import type { Ask } from '#src/database/cancellable.ts'
import { clip } from '#src/raster/clip.ts'
import { type PlacedPolygon, placeOnGrid } from '#src/raster/place.ts'
import { ellipsoidArea, planarArea, type Rings, ringLength, sumOfRings } from '#src/raster/rings.ts'
import { transformPolygons } from './transform.ts'
import type { ZonalCoverage } from './zonal-queries.ts'

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
