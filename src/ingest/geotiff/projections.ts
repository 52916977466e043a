/** The keys of a GeoTIFF, by their names. */
export type GeoKeys = Record<string, number | string>

/** What the keys of a projection without a code come to: a PROJ string but for the ellipsoid, or why there is none. */
export type Projection = { proj: string } | { reason: string }

type Parameter = 'lon_0' | 'lat_0' | 'lat_1' | 'lat_2' | 'lat_ts' | 'k_0'

/** PROJ's projections by the values of ProjCoordTransGeoKey (GeoTIFF 1.0, section 6.3.3.3), and what they need. */
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

/** Writers call one and the same thing by different keys. */
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

/** Mercator is given by its scale, or by the parallel that is true to scale, which GDAL takes where both are there. */
const MERCATOR = 7
const MERCATOR_BY_PARALLEL: [name: string, ...Parameter[]] = ['merc', 'lat_ts', 'lon_0']

/** Others by their values, and how PROJ calls them. */
const UNREAD: Record<number, [name: string, proj: string]> = {
  2: ['a transverse Mercator of Alaska', 'alsk'],
  3: ['oblique Mercator', 'omerc'],
  4: ["Laborde's oblique Mercator", 'labrd'],
  5: ["Rosenmund's oblique Mercator", 'somerc'],
  6: ['spherical oblique Mercator', 'omerc'],
  9: ['Lambert conformal conic of one parallel', 'lcc'],
  12: ['azimuthal equidistant', 'aeqd'],
  14: ['stereographic', 'stere'],
  15: ['polar stereographic', 'stere'],
  16: ['oblique stereographic', 'sterea'],
  18: ['Cassini-Soldner', 'cass'],
  19: ['gnomonic', 'gnom'],
  20: ['Miller cylindrical', 'mill'],
  21: ['orthographic', 'ortho'],
  22: ['polyconic', 'poly'],
  23: ['Robinson', 'robin'],
  25: ['Van der Grinten', 'vandg'],
  26: ['the map grid of New Zealand', 'nzmg'],
  27: ['south-oriented transverse Mercator', 'tmerc +axis=wsu'],
  9815: ['oblique Mercator', 'omerc'],
}

/** ProjectionGeoKey of UTM's zones, north and south: 160zz and 161zz. */
const UTM = { north: 16_000, south: 16_100, zones: 60 }

const METRE = 9001
const DEGREE = 9102
const GREENWICH = 8901
const USER_DEFINED = 32767
const WGS84 = { datum: 6326, ellipsoid: 7030 }

/** @returns the projection, as PROJ has it, without what it is a projection of */
export function projectionIn(keys: GeoKeys): Projection {
  const zone = utmZoneIn(keys)
  if (zone) return { proj: `+proj=utm ${zone} +units=m` }
  const method = Number(keys.ProjCoordTransGeoKey)
  const byParallel = method === MERCATOR && typeof keys.ProjStdParallel1GeoKey === 'number'
  const [name, ...parameters] = (byParallel ? MERCATOR_BY_PARALLEL : PROJECTIONS[method]) ?? []
  if (!name) {
    const [unread, proj] = UNREAD[method] ?? []
    if (unread) return { reason: `is ${unread}, whose keys are not read (PROJ has it as +proj=${proj})` }
    return {
      reason: Number.isNaN(method) ? 'has no EPSG code' : `is method ${method}, which is not known here`,
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

/** A zone of UTM, which is in metres; undefined for any other projection. */
function utmZoneIn({ ProjectionGeoKey: key }: GeoKeys): string | undefined {
  const isZone = (first: number) => Number(key) > first && Number(key) <= first + UTM.zones
  if (isZone(UTM.north)) return `+zone=${Number(key) - UTM.north}`
  return isZone(UTM.south) ? `+zone=${Number(key) - UTM.south} +south` : undefined
}

/**
 * The Earth of a CRS that has no code, as PROJ has it, by its ellipsoid and its shift to WGS 84; undefined where
 * the keys do not say it. A datum that has only a name cannot be followed: GDAL does not either.
 */
export function earthIn(keys: GeoKeys): string | undefined {
  const meridian = keys.GeogPrimeMeridianGeoKey ?? GREENWICH
  if (
    (keys.GeogPrimeMeridianLongGeoKey ?? 0) !== 0 ||
    ![GREENWICH, USER_DEFINED].includes(Number(meridian))
  ) {
    return undefined
  }
  if (keys.GeogGeodeticDatumGeoKey === WGS84.datum) return '+datum=WGS84'
  const ellipsoid = ellipsoidIn(keys)
  const shift = (keys as Record<string, unknown>).GeogTOWGS84GeoKey as ArrayLike<number> | undefined
  return ellipsoid && shift ? `${ellipsoid} +towgs84=${Array.from(shift).join()}` : ellipsoid
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
