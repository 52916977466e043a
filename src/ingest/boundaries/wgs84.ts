import { hasRotatedPole } from '../rotated-pole.ts'

/** The CRS as WKT: geographic, with the datum of WGS 84 in one of the spellings there are. */
const WGS84_WKT = /^\s*(GEOGCS|GEOGCRS)\s*\[.*(D_WGS_1984|WGS_1984|WGS 84|World Geodetic System 1984)/is

/** Whether a CRS is that of longitude and latitude in degrees, by its well-known text. */
export function isWgs84Wkt(wkt: string): boolean {
  return WGS84_WKT.test(wkt) && !hasRotatedPole(wkt)
}
