import { ApiError } from '#src/errors.ts'

/** The coordinate reference systems that features are answered in: how the database writes shapes in them. */
export type CrsKind = 'lonlat' | 'latlon' | 'mercator'

export interface Crs {
  kind: CrsKind
  uri: string
}

const CRS84: Crs = { kind: 'lonlat', uri: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84' }

/** What is answered and read where a request does not say. */
export const DEFAULT_CRS = CRS84

/** The same as well-known text (OGC 01-009), with the longitude first. */
export const CRS84_WKT =
  'GEOGCS["WGS 84 (CRS84)",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AXIS["Longitude",EAST],AXIS["Latitude",NORTH]]'

/** EPSG:4326 has the latitude first. */
export const CRSS: readonly Crs[] = [
  CRS84,
  { kind: 'latlon', uri: 'http://www.opengis.net/def/crs/EPSG/0/4326' },
  { kind: 'mercator', uri: 'http://www.opengis.net/def/crs/EPSG/0/3857' },
]

/**
 * The system that a parameter names.
 *
 * @throws {ApiError} INVALID_PARAMETERS where it is none of ours
 */
export function crsNamed(field: string, uri: string | undefined): Crs {
  if (uri === undefined) return DEFAULT_CRS
  const found = CRSS.find((crs) => crs.uri === uri)
  if (found) return found
  const uris = CRSS.map((crs) => crs.uri)
  throw ApiError.invalid(field, `must be one of ${uris.join(', ')}`, uris)
}

/** West, south, east and north in decimal degrees. West is greater than east where the rectangle crosses 180 degrees. */
export type Rectangle = readonly [west: number, south: number, east: number, north: number]

/** Metres from the centre of the projection to its edge. */
const MERCATOR_EDGE = Math.PI * 6_378_137

/** A rectangle in a system, lower corner first, in degrees. */
export function degreesOf({ kind }: Crs, [a, b, c, d]: Rectangle): Rectangle {
  if (kind === 'lonlat') return [a, b, c, d]
  if (kind === 'latlon') return [b, a, d, c]
  return [longitudeOf(a), latitudeOf(b), longitudeOf(c), latitudeOf(d)]
}

function longitudeOf(x: number): number {
  return (180 * Math.max(-MERCATOR_EDGE, Math.min(MERCATOR_EDGE, x))) / MERCATOR_EDGE
}

/** The inverse of the spherical Mercator projection. */
function latitudeOf(y: number): number {
  return (Math.atan(Math.sinh((Math.PI * y) / MERCATOR_EDGE)) * 180) / Math.PI
}
