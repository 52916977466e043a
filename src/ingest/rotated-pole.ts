/** A displaced pole, in PROJ, in WKT with PROJ, and in WKT 2. */
const ROTATED_POLE =
  /\+proj=ob_tran\b.*\+o_proj=(?:longlat|latlong|latlon|lonlat)\b|\+o_proj=(?:longlat|latlong|latlon|lonlat)\b.*\+proj=ob_tran\b|^\s*(?:GEOGCRS|GEODCRS|GEODETICCRS|GEOGRAPHICCRS)\b.*\bDERIVINGCONVERSION\s*\[/is

/** Its degrees are no longitude and latitude. */
export function hasRotatedPole(crs: string): boolean {
  return ROTATED_POLE.test(crs)
}
