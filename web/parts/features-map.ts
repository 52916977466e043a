import { createAreas } from '../geo/areas.ts'
import { canDraw } from '../map/canvas.ts'
import { ABOVE_SHAPES, ABOVE_VALUES } from '../map/style.ts'
import { element } from '../shell/element.ts'
import { onThemeChange } from '../shell/theme.ts'

/**
 * @typedef {object} Feature
 * @property {'Feature'} type
 * @property {{ type: string, coordinates: any } | null} geometry
 * @property {Record<string, unknown>} properties of which `color` is its colour
 */

const MARK = '#d5006d'
const SOURCE = 'features'

/** Near enough to see a field. */
const FIELD_ZOOM = 14

/**
 * A map of features on the outlines of the countries. Its place is there at once; what draws it is loaded meanwhile.
 *
 * @param {import('../api-types.ts').Catalog} catalog
 * @param {{ label: string, left: AbortSignal }} options
 * @returns {FeaturesMap | null} null where the browser cannot draw one
 */
export function featuresMap(catalog, { label, left }) {
  if (!canDraw()) return null
  const place = element('div', { class: 'pane features' })
  /** @type {Feature[]} */
  let features = []
  let around: [number, number, number, number] | undefined
  /** @type {import('../map/pane.ts').Shown} */
  let base = { layer: undefined, opacity: 0, countries: [], areas: [], place: null, pixel: undefined }
  let pane: ReturnType<typeof import('../map/pane.ts').createPane> | undefined
  const ready = load()

  /** @param {Partial<typeof base>} changes */
  function draw(changes) {
    base = { ...base, ...changes }
    pane?.show(base)
  }

  async function load() {
    const [maplibre, { createPane }] = await Promise.all([import('maplibre-gl'), import('../map/pane.ts')])
    left.throwIfAborted()
    addStyles()
    const made = createPane(maplibre, place, { center: [30, 3], zoom: 3 })
    pane = made
    const { map } = made
    map.getCanvas().setAttribute('aria-label', label)
    map.addControl(new maplibre.NavigationControl({ showCompass: false }), 'top-right')
    map.addControl(new maplibre.ScaleControl({}), 'bottom-left')
    map.on('style.load', () => {
      map.addSource(SOURCE, { type: 'geojson', data: collectionOf(features) })
      for (const [layer, above] of layersOf()) map.addLayer(/** @type {any} */ (layer), above)
    })
    onThemeChange(() => {
      if (!left.aborted) made.restyle()
    })
    left.addEventListener('abort', () => made.remove())
    draw({})
    countriesOf(catalog).then(
      (countries) => draw({ countries }),
      () => {},
    )
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
    outline: (areas) => draw({ areas }),
    async mark(spot) {
      draw({ place: spot })
      const map = await ready
      map.jumpTo({ center: [spot.lng, spot.lat], zoom: Math.max(map.getZoom(), FIELD_ZOOM) })
    },
  }
}

/**
 * @typedef {object} FeaturesMap
 * @property {HTMLElement} place
 * @property {Promise<import('maplibre-gl').Map>} ready
 * @property {(features: Feature[], whole?: boolean) => Promise<void>} show goes to where all of them are seen, if `whole`
 * @property {(bounds: [number, number, number, number]) => void} look goes there, where no features are shown
 * @property {(areas: import('../api-types.ts').Area[]) => void} outline draws borders and names of areas
 * @property {(place: import('../api-types.ts').Place) => Promise<void>} mark puts a dot there, and goes near
 */

/** @param {import('../api-types.ts').Catalog} catalog */
async function countriesOf(catalog) {
  const areasOf = createAreas(catalog)
  const outlines = await Promise.all(catalog.countries.map(({ code }) => areasOf(code, 0)))
  return outlines.flat()
}

/** The layers of features, each with the layer of the style that lies on it. */
function layersOf() {
  const color = ['coalesce', ['get', 'color'], MARK]
  const isPoint = ['==', ['geometry-type'], 'Point']
  // Areas with values have the borders of the map, but the one that is chosen.
  const isOutlined = ['any', ['!', ['has', 'color']], ['to-boolean', ['get', 'chosen']]]
  const fill = {
    id: 'feature-fill',
    type: 'fill',
    filter: ['!', isPoint],
    paint: { 'fill-color': color, 'fill-opacity': ['case', ['has', 'color'], 0.85, 0.35] },
  }
  const line = {
    id: 'feature-line',
    type: 'line',
    filter: ['all', ['!', isPoint], isOutlined],
    paint: { 'line-color': MARK, 'line-width': 2 },
  }
  const point = {
    id: 'feature-point',
    type: 'circle',
    filter: isPoint,
    paint: {
      'circle-radius': ['interpolate', ['linear'], ['zoom'], 4, 3.5, 10, 7],
      'circle-color': color,
      'circle-stroke-color': '#ffffff',
      'circle-stroke-width': 1,
    },
  }
  return /** @type {const} */ ([
    [{ ...fill, source: SOURCE }, ABOVE_VALUES],
    [{ ...line, source: SOURCE }, ABOVE_SHAPES],
    [{ ...point, source: SOURCE }, undefined],
  ])
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
