import { createAreas } from '../geo/areas.js'
import { canDraw } from '../map/canvas.js'
import { element } from '../shell/element.js'
import { onThemeChange } from '../shell/theme.js'

/**
 * @typedef {object} Feature
 * @property {'Feature'} type
 * @property {{ type: string, coordinates: any } | null} geometry
 * @property {Record<string, unknown>} properties of which `color` is its colour
 */

const MARK = '#d5006d'
const SOURCE = 'features'

/**
 * A map of features on the outlines of the countries. Its place is there at once; what draws it is loaded meanwhile.
 *
 * @param {import('../api-types').Catalog} catalog
 * @param {{ label: string, left: AbortSignal }} options
 * @returns {FeaturesMap | null} null where the browser cannot draw one
 */
export function featuresMap(catalog, { label, left }) {
  if (!canDraw()) return null
  const place = element('div', { class: 'pane features' })
  /** @type {Feature[]} */
  let features = []
  /** @type {[number, number, number, number] | undefined} */
  let around
  const ready = load()

  async function load() {
    const [maplibre, { createPane }] = await Promise.all([import('maplibre-gl'), import('../map/pane.js')])
    left.throwIfAborted()
    addStyles()
    const pane = createPane(maplibre, place, { center: [30, 3], zoom: 3 })
    const { map } = pane
    map.getCanvas().setAttribute('aria-label', label)
    map.addControl(new maplibre.NavigationControl({ showCompass: false }), 'top-right')
    map.on('style.load', () => {
      map.addSource(SOURCE, { type: 'geojson', data: collectionOf(features) })
      for (const layer of layersOf()) map.addLayer(/** @type {any} */ (layer))
    })
    onThemeChange(() => {
      if (!left.aborted) pane.restyle()
    })
    left.addEventListener('abort', () => pane.remove())
    drawCountries(catalog, pane).catch(() => {})
    goTo(map)
    return map
  }

  /** @param {import('maplibre-gl').Map} map */
  function goTo(map) {
    const bounds = boundsOf(features) ?? around
    if (!bounds) return
    // What has no place in the page yet has no size.
    if (place.clientWidth === 0) map.once('resize', () => goTo(map))
    else map.fitBounds(bounds, { padding: 40, maxZoom: 13, animate: false })
  }

  ready.catch(() => {})
  return {
    place,
    ready,
    look(bounds) {
      around = bounds
      ready.then(goTo, () => {})
    },
    async show(shown, whole = true) {
      features = shown
      const map = await ready.catch(() => null)
      const source = /** @type {import('maplibre-gl').GeoJSONSource | undefined} */ (map?.getSource(SOURCE))
      source?.setData(collectionOf(features))
      if (map && whole) goTo(map)
    },
  }
}

/**
 * @typedef {object} FeaturesMap
 * @property {HTMLElement} place
 * @property {Promise<import('maplibre-gl').Map>} ready
 * @property {(features: Feature[], whole?: boolean) => Promise<void>} show goes to where all of them are seen, if `whole`
 * @property {(bounds: [number, number, number, number]) => void} look goes there, where no features are shown
 */

/** @param {import('../api-types').Catalog} catalog @param {ReturnType<typeof import('../map/pane.js').createPane>} pane */
async function drawCountries(catalog, pane) {
  const areasOf = createAreas(catalog)
  const outlines = await Promise.all(catalog.countries.map(({ code }) => areasOf(code, 0)))
  pane.show({
    layer: undefined,
    opacity: 0,
    countries: outlines.flat(),
    areas: [],
    place: null,
    pixel: undefined,
  })
}

function layersOf() {
  const color = ['coalesce', ['get', 'color'], MARK]
  const isPoint = ['==', ['geometry-type'], 'Point']
  return [
    {
      id: 'feature-fill',
      type: 'fill',
      filter: ['!', isPoint],
      paint: { 'fill-color': color, 'fill-opacity': ['case', ['has', 'color'], 0.75, 0.35] },
    },
    {
      id: 'feature-line',
      type: 'line',
      filter: ['!', isPoint],
      paint: { 'line-color': color, 'line-width': 2 },
    },
    {
      id: 'feature-point',
      type: 'circle',
      filter: isPoint,
      paint: {
        'circle-radius': ['interpolate', ['linear'], ['zoom'], 4, 3.5, 10, 7],
        'circle-color': color,
        'circle-stroke-color': '#ffffff',
        'circle-stroke-width': 1,
      },
    },
  ].map((layer) => ({ ...layer, source: SOURCE }))
}

/** @param {Feature[]} features @returns {any} */
function collectionOf(features) {
  return { type: 'FeatureCollection', features: features.filter(({ geometry }) => geometry !== null) }
}

/**
 * West, south, east and north of all features.
 *
 * @param {Feature[]} features
 * @returns {[number, number, number, number] | null}
 */
export function boundsOf(features) {
  /** @type {[number, number, number, number]} */
  const bounds = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { geometry } of features) widen(bounds, geometry?.coordinates)
  return bounds[0] <= bounds[2] ? bounds : null
}

/** @param {[number, number, number, number]} bounds @param {any} coordinates a position, or lists of such */
function widen(bounds, coordinates) {
  if (!Array.isArray(coordinates)) return
  const [lng, lat] = coordinates
  if (typeof lng !== 'number') {
    for (const inner of coordinates) widen(bounds, inner)
    return
  }
  bounds[0] = Math.min(bounds[0], lng)
  bounds[1] = Math.min(bounds[1], lat)
  bounds[2] = Math.max(bounds[2], lng)
  bounds[3] = Math.max(bounds[3], lat)
}

function addStyles() {
  const href = new URL('../lib/maplibre-gl/maplibre-gl.css', import.meta.url).href
  if (document.querySelector(`link[href="${href}"]`)) return
  document.head.prepend(element('link', { rel: 'stylesheet', href }))
}
