/** What GeoJSON programs write for WGS 84 in the order longitude, latitude, which RFC 7946 means anyway. */
const CRS84 = /^urn:ogc:def:crs:OGC:(1\.3)?:CRS84$/

/** Whether an object of GeoJSON says that its coordinates are in another system than RFC 7946 has it. */
export function isInAnotherCrs(object: object): boolean {
  const { crs } = object as { crs?: { properties?: { name?: unknown } } | null }
  const name = crs?.properties?.name
  return crs !== undefined && crs !== null && !(typeof name === 'string' && CRS84.test(name))
}
