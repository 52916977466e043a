/** WGS 84 in the order longitude, latitude, which is that of RFC 7946. */
const CRS84 = /^urn:ogc:def:crs:OGC:(1\.3)?:CRS84$/

/** Whether a GeoJSON object has another system than that of RFC 7946. */
export function isInAnotherCrs(object: object): boolean {
  const { crs } = object as { crs?: { properties?: { name?: unknown } } | null }
  const name = crs?.properties?.name
  return crs !== undefined && crs !== null && !(typeof name === 'string' && CRS84.test(name))
}
