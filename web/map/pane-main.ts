import type { FeatureCollection } from 'geojson'
import type * as MapLibre from 'maplibre-gl'
import type { Area, Place, Position, Tileset } from '../api-types.ts'
import { contains } from '../geo/areas.ts'
import { addressOf, type waitAloud } from '../shell/api.ts'
import { element } from '../shell/element.ts'
import { isDark } from '../shell/frame.ts'
import { TEXTS } from '../texts/en.ts'
import { loadBasemap } from './basemap.ts'
import { followGrid } from './grid.ts'
import { ABOVE_VALUES, namesOf, outlineOf, pointOf, shapesOf, styleOf } from './style.ts'

export interface Shown {
  layer: Tileset | undefined
  /** In percent. */
  opacity: number
  countries: Area[]
  areas: Area[]
  /** The smallest ones around a place. */
  finest: (place: Place) => Promise<Area[]>
  place: Place | null
  /** The outline of the pixel that answers there. */
  pixel: Position[] | undefined
}

/** Where a map begins. */
type CameraStart = Pick<MapLibre.MapOptions, 'center' | 'zoom' | 'bounds' | 'fitBoundsOptions'>

const VALUES = 'values'

/** From which zoom on the smallest areas are drawn: districts are a hand wide then. */
const NEAR_ZOOM = 8.5

/** Of a screen. */
const FRAME_MS = 16

/** A server of tiles may not answer at all. */
const MOST_HIDDEN_MS = 3000

/** The answer of a busy service, such as to the first map of a release, and its retries. */
const BUSY = 503
const AGAIN_MS = 3000
const MOST_ATTEMPTS = 300

/**
 * One map in the page: what is drawn in it is said anew as a whole each time. It comes with the library, as a module of its own.
 *
 * @param wait that of the page, which says that it waits
 */
export function createPane(
  maplibre: typeof MapLibre,
  container: HTMLElement,
  camera: CameraStart,
  wait: typeof waitAloud,
) {
  const map = mapIn(maplibre, container, camera, wait)
  let shown: Shown | undefined
  /** Undefined from afar. */
  let near: Area[] | undefined
  let drawn = ''
  /** What the sources of a style have. */
  const filled = new Map<string, unknown>()
  let ready = false
  map.on('style.load', () => {
    ready = true
    drawn = ''
    filled.clear()
    draw()
  })
  const where = element('div', { class: 'where' })
  container.append(where)
  map.on('moveend', lookNear)
  async function lookNear() {
    const isNear = () => map.getZoom() >= NEAR_ZOOM
    const found = isNear() ? await shown?.finest(map.getCenter()) : undefined
    if (found !== undefined && !isNear()) return
    const isOther = found !== near
    near = found
    if (isOther) draw()
    // The borders and the name of a district may be out of sight.
    where.textContent = near?.find((one) => contains(one, map.getCenter()))?.name ?? ''
  }

  function draw() {
    if (!ready || !shown) return
    const { layer, opacity, countries, place, pixel } = shown
    const areas = near && near.length > 0 ? near : shown.areas
    const wanted = layer ? `${layer.release} ${layer.layer} ${layer.cut}` : ''
    if (wanted !== drawn) drawTiles(map, layer)
    drawn = wanted
    if (map.getLayer(VALUES)) map.setPaintProperty(VALUES, 'raster-opacity', opacity / 100)
    fill('countries', countries, shapesOf)
    fill('areas', areas, shapesOf)
    fill('names', areas.length > 0 ? areas : countries, namesOf)
    fill('place', place, pointOf)
    fill('pixel', pixel, outlineOf)
  }

  /** Each change has all that is seen drawn anew. */
  function fill<Of>(name: string, of: Of, dataOf: (of: Of) => FeatureCollection) {
    if (filled.get(name) === of) return
    filled.set(name, of)
    const source = map.getSource(name) as MapLibre.GeoJSONSource | undefined
    source?.setData(dataOf(of))
  }

  return {
    map,
    show(next: Shown) {
      shown = next
      draw()
      void lookNear()
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

/** Draws the tiles of a layer in place of those before. */
function drawTiles(map: MapLibre.Map, layer: Tileset | undefined) {
  if (map.getLayer(VALUES)) map.removeLayer(VALUES)
  if (map.getSource(VALUES)) map.removeSource(VALUES)
  if (!layer) return
  const { minzoom, maxzoom, bounds } = layer
  const tiles = [tilesOf(layer)]
  map.addSource(VALUES, { type: 'raster', tiles, tileSize: 256, minzoom, maxzoom, bounds })
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

/** The address of tiles, seen from this page: the one in the answer may be that of another name of the host. */
function tilesOf({ release, layer, cut }: Tileset) {
  const { href } = addressOf(`releases/${encodeURIComponent(release)}/layers/${layer}/tiles`)
  return `${href}/{z}/{x}/{y}${cut === 'equal' ? '?cut=equal' : ''}`
}

/**
 * Where the processor draws, in place of a graphics card, each pixel takes time, and a phone has three for one of the page.
 * The page would also wait for each step, so such a map is hidden until it is drawn as a whole, or for some seconds.
 */
function spareProcessor(map: MapLibre.Map, shown: () => void) {
  const context = map.getCanvas().getContext('webgl2')
  const names = context?.getExtension('WEBGL_debug_renderer_info')
  if (!context || !names) return
  if (!/swiftshader|llvmpipe|software/i.test(context.getParameter(names.UNMASKED_RENDERER_WEBGL))) return
  map.setPixelRatio(1)
  const [container, { style }] = [map.getContainer(), map.getCanvasContainer()]
  const latest = performance.now() + MOST_HIDDEN_MS
  let end: WebGLSync | null | undefined
  container.ariaBusy = 'true'
  // Its height lets clicks count that come meanwhile.
  style.cssText = 'content-visibility: hidden; height: 100%'
  map.once('idle', () => {
    end = context.fenceSync(context.SYNC_GPU_COMMANDS_COMPLETE, 0)
    context.flush()
  })
  const looking = setInterval(() => {
    const isDrawn = end && context.getSyncParameter(end, context.SYNC_STATUS) !== context.UNSIGNALED
    if (!isDrawn && !context.isContextLost() && performance.now() < latest) return
    clearInterval(looking)
    if (end) context.deleteSync(end)
    container.ariaBusy = null
    style.cssText = ''
    shown()
  }, FRAME_MS)
}

function mapIn(
  maplibre: typeof MapLibre,
  container: HTMLElement,
  camera: CameraStart,
  wait: typeof waitAloud,
) {
  const href = new URL('../lib/maplibre-gl/maplibre-gl.css', import.meta.url).href
  if (!document.querySelector(`link[href="${href}"]`))
    document.head.prepend(element('link', { rel: 'stylesheet', href }))
  const map = new maplibre.Map({
    container,
    style: styleOf(isDark()),
    ...camera,
    attributionControl: { compact: false },
    dragRotate: false,
    pitchWithRotate: false,
    touchPitch: false,
    maxZoom: 16,
    // Names that fade in are drawn anew for a third of a second.
    fadeDuration: 0,
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
  const say = () => {
    if (map.loaded() && !container.ariaBusy) container.dataset.state = 'idle'
  }
  map.on('idle', say)
  spareProcessor(map, say)
  askAgain(map, wait)
  loadBasemap(map)
  followGrid(map)
  return map
}

/** Asks for tiles again that a busy service has refused. */
function askAgain(map: MapLibre.Map, wait: typeof waitAloud) {
  let attempts = 0
  let waiting = false
  map.on('error', ({ error }) => {
    if (Reflect.get(error, 'status') !== BUSY) console.error(error)
    else if (!waiting && attempts < MOST_ATTEMPTS) {
      attempts++
      waiting = true
      void wait(AGAIN_MS).then(() => {
        waiting = false
        if (map.getSource(VALUES)) map.refreshTiles(VALUES)
      })
    }
  })
}
