/** A pole that is elsewhere: as PROJ says it, also inside of WKT, and as WKT 2 does. */
const ROTATED_POLE =
  /\+proj=ob_tran\b.*\+o_proj=(?:longlat|latlong|latlon|lonlat)\b|\+o_proj=(?:longlat|latlong|latlon|lonlat)\b.*\+proj=ob_tran\b|^\s*(?:GEOGCRS|GEODCRS|GEODETICCRS|GEOGRAPHICCRS)\b.*\bDERIVINGCONVERSION\s*\[/is

/** Whether a CRS, as PROJ or WKT has it, is in degrees that are not those of longitude and latitude. */
export function hasRotatedPole(crs: string): boolean {
  return ROTATED_POLE.test(crs)
}
