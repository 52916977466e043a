/** A polygon of GeoJSON. */
export interface Rectangle {
  type: 'Polygon'
  coordinates: [lng: number, lat: number][][]
}

/** The positions of a ring, or of any list, as `38 9, 39 9`. */
export function ringOf(text: string): [lng: number, lat: number][] {
  return text.split(', ').map((position) => position.split(' ').map(Number) as [number, number])
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
