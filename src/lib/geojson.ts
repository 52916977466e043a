import { isObject } from './json.ts'

/** The types of shapes and what holds them (RFC 7946, section 1.4). */
const TYPES = /^((Multi)?(Point|LineString|Polygon)|GeometryCollection|Feature(Collection)?)$/

export function isGeoJsonType(type: unknown): boolean {
  return typeof type === 'string' && TYPES.test(type)
}

/**
 * Any name of WGS 84 with or without heights: EPSG:4326, urn:ogc:def:crs:OGC:1.3:CRS84, WGS 84 ... Writers put the
 * longitude first, also where EPSG has the latitude first.
 */
const WGS84 =
  /^(?:(?:(?:urn|https?|ogc|epsg)[:/](?:.*[:/#])?)?(?:crs:?84h?|4326|4979|2:84)|(?:gcs_)?wgs[ _-]?(?:19)?84(?: \(crs84\))?)$/i

/** Longer names of systems are cut in errors. */
const LONGEST_NAME = 60

/**
 * The fault of the `crs` of a GeoJSON object: GeoJSON is WGS 84 (RFC 7946, section 4), and other coordinates would
 * be misplaced.
 *
 * @returns the other system, empty for one without a name; undefined for WGS 84 by any of its names, and for no `crs`
 */
export function findOtherCrs(object: { crs?: unknown }): string | undefined {
  const { crs = null } = object
  if (crs === null) return undefined
  const { type, properties } = isObject(crs) ? crs : { properties: { name: crs } }
  const { name, code, href } = isObject(properties) ? properties : {}
  const isEpsg = typeof type === 'string' && /^epsg$/i.test(type) && code !== undefined
  // Links lead to spatialreference.org: .../epsg/4326/proj4/
  const link =
    typeof href === 'string' ? href.replace(/\/(?:(?:esri|ogc)?wkt|proj4|gml)?\/?$/i, '') : undefined
  const found = isEpsg ? `EPSG:${code}` : (name ?? link)
  const said = typeof found === 'string' || typeof found === 'number' ? String(found).trim() : ''
  return WGS84.test(said) ? undefined : said.slice(0, LONGEST_NAME)
}

/** The rule of an error about the result of {@link findOtherCrs}. */
export function crsRule(other: string): string {
  return `names ${other || 'no system'}: coordinates are longitude and latitude in WGS 84 (EPSG:4326)`
}

const RECORD_SEPARATOR = '\u001e'

/** The separator of texts of JSON: that of a sequence (RFC 8142), whose texts may have lines, or line ends. */
export function textSeparator(beginning: string): RegExp {
  return beginning.trimStart().startsWith(RECORD_SEPARATOR) ? new RegExp(RECORD_SEPARATOR) : /\r\n|[\r\n]/
}
