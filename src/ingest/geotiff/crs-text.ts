import type { CrsText } from '#src/database/crs.ts'
import { hasRotatedPole } from '../rotated-pole.ts'

/** The CRS that a GeoTIFF names, describes or leaves out. */
export type FileCrs =
  /** A code of EPSG or ESRI. */
  | { kind: 'epsg'; code: number }
  | ({ kind: 'text' } & CrsText)
  /** A projection without a code of what has one. */
  | { kind: 'projection'; proj: string; of: number }
  | { kind: 'unnamed-wgs84' }
  /** Degrees, though none of longitude and latitude. */
  | { kind: 'rotated-pole' }
  | { kind: 'unknown'; reason: string }

/** Keywords that WKT of a CRS begins with, of its versions 1 and 2, by whether it is in degrees. */
const GEOGRAPHIC_WKT = /^(GEOGCS|GEOGCRS|GEODCRS|GEODETICCRS|GEOGRAPHICCRS)\s*\[/i
const PROJECTED_WKT = /^(PROJCS|PROJCRS|PROJECTEDCRS)\s*\[/i
/** What is around another CRS, with heights or a transformation; what it is around decides. */
const WRAPPED_WKT = /^(BOUNDCRS|COMPD_CS|COMPOUNDCRS)\s*\[/i
const AROUND_PROJECTED = /\b(PROJCS|PROJCRS|PROJECTEDCRS)\s*\[/i
const QUOTED = /"[^"]*"/g
const CODE = /^(EPSG|ESRI):(\d{1,9})$/i

/** The code at the end of WKT, which is that of the CRS as a whole. */
const OUTER_CODE = /(?:AUTHORITY|ID)\s*\[\s*"(?:EPSG|ESRI)"\s*,\s*"?(\d+)"?\s*\]\s*\]$/i

/** PROJ's other names of longitude and latitude; statements ask for "longlat" where they ask for degrees. */
const LONGLAT = /\+proj=(?:latlong|latlon|lonlat)(?=\s|$)/

/** WGS 84 as ESRI's software and GDAL write it, without a code. */
const WGS84_GEOGCS =
  /GEOGCS\["[^"]*",DATUM\["(?:D_)?WGS_1984",SPHEROID\["WGS[_ ](?:19)?84",6378137(?:\.0*)?,298\.2572235\d*(?:,AUTHORITY\["EPSG","7030"\])?\](?:,AUTHORITY\["EPSG","6326"\])?\],PRIMEM\["Greenwich",0(?:\.0*)?(?:,AUTHORITY\["EPSG","8901"\])?\],UNIT\["[Dd]egree",0\.01745329\d*(?:,AUTHORITY\["EPSG","9122"\])?\](?:,AXIS\["Lat[a-z]*",NORTH\],AXIS\["Lon[a-z]*",EAST\])?\]/
const WGS84_WKT = new RegExp(`^${WGS84_GEOGCS.source}$`)

/** A transverse Mercator of WGS 84 in metres, as ESRI's software writes it: its parameters in any order. */
const ESRI_TMERC = new RegExp(
  `^PROJCS\\["[^"]*",${WGS84_GEOGCS.source},PROJECTION\\["Transverse_Mercator"\\],((?:PARAMETER\\["\\w+",-?[\\d.]+\\],)+)UNIT\\["Met(?:er|re)",1(?:\\.0*)?\\]\\]$`,
  'i',
)
const PARAMETER = /"(\w+)",(-?[\d.]+)/g

/** Codes of EPSG before those of the zones of UTM on WGS 84. */
const UTM_CODES = { north: 32_600, south: 32_700 }

/** What a text says that should be a CRS: a code, a PROJ string, or WKT; undefined where it is none of them. */
export function crsOfText(text: string): FileCrs | undefined {
  const trimmed = text.trim()
  const code = CODE.exec(trimmed)?.[2] ?? (isWkt(trimmed) ? OUTER_CODE.exec(trimmed)?.[1] : undefined)
  if (code) return { kind: 'epsg', code: Number(code) }
  if (hasRotatedPole(trimmed)) return { kind: 'rotated-pole' }
  if (WGS84_WKT.test(trimmed)) return { kind: 'epsg', code: 4326 }
  const utm = utmCodeOf(trimmed)
  if (utm) return { kind: 'epsg', code: utm }
  if (isWkt(trimmed)) return crsOfWkt(trimmed)
  return /^\+proj=\w/.test(trimmed)
    ? { kind: 'text', wkt: '', proj: trimmed.replace(LONGLAT, '+proj=longlat') }
    : undefined
}

/** The code of a zone of UTM that is written out; undefined where a text is of anything else. */
function utmCodeOf(wkt: string): number | undefined {
  const parameters = ESRI_TMERC.exec(wkt)?.[1]
  if (parameters === undefined) return undefined
  const found = new Map<string, number>()
  for (const [, name, value] of parameters.matchAll(PARAMETER))
    found.set(String(name).toLowerCase(), Number(value))
  const zone = ((found.get('central_meridian') ?? Number.NaN) + 183) / 6
  const northing = found.get('false_northing')
  const isUtm =
    found.size === 5 &&
    found.get('scale_factor') === 0.9996 &&
    found.get('false_easting') === 500_000 &&
    found.get('latitude_of_origin') === 0 &&
    (northing === 0 || northing === 10_000_000) &&
    Number.isInteger(zone) &&
    zone >= 1 &&
    zone <= 60
  return isUtm ? (northing === 0 ? UTM_CODES.north : UTM_CODES.south) + zone : undefined
}

function isWkt(text: string): boolean {
  return GEOGRAPHIC_WKT.test(text) || PROJECTED_WKT.test(text) || WRAPPED_WKT.test(text)
}

function crsOfWkt(wkt: string): FileCrs {
  if (WRAPPED_WKT.test(wkt) && !AROUND_PROJECTED.test(wkt.replace(QUOTED, ''))) {
    return {
      kind: 'unknown',
      reason: 'its WKT is of a compound or bound CRS without a code that is not projected',
    }
  }
  return { kind: 'text', wkt, proj: GEOGRAPHIC_WKT.test(wkt) ? '+proj=longlat' : '' }
}
