import type { Polygon } from 'geojson'
import type { Point } from '../rasters/raster.ts'
import { star } from '../rasters/shapes.ts'

/** Metres of a degree of latitude. */
const DEGREE_M = 110_570

/** A kind of polygon, as large as something that is asked about. */
export interface Size {
  name: string
  count: number
  polygonAt(point: Point, turn: number): Polygon
}

export const SIZES: Size[] = [
  { name: '1 ha', count: 200, polygonAt: (point, turn) => square(point, 100, turn) },
  { name: '10 ha', count: 200, polygonAt: (point, turn) => square(point, 316.2, turn) },
  { name: '100 ha', count: 100, polygonAt: (point, turn) => square(point, 1000, turn) },
  { name: '1,000 ha', count: 50, polygonAt: (point, turn) => square(point, 3162, turn) },
  { name: 'a district', count: 10, polygonAt: (point) => star(point, 0.3, 9) },
]

/**
 * A square around a point, turned: most fields do not lie along the meridians.
 *
 * @param metres of its sides
 * @param turn by how much of a quarter of a circle, from 0 to 1
 */
function square({ lat, lng }: Point, metres: number, turn: number): Polygon {
  const radius = metres / Math.SQRT2 / DEGREE_M
  const corners = [0, 1, 2, 3].map((corner) => {
    const angle = ((corner + turn) * Math.PI) / 2
    return [
      lng + (radius * Math.cos(angle)) / Math.cos((lat * Math.PI) / 180),
      lat + radius * Math.sin(angle),
    ]
  })
  return { type: 'Polygon', coordinates: [[...corners, corners[0] as number[]]] }
}
