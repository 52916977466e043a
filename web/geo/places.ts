/** Of coordinates: about a metre. */
const DECIMALS = 5

/** @param {number} degrees */
export const short = (degrees) => Number(degrees.toFixed(DECIMALS))

/**
 * A place as links and calls name it.
 *
 * @param {import('../api-types.ts').Place} place
 */
export const shortPlace = ({ lat, lng }) => ({ lat: short(lat), lng: short(lng) })

/**
 * Whether there is such a place.
 *
 * @param {number} lat
 * @param {number} lng
 */
export const isPlace = (lat, lng) => Math.abs(lat) <= 90 && Math.abs(lng) <= 180

/**
 * Reads coordinates that somebody has typed: latitude, then longitude.
 *
 * @param {string} text
 * @returns {import('../api-types.ts').Place | null}
 */
export function placeIn(text) {
  const [, lat = '', lng = ''] = /^\s*(-?\d+(?:\.\d+)?)\s*[,;\s]\s*(-?\d+(?:\.\d+)?)\s*$/.exec(text) ?? []
  if (lat === '' || !isPlace(Number(lat), Number(lng))) return null
  return { lat: Number(lat), lng: Number(lng) }
}
