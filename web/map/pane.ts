import type { FeatureCollection } from 'geojson'
import type * as MapLibre from 'maplibre-gl'
import type { Area, Place, Position, Tileset } from '../api-types.ts'
import { addressOf, waitAloud } from '../shell/api.ts'
import { isDark } from '../shell/frame.ts'
import { TEXTS } from '../texts/en.ts'
import { loadBasemap } from './basemap.ts'
import { ABOVE_VALUES, namesOf, outlineOf, pointOf, shapesOf, styleOf } from './style.ts'

export interface Shown {
  layer: Tileset | undefined
  /** In percent. */
  opacity: number
  countries: Area[]
  areas: Area[]
  place: Place | null
  /** The outline of the pixel that answers there. */
  pixel: Position[] | undefined
}

const VALUES = 'values'

/** The answer of a busy service, such as to the first map of a release, and its retries. */
const BUSY = 503
const AGAIN_MS = 3000
const MOST_ATTEMPTS = 10

/** One map in the page: what is drawn in it is said anew as a whole each time. */
export function createPane(
  maplibre: typeof MapLibre,
  container: HTMLElement,
  camera: { center: [number, number]; zoom: number },
) {
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

  function drawValues(layer: Tileset | undefined) {
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

  function fill(name: string, data: FeatureCollection) {
    const source = map.getSource(name) as MapLibre.GeoJSONSource | undefined
    source?.setData(data)
  }

  return {
    map,
    show(next: Shown) {
      shown = next
      draw()
    },
    /** @param opacity in percent */
    setOpacity(opacity: number) {
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

export type Pane = ReturnType<typeof createPane>

/** The address of tiles, seen from this page: the one in the answer may be that of another name of the host. */
function tilesOf({ release, layer, cut }: Tileset) {
  const { href } = addressOf(`releases/${encodeURIComponent(release)}/layers/${layer}/tiles`)
  return `${href}/{z}/{x}/{y}${cut === 'equal' ? '?cut=equal' : ''}`
}

function mapIn(
  maplibre: typeof MapLibre,
  container: HTMLElement,
  camera: { center: [number, number]; zoom: number },
) {
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

/** Asks for tiles again that a busy service has refused. */
function askAgain(map: MapLibre.Map) {
  let attempts = 0
  let waiting = false
  map.on('error', ({ error }) => {
    if (Reflect.get(error, 'status') !== BUSY) console.error(error)
    else if (!waiting && attempts < MOST_ATTEMPTS) {
      attempts++
      waiting = true
      void waitAloud(AGAIN_MS).then(() => {
        waiting = false
        if (map.getSource(VALUES)) map.refreshTiles(VALUES)
      })
    }
  })
}
