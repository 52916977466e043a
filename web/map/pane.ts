import { addressOf } from '../shell/api.ts'
import { isDark } from '../shell/theme.ts'
import { TEXTS } from '../texts/en.ts'
import { loadBasemap } from './basemap.ts'
import { ABOVE_VALUES, namesOf, nothing, outlineOf, pointOf, shapesOf, styleOf } from './style.ts'

/**
 * @typedef {import('../api-types.ts').Tileset} Tileset
 * @typedef {import('../api-types.ts').Area} Area
 *
 * @typedef {object} Shown
 * @property {Tileset | undefined} layer
 * @property {number} opacity in percent
 * @property {Area[]} countries
 * @property {Area[]} areas
 * @property {import('../api-types.ts').Place | null} place
 * @property {import('../api-types.ts').Position[] | undefined} pixel the outline of the pixel that answers there
 */

const VALUES = 'values'

/** What a service answers that is busy, such as with the first map of a release, and how it is asked again. */
const BUSY = 503
const AGAIN_MS = 3000
const MOST_ATTEMPTS = 10

/**
 * One map in the page: what is drawn in it is said anew as a whole each time.
 *
 * @param {typeof import('maplibre-gl')} maplibre
 * @param {HTMLElement} container
 * @param {{ center: [number, number], zoom: number }} camera
 */
export function createPane(maplibre, container, camera) {
  const map = mapIn(maplibre, container, camera)
  let shown: Shown | undefined
  let drawn = ''
  let ready = false
  map.on('style.load', () => {
    ready = true
    drawn = ''
    draw()
  })
  function draw() {
    if (!ready || !shown) return
    const { layer, opacity, countries, areas, place, pixel } = shown
    drawValues(layer)
    if (map.getLayer(VALUES)) map.setPaintProperty(VALUES, 'raster-opacity', opacity / 100)
    fill('countries', shapesOf(countries))
    fill('areas', shapesOf(areas))
    fill('names', namesOf(areas.length > 0 ? areas : countries))
    fill('place', pointOf(place))
    fill('pixel', outlineOf(pixel))
  }

  /** @param {Tileset | undefined} layer */
  function drawValues(layer) {
    const wanted = layer ? `${layer.release} ${layer.layer} ${layer.cut}` : ''
    if (wanted === drawn) return
    drawn = wanted
    if (map.getLayer(VALUES)) map.removeLayer(VALUES)
    if (map.getSource(VALUES)) map.removeSource(VALUES)
    if (!layer) return
    const { minzoom, maxzoom, bounds } = layer
    map.addSource(VALUES, {
      type: 'raster',
      tiles: [tilesOf(layer)],
      tileSize: 256,
      minzoom,
      maxzoom,
      bounds,
    })
    map.addLayer(
      {
        id: VALUES,
        type: 'raster',
        source: VALUES,
        paint: { 'raster-resampling': 'nearest', 'raster-fade-duration': 0 },
      },
      ABOVE_VALUES,
    )
  }

  /**
   * @param {string} name
   * @param {any} data
   */
  function fill(name, data) {
    const source = /** @type {import('maplibre-gl').GeoJSONSource | undefined} */ (map.getSource(name))
    source?.setData(data ?? nothing())
  }

  return {
    map,
    /** @param {Shown} next */
    show(next) {
      shown = next
      draw()
    },
    /** @param {number} opacity in percent */
    setOpacity(opacity) {
      if (shown) shown = { ...shown, opacity }
      draw()
    },
    /** Takes the colours of the page anew. */
    restyle() {
      ready = false
      map.setStyle(styleOf(isDark()), { diff: false })
    },
    remove: () => map.remove(),
  }
}

/**
 * Where the tiles of a layer are, seen from this page: the address in the answer may be that of another name of the host.
 *
 * @param {Tileset} layer
 */
function tilesOf({ release, layer, cut }) {
  const { href } = addressOf(`releases/${encodeURIComponent(release)}/layers/${layer}/tiles`)
  return `${href}/{z}/{x}/{y}${cut === 'equal' ? '?cut=equal' : ''}`
}

/**
 * @param {typeof import('maplibre-gl')} maplibre
 * @param {HTMLElement} container
 * @param {{ center: [number, number], zoom: number }} camera
 */
function mapIn(maplibre, container, camera) {
  const map = new maplibre.Map({
    container,
    style: styleOf(isDark()),
    ...camera,
    attributionControl: { compact: false },
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    maxZoom: 16,
    locale: {
      'Map.Title': TEXTS.map.label,
      'NavigationControl.ZoomIn': TEXTS.map.zoomIn,
      'NavigationControl.ZoomOut': TEXTS.map.zoomOut,
    },
  })
  map.touchZoomRotate.disableRotation()
  map.keyboard.disableRotation()
  // For those who wait until all is drawn: tests, and whoever takes a picture.
  map.on('dataloading', () => {
    container.dataset.state = 'drawing'
  })
  map.on('idle', () => {
    container.dataset.state = 'idle'
  })
  askAgain(map)
  loadBasemap(map)
  return map
}

/**
 * Asks for tiles again that a busy service has refused.
 *
 * @param {import('maplibre-gl').Map} map
 */
function askAgain(map) {
  let attempts = 0
  let waiting = false
  map.on('error', ({ error }) => {
    if (Reflect.get(error, 'status') !== BUSY) console.error(error)
    else if (!waiting && attempts < MOST_ATTEMPTS) {
      attempts++
      waiting = true
      setTimeout(() => {
        waiting = false
        if (map.getSource(VALUES)) map.refreshTiles(VALUES)
      }, AGAIN_MS)
    }
  })
}
