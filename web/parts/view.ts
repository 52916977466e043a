import type { Cut } from '#schemas/map.ts'
import type { Place } from '../api-types.ts'
import { isPlace, short } from '../geo/areas.ts'

export interface Camera extends Place {
  zoom: number
}

/** The state of the page in its address: a link opens the same again. */
export interface View {
  product: string | null
  country: string | null
  crop: string | null
  /** As `YYYY-MM`. */
  month: string | null
  input: string | null
  scenario: string | null
  /** Of a field, where the release has several; null unless somebody has chosen one. */
  condition: string | null
  /** The odds that are shown in place of values: a scenario, or {@link MOST_LIKELY}. */
  odds: string | null
  cut: Cut
  /** In percent. */
  opacity: number
  /** `scenario:NAME` or `month:YYYY-MM`. */
  compare: string | null
  mode: 'map' | 'table'
  /** The place that was chosen. */
  at: Place | null
  /** The area that was chosen, in the place of a place: `country/level/code`. */
  area: string | null
  camera: Camera | null
  hectares: number | null
}

const TEXTS = [
  'product',
  'country',
  'crop',
  'month',
  'input',
  'scenario',
  'condition',
  'odds',
  'compare',
  'area',
] as const

/**
 * @param hash as `location.hash` has it
 * @returns what cannot be read is as if it was not there
 */
export function readView(hash: string): View {
  const given = new URLSearchParams(hash.replace(/^#/, ''))
  const texts = Object.fromEntries(TEXTS.map((name) => [name, given.get(name) || null]))
  const [lat, lng] = numbersIn(given.get('at'), 2)
  const [zoom, north, east] = numbersIn(given.get('map'), 3)
  const opacity = numberIn(given.get('opacity'))
  const hectares = numberIn(given.get('ha'))
  return {
    ...(texts as Pick<View, (typeof TEXTS)[number]>),
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

/** @returns the hash that it is read from again */
export function writeView(view: View): string {
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

function numberIn(text: string | null) {
  return text?.trim() && Number.isFinite(Number(text)) ? Number(text) : undefined
}

/** @returns as many as there are to be, or none */
function numbersIn(text: string | null, count: number): (number | undefined)[] {
  const numbers = (text ?? '').split(',').map(numberIn)
  return numbers.length === count && !numbers.includes(undefined) ? numbers : []
}
