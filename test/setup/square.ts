/** A field of a tenth of a degree, where the demo has wheat in Ethiopia. */
export const SQUARE = {
  type: 'Polygon',
  coordinates: [
    [
      [38.5, 9.5],
      [38.6, 9.5],
      [38.6, 9.6],
      [38.5, 9.6],
      [38.5, 9.5],
    ],
  ],
}
