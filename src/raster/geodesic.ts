import { FLATTENING, RADIUS } from './pixel-area.ts'

const POLAR_RADIUS = RADIUS * (1 - FLATTENING)

/** Steps are repeated until they are shorter than this, in radians: a hundredth of a millimetre. */
const PRECISE = 1e-12
const MOST_STEPS = 20

const RADIANS = Math.PI / 180

/**
 * The length of the shortest line on the WGS 84 ellipsoid between two positions in degrees, in metres, to half a
 * millimetre (Vincenty, 1975); undefined where they lie so nearly opposite that its series does not converge.
 */
export function geodesicLength(
  longitude: number,
  latitude: number,
  toLongitude: number,
  toLatitude: number,
): number | undefined {
  const [sinU, cosU] = reduced(latitude)
  const [sinTo, cosTo] = reduced(toLatitude)
  const degrees = toLongitude - longitude
  const difference = (degrees - 360 * Math.round(degrees / 360)) * RADIANS
  let lambda = difference
  for (let step = 0; step < MOST_STEPS; step++) {
    const sinLambda = Math.sin(lambda)
    const cosLambda = Math.cos(lambda)
    const sinSigma = Math.hypot(cosTo * sinLambda, cosU * sinTo - sinU * cosTo * cosLambda)
    if (sinSigma === 0) return cosLambda > 0 ? 0 : undefined
    const cosSigma = sinU * sinTo + cosU * cosTo * cosLambda
    const sigma = Math.atan2(sinSigma, cosSigma)
    const sinAlpha = (cosU * cosTo * sinLambda) / sinSigma
    const cosSquared = 1 - sinAlpha ** 2
    // Along the equator the term has no part in the length.
    const cosMiddle = cosSquared === 0 ? 0 : cosSigma - (2 * sinU * sinTo) / cosSquared
    const c = (FLATTENING / 16) * cosSquared * (4 + FLATTENING * (4 - 3 * cosSquared))
    const bend = cosMiddle + c * cosSigma * (2 * cosMiddle ** 2 - 1)
    const before = lambda
    lambda = difference + (1 - c) * FLATTENING * sinAlpha * (sigma + c * sinSigma * bend)
    if (Math.abs(lambda) > Math.PI) return undefined
    if (Math.abs(lambda - before) <= PRECISE)
      return lengthOf({ sigma, sinSigma, cosSigma, cosSquared, cosMiddle })
  }
  return undefined
}

interface Arc {
  sigma: number
  sinSigma: number
  cosSigma: number
  cosSquared: number
  cosMiddle: number
}

function lengthOf({ sigma, sinSigma, cosSigma, cosSquared, cosMiddle }: Arc): number {
  const u = cosSquared * ((RADIUS / POLAR_RADIUS) ** 2 - 1)
  const a = 1 + (u / 16384) * (4096 + u * (-768 + u * (320 - 175 * u)))
  const b = (u / 1024) * (256 + u * (-128 + u * (74 - 47 * u)))
  const middle = 2 * cosMiddle ** 2 - 1
  const third = (b / 6) * cosMiddle * (4 * sinSigma ** 2 - 3) * (4 * cosMiddle ** 2 - 3)
  const correction = b * sinSigma * (cosMiddle + (b / 4) * (cosSigma * middle - third))
  return POLAR_RADIUS * a * (sigma - correction)
}

/** Sine and cosine of the reduced latitude. */
function reduced(latitude: number): [sin: number, cos: number] {
  const u = Math.atan((1 - FLATTENING) * Math.tan(latitude * RADIANS))
  return [Math.sin(u), Math.cos(u)]
}
