/** WGS 84. */
const RADIUS = 6378137
const FLATTENING = 1 / 298.257223563

const RADIANS = Math.PI / 180

/** The third flattening. */
const N = FLATTENING / (2 - FLATTENING)
const ECCENTRICITY = Math.sqrt(FLATTENING * (2 - FLATTENING))

/** The sum of a power series in {@link N}. */
const series = (...coefficients: number[]) =>
  coefficients.reduceRight((sum, coefficient) => sum * N + coefficient, 0)

/** The radius of the rectifying sphere: Karney's equation 14. */
const RECTIFYING_RADIUS = (RADIUS / (1 + N)) * series(1, 0, 1 / 4, 0, 1 / 64, 0, 1 / 256)

/** Karney's equation 35: alpha 1 to 6. */
const ALPHAS = [
  series(0, 1 / 2, -2 / 3, 5 / 16, 41 / 180, -127 / 288, 7891 / 37800),
  series(0, 0, 13 / 48, -3 / 5, 557 / 1440, 281 / 630, -1983433 / 1935360),
  series(0, 0, 0, 61 / 240, -103 / 140, 15061 / 26880, 167603 / 181440),
  series(0, 0, 0, 0, 49561 / 161280, -179 / 168, 6601661 / 7257600),
  series(0, 0, 0, 0, 0, 34729 / 80640, -3418889 / 1995840),
  series(0, 0, 0, 0, 0, 0, 212378941 / 319334400),
]

const SCALE = 0.9996
const FALSE_EASTING = 500_000
const FALSE_NORTHING_SOUTH = 10_000_000

const DEGREES_OF_ZONE = 6

/** EPSG's codes of the zones on WGS 84. */
const NORTH = 32600
const SOUTH = 32700
const ZONES = 60

interface UtmZone {
  centralMeridian: number
  falseNorthing: number
}

/** The zone of the universal transverse Mercator system with a code of EPSG, on WGS 84; undefined for another system. */
export function findUtmZone(srid: number): UtmZone | undefined {
  const isSouth = srid > SOUTH
  const zone = srid - (isSouth ? SOUTH : NORTH)
  if (!(zone >= 1 && zone <= ZONES)) return undefined
  return {
    centralMeridian: (zone - 1) * DEGREES_OF_ZONE - 180 + DEGREES_OF_ZONE / 2,
    falseNorthing: isSouth ? FALSE_NORTHING_SOUTH : 0,
  }
}

/**
 * Easting and northing in metres of a longitude and latitude in degrees, by the series of Krüger (1912) to the sixth order,
 * as C. Karney has it: "Transverse Mercator with an accuracy of a few nanometers", Journal of Geodesy 85 (2011), equations
 * 7 to 11 and 35. Within 40 degrees of the meridian the error is below a micrometre.
 */
export function projectUtm(
  { centralMeridian, falseNorthing }: UtmZone,
  longitude: number,
  latitude: number,
): [easting: number, northing: number] {
  const [phi, lambda] = [latitude * RADIANS, (longitude - centralMeridian) * RADIANS]
  const tangent = Math.tan(phi)
  const sigma = Math.sinh(ECCENTRICITY * Math.atanh((ECCENTRICITY * tangent) / Math.hypot(1, tangent)))
  const conformal = tangent * Math.hypot(1, sigma) - sigma * Math.hypot(1, tangent)
  const cosine = Math.cos(lambda)
  const xi = Math.atan2(conformal, cosine)
  const eta = Math.asinh(Math.sin(lambda) / Math.hypot(conformal, cosine))
  let [x, y] = [eta, xi]
  for (const [at, alpha] of ALPHAS.entries()) {
    const times = 2 * (at + 1)
    x += alpha * Math.cos(times * xi) * Math.sinh(times * eta)
    y += alpha * Math.sin(times * xi) * Math.cosh(times * eta)
  }
  const metres = SCALE * RECTIFYING_RADIUS
  return [FALSE_EASTING + metres * x, falseNorthing + metres * y]
}
