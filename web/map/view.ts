import { isPlace, short } from '../geo/places.ts'

/**
 * What is shown, as the address of the page says it: a link opens the same again.
 *
 * @typedef {object} View
 * @property {string | null} product
 * @property {string | null} country
 * @property {string | null} crop
 * @property {string | null} month as `YYYY-MM`
 * @property {string | null} input
 * @property {string | null} scenario
 * @property {'quantiles' | 'equal'} cut
 * @property {number} opacity in percent
 * @property {string | null} compare `scenario:NAME` or `month:YYYY-MM`
 * @property {'map' | 'table'} mode
 * @property {import('../api-types.ts').Place | null} at the place that was chosen
 * @property {{ zoom: number, lat: number, lng: number } | null} camera
 * @property {number | null} hectares
 */

const TEXTS = /** @type {const} */ (['product', 'country', 'crop', 'month', 'input', 'scenario', 'compare'])

/**
 * @param {string} hash as `location.hash` has it
 * @returns {View} what cannot be read is as if it was not there
 */
export function readView(hash) {
  const given = new URLSearchParams(hash.replace(/^#/, ''))
  const texts = Object.fromEntries(TEXTS.map((name) => [name, given.get(name) || null]))
  const [lat, lng] = numbersIn(given.get('at'), 2)
  const [zoom, north, east] = numbersIn(given.get('map'), 3)
  const opacity = numberIn(given.get('opacity'))
  const hectares = numberIn(given.get('ha'))
  return {
    .../** @type {Pick<View, (typeof TEXTS)[number]>} */ (texts),
    cut: given.get('cut') === 'equal' ? 'equal' : 'quantiles',
    opacity: opacity !== undefined && opacity >= 0 && opacity <= 100 ? opacity : 85,
    mode: given.get('as') === 'table' ? 'table' : 'map',
    at: lat !== undefined && lng !== undefined && isPlace(lat, lng) ? { lat, lng } : null,
    camera:
      zoom !== undefined && north !== undefined && east !== undefined && isPlace(north, east)
        ? { zoom, lat: north, lng: east }
        : null,
    hectares: hectares !== undefined && hectares > 0 ? hectares : null,
  }
}

/**
 * @param {View} view
 * @returns {string} the hash that it is read from again
 */
export function writeView(view) {
  const said = new URLSearchParams()
  for (const name of TEXTS) if (view[name]) said.set(name, view[name])
  if (view.cut !== 'quantiles') said.set('cut', view.cut)
  if (view.opacity !== 85) said.set('opacity', String(view.opacity))
  if (view.mode !== 'map') said.set('as', view.mode)
  if (view.at) said.set('at', `${short(view.at.lat)},${short(view.at.lng)}`)
  if (view.camera) {
    const { zoom, lat, lng } = view.camera
    said.set('map', `${Number(zoom.toFixed(2))},${short(lat)},${short(lng)}`)
  }
  if (view.hectares) said.set('ha', String(view.hectares))
  return `#${said.toString().replaceAll('%2C', ',').replaceAll('%3A', ':')}`
}

/** @param {string | null} text */
function numberIn(text) {
  return text?.trim() && Number.isFinite(Number(text)) ? Number(text) : undefined
}

/**
 * @param {string | null} text
 * @param {number} count
 * @returns {(number | undefined)[]} as many as there are to be, or none
 */
function numbersIn(text, count) {
  const numbers = (text ?? '').split(',').map(numberIn)
  return numbers.length === count && !numbers.includes(undefined) ? numbers : []
}
