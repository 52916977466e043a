import type { GeoTIFFImage } from 'geotiff'

/** The CRS that a GeoTIFF names, describes or leaves out. */
export type FileCrs =
  | { kind: 'epsg'; code: number }
  | { kind: 'unnamed-wgs84' }
  | { kind: 'unknown'; reason: string }

const MODEL_PROJECTED = 1
const MODEL_GEOGRAPHIC = 2
const USER_DEFINED = 32767
const WGS84 = { datum: 6326, ellipsoid: 7030, semiMajor: 6378137, inverseFlattening: 298.257223563 }
const DEGREE = 9102
const GREENWICH = 8901

/**
 * Reads the CRS from a GeoTIFF's keys (OGC GeoTIFF 1.1, annex C).
 *
 * Some writers leave the name and the code of longitude and latitude out and give only the ellipsoid
 * ("GCS Name = unknown | Datum = unknown | Ellipsoid = WGS 84"). A missing name is not a missing CRS:
 * the parameters decide whether it is WGS 84.
 */
export function crsOf(image: GeoTIFFImage): FileCrs {
  const keys = image.getGeoKeys() as Record<string, number | string> | null
  if (!keys) return { kind: 'unknown', reason: 'it names none' }

  const projected = codeOf(keys.ProjectedCSTypeGeoKey)
  const geographic = codeOf(keys.GeographicTypeGeoKey)
  const model = keys.GTModelTypeGeoKey ?? (keys.ProjectedCSTypeGeoKey ? MODEL_PROJECTED : MODEL_GEOGRAPHIC)
  if (model === MODEL_PROJECTED) {
    return projected
      ? { kind: 'epsg', code: projected }
      : { kind: 'unknown', reason: `its projection${citation(keys)} has no EPSG code` }
  }
  if (model === MODEL_GEOGRAPHIC) {
    if (geographic) return { kind: 'epsg', code: geographic }
    return isWgs84(keys)
      ? { kind: 'unnamed-wgs84' }
      : { kind: 'unknown', reason: `its geographic CRS${citation(keys)} has no EPSG code and is not WGS 84` }
  }
  return { kind: 'unknown', reason: 'it is neither geographic nor projected' }
}

function codeOf(key: number | string | undefined): number | undefined {
  return typeof key === 'number' && key > 0 && key !== USER_DEFINED ? key : undefined
}

function citation(keys: Record<string, number | string>): string {
  const text = keys.PCSCitationGeoKey ?? keys.GTCitationGeoKey ?? keys.GeogCitationGeoKey
  return text ? ` ("${String(text)}")` : ''
}

function isWgs84(keys: Record<string, number | string>): boolean {
  const { GeogSemiMajorAxisGeoKey: semiMajor, GeogInvFlatteningGeoKey: inverse } = keys
  const semiMinor = WGS84.semiMajor * (1 - 1 / WGS84.inverseFlattening)
  const ellipsoid =
    keys.GeogEllipsoidGeoKey === WGS84.ellipsoid ||
    (near(semiMajor, WGS84.semiMajor, 1e-6) &&
      (near(inverse, WGS84.inverseFlattening, 1e-8) || near(keys.GeogSemiMinorAxisGeoKey, semiMinor, 1e-4)))
  const datum = codeOf(keys.GeogGeodeticDatumGeoKey)
  const meridian = codeOf(keys.GeogPrimeMeridianGeoKey)
  const shift = (keys as Record<string, unknown>).GeogTOWGS84GeoKey as ArrayLike<number> | undefined
  return (
    ellipsoid &&
    (datum === undefined || datum === WGS84.datum) &&
    (meridian === undefined || meridian === GREENWICH) &&
    (keys.GeogPrimeMeridianLongGeoKey ?? 0) === 0 &&
    (keys.GeogAngularUnitsGeoKey ?? DEGREE) === DEGREE &&
    (shift === undefined || Array.from(shift).every((parameter) => parameter === 0))
  )
}

function near(value: number | string | undefined, expected: number, tolerance: number): boolean {
  return typeof value === 'number' && Math.abs(value - expected) <= tolerance
}
