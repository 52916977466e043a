import type { GeoTIFFImage } from 'geotiff'
import type { FileCrs, GeoKeys } from '../readers.ts'

/** A displaced pole, in PROJ, in WKT with PROJ, and in WKT 2. */
const ROTATED_POLE =
  /\+proj=ob_tran\b.*\+o_proj=(?:longlat|latlong|latlon|lonlat)\b|\+o_proj=(?:longlat|latlong|latlon|lonlat)\b.*\+proj=ob_tran\b|^\s*(?:GEOGCRS|GEODCRS|GEODETICCRS|GEOGRAPHICCRS)\b.*\bDERIVINGCONVERSION\s*\[/is

/** Its degrees are no longitude and latitude. */
export function hasRotatedPole(crs: string): boolean {
  return ROTATED_POLE.test(crs)
}

const MODEL_PROJECTED = 1
const MODEL_GEOGRAPHIC = 2
const USER_DEFINED = 32767
const WGS84 = { datum: 6326, ellipsoid: 7030, semiMajor: 6378137, inverseFlattening: 298.257223563 }
const DEGREE = 9102
const GREENWICH = 8901

/**
 * OGC GeoTIFF 1.1, annex C. Some writers give only the ellipsoid ("GCS Name = unknown | Datum = unknown | Ellipsoid =
 * WGS 84"): then the parameters decide whether it is WGS 84.
 */
export function readCrs(image: GeoTIFFImage): FileCrs {
  const keys = image.getGeoKeys() as GeoKeys | null
  if (!keys) return { kind: 'unknown', reason: 'it names none' }

  const projected = readCode(keys.ProjectedCSTypeGeoKey)
  const geographic = readCode(keys.GeographicTypeGeoKey)
  const model = keys.GTModelTypeGeoKey ?? (keys.ProjectedCSTypeGeoKey ? MODEL_PROJECTED : MODEL_GEOGRAPHIC)
  const cited = projected === undefined ? citedCrs(keys) : undefined
  if (cited) return cited
  if (model === MODEL_PROJECTED) {
    return projected ? { kind: 'epsg', code: projected, keys } : readProjection(keys, geographic)
  }
  if (model === MODEL_GEOGRAPHIC) {
    if (geographic) return { kind: 'epsg', code: geographic }
    if (isWgs84(keys)) return { kind: 'unnamed-wgs84' }
    const earth = earthIn(keys)
    return earth && (keys.GeogAngularUnitsGeoKey ?? DEGREE) === DEGREE
      ? { kind: 'text', wkt: '', proj: `+proj=longlat ${earth} +no_defs` }
      : { kind: 'unknown', reason: `its geographic CRS${citation(keys)} has no EPSG code and no ellipsoid` }
  }
  return { kind: 'unknown', reason: 'it is neither geographic nor projected' }
}

const GEODETIC = ['GeographicTypeGeoKey', 'GeogGeodeticDatumGeoKey', 'GeogEllipsoidGeoKey']

/** GDAL heeds these keys beside the code of a projected CRS. Each does what the same does in WKT 1. */
const HEEDED: [key: string, same: RegExp, onlyWith?: string[]][] = [
  ['ProjLinearUnitsGeoKey', /PROJECTION\[.*UNIT\["[^"]*",[^,]+,AUTHORITY\["[A-Z]+","(\d+)"/],
  ['GeographicTypeGeoKey', /AUTHORITY\["[A-Z]+","(\d+)"\]\],PROJECTION\[/],
  ['GeogGeodeticDatumGeoKey', /AUTHORITY\["[A-Z]+","(\d+)"\]\],PRIMEM\[/],
  ['GeogEllipsoidGeoKey', /SPHEROID\["[^"]*",[^,]+,[^,]+,AUTHORITY\["[A-Z]+","(\d+)"/],
  ['ProjLinearUnitSizeGeoKey', /PROJECTION\[.*UNIT\["[^"]*",([^,\]]+)/, ['ProjLinearUnitsGeoKey']],
  ['GeogSemiMajorAxisGeoKey', /SPHEROID\["[^"]*",([^,]+)/, GEODETIC],
  ['GeogInvFlatteningGeoKey', /SPHEROID\["[^"]*",[^,]+,([^,\]]+)/, GEODETIC],
]

/** "Unknown, based on the WGS 84 ellipsoid", as a CRS and as a datum: for GDAL the same as WGS 84. */
const UNKNOWN_ON_WGS84: Partial<Record<number, number>> = { 4030: 4326, 6030: 6326 }

/** Writers round; a foot of the US survey is 2 millionths longer than a foot. Codes differ by more. */
const ROUNDED = 1e-6

/**
 * Finds a GeoKey that says another thing than the code of its projected CRS.
 *
 * @param wkt of the code in spatial_ref_sys; what it leaves out contradicts nothing
 */
export function findContradiction(keys: GeoKeys, wkt: string) {
  for (const [key, same, onlyWith] of HEEDED) {
    const [value, expected] = [readCode(keys[key]), same.exec(wkt)?.[1]]
    if (value !== undefined && Number(expected) === UNKNOWN_ON_WGS84[value]) continue
    const counts = !onlyWith || onlyWith.some((name) => keys[name] === USER_DEFINED)
    if (!counts || value === undefined || expected === undefined) continue
    if (Math.abs(value / Number(expected) - 1) > ROUNDED) return { key, value, expected }
  }
  return undefined
}

/** ESRI and GDAL write WKT here if keys cannot express a CRS. */
const WKT_CITATION = 'ESRI PE String = '

function citedCrs(keys: GeoKeys): FileCrs | undefined {
  const names = [keys.PCSCitationGeoKey, keys.GTCitationGeoKey].map(String)
  const wkt = names.find((name) => name.startsWith(WKT_CITATION))?.slice(WKT_CITATION.length)
  return wkt === undefined ? undefined : parseCrs(wkt.replace(/[|\0]+$/, ''))
}

function readProjection(keys: GeoKeys, geographic: number | undefined): FileCrs {
  const found = readUncoded(keys)
  if ('reason' in found) return { kind: 'unknown', reason: `its projection${citation(keys)} ${found.reason}` }
  if (geographic) return { kind: 'projection', proj: found.proj, of: geographic }
  const earth = earthIn(keys)
  return earth
    ? { kind: 'text', wkt: '', proj: `${found.proj} ${earth} +no_defs` }
    : { kind: 'unknown', reason: `its projection${citation(keys)} has no ellipsoid` }
}

function readCode(key: number | string | undefined): number | undefined {
  return typeof key === 'number' && key > 0 && key !== USER_DEFINED ? key : undefined
}

function citation(keys: GeoKeys): string {
  const text = keys.PCSCitationGeoKey ?? keys.GTCitationGeoKey ?? keys.GeogCitationGeoKey
  return text ? ` ("${String(text)}")` : ''
}

function isWgs84(keys: GeoKeys): boolean {
  const { GeogSemiMajorAxisGeoKey: semiMajor, GeogInvFlatteningGeoKey: inverse } = keys
  const semiMinor = WGS84.semiMajor * (1 - 1 / WGS84.inverseFlattening)
  const ellipsoid =
    keys.GeogEllipsoidGeoKey === WGS84.ellipsoid ||
    (near(semiMajor, WGS84.semiMajor, 1e-6) &&
      (near(inverse, WGS84.inverseFlattening, 1e-8) || near(keys.GeogSemiMinorAxisGeoKey, semiMinor, 1e-4)))
  return (
    ellipsoid &&
    (readCode(keys.GeogGeodeticDatumGeoKey) ?? WGS84.datum) === WGS84.datum &&
    isFromGreenwich(keys) &&
    (keys.GeogAngularUnitsGeoKey ?? DEGREE) === DEGREE &&
    shiftIn(keys).every((parameter) => parameter === 0)
  )
}

function isFromGreenwich(keys: GeoKeys): boolean {
  const meridian = readCode(keys.GeogPrimeMeridianGeoKey) ?? GREENWICH
  return meridian === GREENWICH && (keys.GeogPrimeMeridianLongGeoKey ?? 0) === 0
}

/** Parameters of a shift to WGS 84, if any. */
function shiftIn(keys: Record<string, unknown>): number[] {
  return Array.from((keys.GeogTOWGS84GeoKey as ArrayLike<number> | undefined) ?? [])
}

function near(value: number | string | undefined, expected: number, tolerance: number): boolean {
  return typeof value === 'number' && Math.abs(value - expected) <= tolerance
}

/** A PROJ string without the ellipsoid, or why there is none. */
type Projection = { proj: string } | { reason: string }

type Parameter = 'lon_0' | 'lat_0' | 'lat_1' | 'lat_2' | 'lat_ts' | 'k_0'

/** By ProjCoordTransGeoKey (GeoTIFF 1.0, section 6.3.3.3), with PROJ's parameters. */
const PROJECTIONS: Record<number, [name: string, ...Parameter[]]> = {
  1: ['tmerc', 'lat_0', 'lon_0', 'k_0'],
  7: ['merc', 'lon_0', 'k_0'],
  8: ['lcc', 'lat_1', 'lat_2', 'lat_0', 'lon_0'],
  10: ['laea', 'lat_0', 'lon_0'],
  11: ['aea', 'lat_1', 'lat_2', 'lat_0', 'lon_0'],
  13: ['eqdc', 'lat_1', 'lat_2', 'lat_0', 'lon_0'],
  17: ['eqc', 'lat_ts', 'lat_0', 'lon_0'],
  24: ['sinu', 'lon_0'],
  28: ['cea', 'lat_ts', 'lon_0'],
}

/** Writers use different keys for a parameter. */
const KEYS: Record<Parameter | 'x_0' | 'y_0', string[]> = {
  lon_0: ['ProjNatOriginLongGeoKey', 'ProjFalseOriginLongGeoKey', 'ProjCenterLongGeoKey'],
  lat_0: ['ProjNatOriginLatGeoKey', 'ProjFalseOriginLatGeoKey', 'ProjCenterLatGeoKey'],
  lat_1: ['ProjStdParallel1GeoKey'],
  lat_2: ['ProjStdParallel2GeoKey'],
  lat_ts: ['ProjStdParallel1GeoKey'],
  k_0: ['ProjScaleAtNatOriginGeoKey', 'ProjScaleAtCenterGeoKey'],
  x_0: ['ProjFalseEastingGeoKey', 'ProjFalseOriginEastingGeoKey', 'ProjCenterEastingGeoKey'],
  y_0: ['ProjFalseNorthingGeoKey', 'ProjFalseOriginNorthingGeoKey', 'ProjCenterNorthingGeoKey'],
}

/** Mercator has a scale, or a true parallel, which GDAL prefers. */
const MERCATOR = 7
const MERCATOR_BY_PARALLEL: [name: string, ...Parameter[]] = ['merc', 'lat_ts', 'lon_0']

/** ProjectionGeoKey of UTM zones: 160zz north, 161zz south. */
const UTM = { north: 16_000, south: 16_100, zones: 60 }

const METRE = 9001

function readUncoded(keys: GeoKeys): Projection {
  const zone = utmZoneIn(keys)
  if (zone) return { proj: `+proj=utm ${zone} +units=m` }
  const method = Number(keys.ProjCoordTransGeoKey)
  const byParallel = method === MERCATOR && typeof keys.ProjStdParallel1GeoKey === 'number'
  const [name, ...parameters] = (byParallel ? MERCATOR_BY_PARALLEL : PROJECTIONS[method]) ?? []
  if (!name) {
    return {
      reason: Number.isNaN(method)
        ? 'has no EPSG code'
        : `is method ${method}, whose keys are not read ("gdalsrsinfo -o proj4" may print its srs)`,
    }
  }
  if ((keys.ProjLinearUnitsGeoKey ?? METRE) !== METRE) return { reason: 'is not in metres' }
  if ((keys.GeogAngularUnitsGeoKey ?? DEGREE) !== DEGREE) return { reason: 'has angles that are not degrees' }
  const values = [...parameters, 'x_0' as const, 'y_0' as const].map((parameter) => {
    const key = KEYS[parameter].find((candidate) => typeof keys[candidate] === 'number')
    return `+${parameter}=${key ? keys[key] : parameter === 'k_0' ? 1 : 0}`
  })
  return { proj: `+proj=${name} ${values.join(' ')} +units=m` }
}

function utmZoneIn({ ProjectionGeoKey: key }: GeoKeys): string | undefined {
  const isZone = (first: number) => Number(key) > first && Number(key) <= first + UTM.zones
  if (isZone(UTM.north)) return `+zone=${Number(key) - UTM.north}`
  return isZone(UTM.south) ? `+zone=${Number(key) - UTM.south} +south` : undefined
}

/**
 * Ellipsoid and shift to WGS 84 for PROJ; undefined without them. A datum with only a name cannot be used, as in GDAL.
 */
function earthIn(keys: GeoKeys): string | undefined {
  if (!isFromGreenwich(keys)) return undefined
  if (keys.GeogGeodeticDatumGeoKey === WGS84.datum) return '+datum=WGS84'
  const ellipsoid = ellipsoidIn(keys)
  const shift = shiftIn(keys)
  return ellipsoid && shift.length > 0 ? `${ellipsoid} +towgs84=${shift.join()}` : ellipsoid
}

function ellipsoidIn(keys: GeoKeys): string | undefined {
  const {
    GeogSemiMajorAxisGeoKey: major,
    GeogSemiMinorAxisGeoKey: minor,
    GeogInvFlatteningGeoKey: inverse,
  } = keys
  if (typeof major === 'number') {
    if (typeof inverse === 'number') return inverse === 0 ? `+R=${major}` : `+a=${major} +rf=${inverse}`
    if (typeof minor === 'number') return `+a=${major} +b=${minor}`
  }
  return keys.GeogEllipsoidGeoKey === WGS84.ellipsoid ? '+ellps=WGS84' : undefined
}

/** First keywords of WKT 1 and 2. */
const GEOGRAPHIC_WKT = /^(GEOGCS|GEOGCRS|GEODCRS|GEODETICCRS|GEOGRAPHICCRS)\s*\[/i
const PROJECTED_WKT = /^(PROJCS|PROJCRS|PROJECTEDCRS)\s*\[/i
/** A CRS with heights or a transformation: the inner CRS decides. */
const WRAPPED_WKT = /^(BOUNDCRS|COMPD_CS|COMPOUNDCRS)\s*\[/i
const AROUND_PROJECTED = /\b(PROJCS|PROJCRS|PROJECTEDCRS)\s*\[/i
const QUOTED = /"[^"]*"/g
const CODE = /^(EPSG|ESRI):(\d{1,9})$/i

/** The code of the whole CRS, at the end of WKT. */
const OUTER_CODE = /(?:AUTHORITY|ID)\s*\[\s*"(?:EPSG|ESRI)"\s*,\s*"?(\d+)"?\s*\]\s*\]$/i

/** PROJ's synonyms of longlat, which SQL recognises. */
const LONGLAT = /\+proj=(?:latlong|latlon|lonlat)(?=\s|$)/

/** WGS 84 by ESRI and GDAL, without a code. */
const WGS84_GEOGCS =
  /GEOGCS\["[^"]*",DATUM\["(?:D_)?WGS_1984",SPHEROID\["WGS[_ ](?:19)?84",6378137(?:\.0*)?,298\.2572235\d*(?:,AUTHORITY\["EPSG","7030"\])?\](?:,AUTHORITY\["EPSG","6326"\])?\],PRIMEM\["Greenwich",0(?:\.0*)?(?:,AUTHORITY\["EPSG","8901"\])?\],UNIT\["[Dd]egree",0\.01745329\d*(?:,AUTHORITY\["EPSG","9122"\])?\](?:,AXIS\["Lat[a-z]*",NORTH\],AXIS\["Lon[a-z]*",EAST\])?\]/
const WGS84_WKT = new RegExp(`^${WGS84_GEOGCS.source}$`)

/** Transverse Mercator of WGS 84 in metres by ESRI, with parameters in any order. */
const ESRI_TMERC = new RegExp(
  `^PROJCS\\["[^"]*",${WGS84_GEOGCS.source},PROJECTION\\["Transverse_Mercator"\\],((?:PARAMETER\\["\\w+",-?[\\d.]+\\],)+)UNIT\\["Met(?:er|re)",1(?:\\.0*)?\\]\\]$`,
  'i',
)
const PARAMETER = /"(\w+)",(-?[\d.]+)/g

const UTM_PARAMETERS =
  /^central_meridian=(-?\d+),false_easting=500000,false_northing=(0|10000000),latitude_of_origin=0,scale_factor=0\.9996$/

/** EPSG codes before the UTM zones of WGS 84. */
const UTM_CODES = { north: 32_600, south: 32_700 }

/** A code, a PROJ string, or WKT; else undefined. */
export function parseCrs(text: string): FileCrs | undefined {
  const trimmed = text.trim()
  const code = CODE.exec(trimmed)?.[2] ?? (isWkt(trimmed) ? OUTER_CODE.exec(trimmed)?.[1] : undefined)
  if (code) return { kind: 'epsg', code: Number(code) }
  if (hasRotatedPole(trimmed)) return { kind: 'rotated-pole' }
  const epsg = WGS84_WKT.test(trimmed) ? 4326 : findUtmCode(trimmed)
  if (epsg) return { kind: 'epsg', code: epsg }
  if (isWkt(trimmed)) return parseWkt(trimmed)
  return /^\+proj=\w/.test(trimmed)
    ? { kind: 'text', wkt: '', proj: trimmed.replace(LONGLAT, '+proj=longlat') }
    : undefined
}

/** For a UTM zone that is written out. */
function findUtmCode(wkt: string): number | undefined {
  const written = ESRI_TMERC.exec(wkt)?.[1]?.matchAll(PARAMETER) ?? []
  const sorted = Array.from(written, ([, name, value]) => `${name?.toLowerCase()}=${Number(value)}`).sort()
  const [, meridian, northing] = UTM_PARAMETERS.exec(sorted.join()) ?? []
  const zone = (Number(meridian) + 183) / 6
  if (!Number.isInteger(zone) || zone < 1 || zone > UTM.zones) return undefined
  return (northing === '0' ? UTM_CODES.north : UTM_CODES.south) + zone
}

function isWkt(text: string): boolean {
  return GEOGRAPHIC_WKT.test(text) || PROJECTED_WKT.test(text) || WRAPPED_WKT.test(text)
}

function parseWkt(wkt: string): FileCrs {
  if (WRAPPED_WKT.test(wkt) && !AROUND_PROJECTED.test(wkt.replace(QUOTED, ''))) {
    return {
      kind: 'unknown',
      reason: 'its WKT is of a compound or bound CRS without a code that is not projected',
    }
  }
  return { kind: 'text', wkt, proj: GEOGRAPHIC_WKT.test(wkt) ? '+proj=longlat' : '' }
}
