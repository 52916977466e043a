import type { Rings } from '#src/raster/rings.ts'
import type { Position } from '../lookup/queries.ts'

/** A part of a line from west to east that lies inside, by its middle. */
interface Section extends Position {
  width: number
}

/**
 * A position inside of valid polygons, to the last bit the one that ST_PointOnSurface finds: the middle of the
 * widest section of a line from west to east through the middle of a polygon, or beside it where a vertex lies there.
 * That took PostGIS up to 30 ms, for which everybody waited who needed the one connection of the embedded database.
 */
export function interiorPointOf(polygons: Rings[]): Position {
  const sections = polygons.map(widestSectionOf)
  const { longitude, latitude } = sections.reduce((widest, section) =>
    section.width > widest.width ? section : widest,
  )
  return { longitude, latitude }
}

function widestSectionOf(rings: Rings): Section {
  const latitude = latitudeThrough(rings)
  const crossings = rings.flatMap((ring) => crossingsOf(ring, latitude)).sort((a, b) => a - b)
  const [longitude, start] = rings[0] as unknown as [number, number]
  let widest: Section = { width: 0, longitude, latitude: start }
  for (let at = 0; at + 1 < crossings.length; at += 2) {
    const [west, east] = [crossings[at] as number, crossings[at + 1] as number]
    const width = east - west
    if (width > widest.width) widest = { width, longitude: (west + east) / 2, latitude }
  }
  return widest
}

/** The latitude in the middle between the two of vertices that are closest to the middle of a polygon. */
function latitudeThrough(rings: Rings): number {
  const shell = rings[0] as Float64Array
  let south = Number.POSITIVE_INFINITY
  let north = Number.NEGATIVE_INFINITY
  for (let at = 1; at < shell.length; at += 2) {
    south = Math.min(south, shell[at] as number)
    north = Math.max(north, shell[at] as number)
  }
  const middle = (south + north) / 2
  for (const ring of rings) {
    for (let at = 1; at < ring.length; at += 2) {
      const latitude = ring[at] as number
      if (latitude <= middle) south = Math.max(south, latitude)
      else north = Math.min(north, latitude)
    }
  }
  return (north + south) / 2
}

/** The longitudes at which a ring crosses a latitude. What lies on that counts as south of it. */
function crossingsOf(ring: Float64Array, latitude: number): number[] {
  const crossings: number[] = []
  for (let at = 0; at + 3 < ring.length; at += 2) {
    const [x, y] = [ring[at] as number, ring[at + 1] as number]
    const [toX, toY] = [ring[at + 2] as number, ring[at + 3] as number]
    if (y > latitude === toY > latitude) continue
    crossings.push(x === toX ? x : x + (latitude - y) / ((toY - y) / (toX - x)))
  }
  return crossings
}
