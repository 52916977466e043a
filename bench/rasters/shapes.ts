import type { Polygon } from 'geojson'
import type { Point } from './raster.ts'

/** Kilometres of a degree of latitude, and of one of longitude on the equator. */
const LATITUDE_KM = 110.57
const LONGITUDE_KM = 111.32

/** A square of about 1 ha around a point. */
export function hectareAround({ lat, lng }: Point): Polygon {
  const halfHeight = 0.05 / LATITUDE_KM
  const halfWidth = 0.05 / (LONGITUDE_KM * Math.cos((lat * Math.PI) / 180))
  const [west, south, east, north] = [lng - halfWidth, lat - halfHeight, lng + halfWidth, lat + halfHeight]
  return {
    type: 'Polygon',
    coordinates: [
      [
        [west, south],
        [east, south],
        [east, north],
        [west, north],
        [west, south],
      ],
    ],
  }
}

/**
 * A star around a point: the more spikes, the longer its boundary, while its area hardly changes.
 *
 * @param radius of the spikes' ends in degrees; between them the boundary goes in to half of it
 */
export function star({ lat, lng }: Point, radius: number, spikes: number): Polygon {
  const corners = Array.from({ length: 2 * spikes }, (_, index) => {
    const angle = (Math.PI * index) / spikes
    const length = index % 2 === 0 ? radius : radius / 2
    return [lng + length * Math.cos(angle), lat + length * Math.sin(angle)]
  })
  return { type: 'Polygon', coordinates: [[...corners, corners[0] as number[]]] }
}

/** About how long the boundary of a polygon is, in kilometres. */
export function boundaryKm({ coordinates: [ring = []] }: Polygon): number {
  return ring.slice(1).reduce((sum, [lng = 0, lat = 0], index) => {
    const [fromLng = 0, fromLat = 0] = ring[index] ?? []
    const east = (lng - fromLng) * LONGITUDE_KM * Math.cos((((lat + fromLat) / 2) * Math.PI) / 180)
    return sum + Math.hypot(east, (lat - fromLat) * LATITUDE_KM)
  }, 0)
}
