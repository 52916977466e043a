import type { PlainPolygonRequest, PolygonRequest } from '#schemas/polygon.ts'

type Position = number[]

/** A polygon that was answered, so it is as GeoJSON should be. */
type Shape =
  | { type: 'Polygon'; coordinates: Position[][] }
  | { type: 'MultiPolygon'; coordinates: Position[][][] }
  | { type: 'Feature'; geometry: Shape }

/**
 * What the history keeps of a request that was answered: its parameters, and of the polygon or the area what
 * says where it is. Whatever else came along would let a caller store what they like, as much as a body holds.
 */
export function recordedRequest({
  geometry,
  admin,
  ...parameters
}: PolygonRequest | PlainPolygonRequest): object {
  return {
    ...(geometry && { geometry: outlineOf(geometry as Shape) }),
    ...(admin && { admin: selectionOf(admin) }),
    ...parameters,
  }
}

/** Longitudes and latitudes to the last digit; heights are ignored, as ever. */
function outlineOf(shape: Shape): object {
  switch (shape.type) {
    case 'Feature':
      return outlineOf(shape.geometry)
    case 'Polygon':
      return { type: shape.type, coordinates: flat(shape.coordinates) }
    case 'MultiPolygon':
      return { type: shape.type, coordinates: shape.coordinates.map(flat) }
  }
}

function flat(rings: Position[][]): Position[][] {
  return rings.map((ring) => ring.map(([longitude, latitude]) => [longitude, latitude] as Position))
}

function selectionOf({ country_code, code, level }: NonNullable<PolygonRequest['admin']>): object {
  return { country_code, code, ...(typeof level === 'number' && { level }) }
}
