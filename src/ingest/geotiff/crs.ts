import type { GeoTIFFImage } from 'geotiff'
import { crsOfText, type FileCrs } from './crs-text.ts'
import { earthIn, type GeoKeys, projectionIn } from './projections.ts'

const MODEL_PROJECTED = 1
const MODEL_GEOGRAPHIC = 2
const USER_DEFINED = 32767
const WGS84 = { datum: 6326, ellipsoid: 7030, semiMajor: 6378137, inverseFlattening: 298.257223563 }
const DEGREE = 9102
const GREENWICH = 8901

/**
 * Reads the CRS from a GeoTIFF's keys (OGC GeoTIFF 1.1, annex C), of which some have text in their place.
 *
 * Some writers leave the name and the code of longitude and latitude out and give only the ellipsoid
 * ("GCS Name = unknown | Datum = unknown | Ellipsoid = WGS 84"). A missing name is not a missing CRS:
 * the parameters decide whether it is WGS 84.
 */
export function crsOf(image: GeoTIFFImage): FileCrs {
  const keys = image.getGeoKeys() as GeoKeys | null
  if (!keys) return { kind: 'unknown', reason: 'it names none' }

  const projected = codeOf(keys.ProjectedCSTypeGeoKey)
  const geographic = codeOf(keys.GeographicTypeGeoKey)
  const model = keys.GTModelTypeGeoKey ?? (keys.ProjectedCSTypeGeoKey ? MODEL_PROJECTED : MODEL_GEOGRAPHIC)
  const cited = projected === undefined ? citedCrs(keys) : undefined
  if (cited) return cited
  if (model === MODEL_PROJECTED) {
    return projected ? { kind: 'epsg', code: projected } : projectionOf(keys, geographic)
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

/** ESRI's and GDAL's way out for what keys cannot say. */
const WKT_CITATION = 'ESRI PE String = '

/** What stands in the text of a name where no keys can say it. */
function citedCrs(keys: GeoKeys): FileCrs | undefined {
  const names = [keys.PCSCitationGeoKey, keys.GTCitationGeoKey].map(String)
  const wkt = names.find((name) => name.startsWith(WKT_CITATION))?.slice(WKT_CITATION.length)
  return wkt === undefined ? undefined : crsOfText(wkt.replace(/[|\0]+$/, ''))
}

/** A projection that has no code, by its parameters. */
function projectionOf(keys: GeoKeys, geographic: number | undefined): FileCrs {
  const found = projectionIn(keys)
  if ('reason' in found) return { kind: 'unknown', reason: `its projection${citation(keys)} ${found.reason}` }
  if (geographic) return { kind: 'projection', proj: found.proj, of: geographic }
  const earth = earthIn(keys)
  return earth
    ? { kind: 'text', wkt: '', proj: `${found.proj} ${earth} +no_defs` }
    : { kind: 'unknown', reason: `its projection${citation(keys)} has no ellipsoid` }
}

function codeOf(key: number | string | undefined): number | undefined {
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
