/** A polygon of GeoJSON. */
export interface Rectangle {
  type: 'Polygon'
  coordinates: [lng: number, lat: number][][]
}

/** A rectangle of degrees. */
export function rectangle(west: number, south: number, east: number, north: number): Rectangle {
  const corners: [number, number][] = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon', coordinates: [corners] }
}

/** A field of a tenth of a degree, where the demo has wheat in Ethiopia. */
export const SQUARE = rectangle(38.5, 9.5, 38.6, 9.6)
