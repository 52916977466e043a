import { decodeMultiPolygon } from '#src/raster/geometry-wkb.ts'
import type { Extent } from '#src/raster/grid.ts'
import type { Rings } from '#src/raster/rings.ts'
import { ReplacedMeanwhile } from '../../lookup/replaced.ts'
import type { Computation } from '../computing.ts'
import type { Comparison } from './compare.ts'
import { listSimplifiedShapes } from './queries.ts'

/** Areas whose shapes are read at a time. */
const AREAS_A_CHUNK = 100

/** The polygons of the areas of a comparison, and the extent of all of them. */
export interface MapShapes extends Extent {
  areas: Rings[][]
}

/**
 * Reads the shapes of the areas of a comparison, as they are simplified for maps.
 *
 * @throws {ReplacedMeanwhile} where an area has been deleted
 */
export async function readMapShapes(computation: Computation, comparison: Comparison): Promise<MapShapes> {
  const ids = comparison.areas.flatMap(({ area }) => area.id ?? [])
  const areas = comparison.level === null ? [[comparison.extent]] : await simplified(computation, ids)
  return unbroken(areas)
}

async function simplified({ ask, pause }: Computation, ids: number[]): Promise<Rings[][]> {
  const areas: Rings[][] = []
  for (let at = 0; at < ids.length; at += AREAS_A_CHUNK) {
    for (const wkb of await listSimplifiedShapes(ask, ids.slice(at, at + AREAS_A_CHUNK))) {
      if (!wkb) throw new ReplacedMeanwhile()
      areas.push(decodeMultiPolygon(wkb))
      await pause()
    }
  }
  if (areas.length === 0) throw new ReplacedMeanwhile()
  return areas
}

/** Has what lies on both sides of the 180th meridian side by side: its west comes behind its east. */
function unbroken(areas: Rings[][]): MapShapes {
  const extent = extentOf(areas)
  if (extent.east - extent.west <= 180) return { areas, ...extent }
  const shifted = areas.map((polygons) =>
    polygons.map((rings) => (extentOf([[rings]]).east < 0 ? rings.map(eastward) : rings)),
  )
  return { areas: shifted, ...extentOf(shifted) }
}

/** A ring once around the earth to the east. */
function eastward(ring: Float64Array): Float64Array {
  return ring.map((number, at) => (at % 2 === 0 ? number + 360 : number))
}

function extentOf(areas: Rings[][]): Extent {
  const extent = {
    west: Number.POSITIVE_INFINITY,
    south: Number.POSITIVE_INFINITY,
    east: Number.NEGATIVE_INFINITY,
    north: Number.NEGATIVE_INFINITY,
  }
  for (const [shell] of areas.flat() as [Float64Array][]) {
    for (let at = 0; at < shell.length; at += 2) {
      const [x, y] = [shell[at] as number, shell[at + 1] as number]
      extent.west = Math.min(extent.west, x)
      extent.south = Math.min(extent.south, y)
      extent.east = Math.max(extent.east, x)
      extent.north = Math.max(extent.north, y)
    }
  }
  return extent
}
