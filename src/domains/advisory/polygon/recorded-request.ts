import type { PlainPolygonRequest, PolygonRequest } from '#schemas/polygon.ts'
import { geoJsonOf, type Outline } from './geometry.ts'

/**
 * What the history keeps of a request that was answered: its parameters, and of the polygon or the area what
 * says where it is. Whatever else came along would let a caller store what they like, as much as a body holds.
 *
 * @param outline of the polygon; null where an area was asked about
 */
export function recordedRequest(
  { geometry: _, admin, ...parameters }: PolygonRequest | PlainPolygonRequest,
  outline: Outline | null,
): object {
  return {
    ...(outline && { geometry: geoJsonOf(outline) }),
    ...(admin && { admin: selectionOf(admin) }),
    ...parameters,
  }
}

function selectionOf({ country_code, code, level }: NonNullable<PolygonRequest['admin']>): object {
  return { country_code, code, ...(typeof level === 'number' && { level }) }
}
