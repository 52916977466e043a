import type { FeatureCollection, Feature as GeoJsonFeature, Geometry, GeometryCollection } from 'geojson'
import type {
  ExpressionSpecification,
  GeoJSONSource,
  LayerSpecification,
  Map as MapLibreMap,
} from 'maplibre-gl'
import type { Area, Bounds, Catalog, Place } from '../api-types.ts'
import { createAreas, createFinest, outlinesOf } from '../geo/areas.ts'
import { element } from '../shell/element.ts'
import { onThemeChange } from '../shell/frame.ts'
import { canDraw, loadPane } from './canvas.ts'
import type { Pane, Shown } from './pane-main.ts'
import { ABOVE_SHAPES, ABOVE_VALUES } from './style.ts'

/** Its property `color` is its colour. A point with `far` stands for a shape where that is too small to be seen. */
export interface Feature {
  type: 'Feature'
  geometry: Exclude<Geometry, GeometryCollection> | null
  properties: Record<string, unknown>
}

const MARK = '#d5006d'
const SOURCE = 'features'

/** Near enough to see a field. */
const FIELD_ZOOM = 14

/** Farther away a field of a hectare has fewer than five pixels across. */
const SHAPES_ZOOM = 12

/**
 * A map of features on the outlines of the countries. Its place is there at once; what draws it is loaded meanwhile.
 *
 * @returns null where the browser cannot draw one
 */
export function featuresMap(catalog: Catalog, { label, left }: { label: string; left: AbortSignal }) {
  if (!canDraw()) return null
  const place = element('div', { class: 'pane features' })
  let features: Feature[] = []
  let around: Bounds | undefined
  const areasOf = createAreas(catalog)
  let base: Shown = {
    layer: undefined,
    opacity: 0,
    countries: [],
    areas: [],
    finest: createFinest(catalog, areasOf),
    place: null,
    pixel: undefined,
  }
  let pane: Pane | undefined
  const ready = load()

  function draw(changes: Partial<typeof base>) {
    base = { ...base, ...changes }
    pane?.show(base)
  }

  async function load() {
    const paneIn = await loadPane()
    left.throwIfAborted()
    const made = paneIn(place, { center: [30, 3], zoom: 3 })
    pane = made
    const { map } = made
    map.getCanvas().setAttribute('aria-label', label)
    map.on('style.load', () => {
      map.addSource(SOURCE, { type: 'geojson', data: collectionOf(features) })
      for (const [layer, above] of layersOf()) map.addLayer(layer, above)
    })
    onThemeChange(() => {
      if (!left.aborted) made.restyle()
    })
    left.addEventListener('abort', () => made.remove())
    draw({})
    void outlinesOf(catalog, areasOf).then((countries) => draw({ countries }))
    goTo(map)
    return map
  }

  function goTo(map: MapLibreMap) {
    const bounds = boundsOf(features) ?? around
    if (!bounds) return
    // A map outside of the page has no size.
    if (place.clientWidth === 0) map.once('resize', () => goTo(map))
    else map.fitBounds(bounds, { padding: 40, maxZoom: 13, animate: false })
  }

  ready.catch(() => {})
  return {
    place,
    ready,
    /** Goes there, where no features are shown. */
    look(bounds: Bounds) {
      around = bounds
      ready.then(goTo, () => {})
    },
    /** Goes to where all of them are seen, if `whole`. */
    async show(shown: Feature[], whole = true) {
      features = shown
      const map = await ready.catch(() => null)
      const source = map?.getSource(SOURCE) as GeoJSONSource | undefined
      source?.setData(collectionOf(features))
      if (map && whole) goTo(map)
    },
    /** Draws borders and names of areas. */
    outline: (areas: Area[]) => draw({ areas }),
    /** Puts a dot there, and goes near. */
    async mark(spot: Place) {
      draw({ place: spot })
      const map = await ready
      map.jumpTo({ center: [spot.lng, spot.lat], zoom: Math.max(map.getZoom(), FIELD_ZOOM) })
    },
  }
}

export type FeaturesMap = NonNullable<ReturnType<typeof featuresMap>>

/** The layers of features, each with the layer of the style that lies on it. */
function layersOf(): [LayerSpecification, above: string | undefined][] {
  const color: ExpressionSpecification = ['coalesce', ['get', 'color'], MARK]
  const isPoint: ExpressionSpecification = ['==', ['geometry-type'], 'Point']
  // Areas with values have the borders of the map, but the one that is chosen.
  const isOutlined: ExpressionSpecification = [
    'any',
    ['!', ['has', 'color']],
    ['to-boolean', ['get', 'chosen']],
  ]
  const fill: LayerSpecification = {
    id: 'feature-fill',
    type: 'fill',
    source: SOURCE,
    filter: ['!', isPoint],
    paint: { 'fill-color': color, 'fill-opacity': ['case', ['has', 'color'], 0.85, 0.35] },
  }
  const line: LayerSpecification = {
    id: 'feature-line',
    type: 'line',
    source: SOURCE,
    filter: ['all', ['!', isPoint], isOutlined],
    paint: { 'line-color': MARK, 'line-width': 2 },
  }
  const point: LayerSpecification = {
    id: 'feature-point',
    type: 'circle',
    source: SOURCE,
    filter: ['all', isPoint, ['any', ['!', ['has', 'far']], ['<', ['zoom'], SHAPES_ZOOM]]],
    paint: {
      'circle-radius': ['interpolate', ['linear'], ['zoom'], 4, 3.5, 10, 7],
      'circle-color': color,
      'circle-stroke-color': '#ffffff',
      'circle-stroke-width': 1,
    },
  }
  return [
    [fill, ABOVE_VALUES],
    [line, ABOVE_SHAPES],
    [point, undefined],
  ]
}

function collectionOf(features: Feature[]): FeatureCollection {
  const placed = features.filter((one) => one.geometry !== null) as GeoJsonFeature[]
  return { type: 'FeatureCollection', features: placed }
}

/** West, south, east and north of all features. */
function boundsOf(features: Feature[]): Bounds | null {
  const bounds: Bounds = [Infinity, Infinity, -Infinity, -Infinity]
  for (const { geometry } of features) widen(bounds, geometry?.coordinates)
  return bounds[0] <= bounds[2] ? bounds : null
}

/** @param coordinates a position, or lists of such */
function widen(bounds: Bounds, coordinates: unknown) {
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
