import type {
  ExpressionSpecification,
  GeoJSONSource,
  LayerSpecification,
  Map as MapLibreMap,
  SourceSpecification,
  SymbolLayerSpecification,
} from 'maplibre-gl'

/** Land and borders by Natural Earth; and rivers, lakes and towns, as this service has them. */
const LAND = new URL('../basemap/land.geojson', import.meta.url).href
const FEATURES = new URL('../basemap/africa.geojson', import.meta.url).href

/** From which zoom on they are shown: in a whole country, borders and values say enough. */
const LEAST_ZOOM = 5.5

/** The nearer, the smaller towns. */
const TOWNS: ExpressionSpecification = [
  'all',
  ofKind('town'),
  ['<=', ['get', 'rank'], ['step', ['zoom'], 4, 6, 6, 7, 7, 8, 10]],
]

/** A layer of names, in the typeface of the page. */
export function namesIn(
  id: string,
  source: string,
  [color, halo]: [color: string, halo: string],
  { layout, ...others }: Partial<SymbolLayerSpecification>,
): SymbolLayerSpecification {
  const text = { 'text-field': ['get', 'name'], 'text-font': ['Agro Text', 'sans-serif'], 'text-size': 12 }
  return {
    ...{ id, type: 'symbol', source, ...others },
    layout: { ...text, ...layout } as SymbolLayerSpecification['layout'],
    paint: { 'text-color': color, 'text-halo-color': halo, 'text-halo-width': 1.4 },
  }
}

interface Colours {
  around: string
  line: string
  river: string
  lake: string
  label: string
  halo: string
}

/** The tiles that the operator has set, and who is to be named for them; null where there are none. */
function operatorTiles() {
  const meta = document.querySelector('meta[name=basemap]') as HTMLMetaElement | null
  return meta && { url: meta.content, attribution: meta.dataset.attribution ?? '' }
}

/** Below all: land that is of none of the countries that are served. */
export function landLayers({ around, line }: Colours): LayerSpecification[] {
  if (operatorTiles()) return []
  return [
    {
      id: 'land-around',
      type: 'fill',
      source: 'land',
      filter: ofKind('land'),
      // Its parts have no seams.
      paint: { 'fill-color': around, 'fill-antialias': false },
    },
    {
      id: 'borders-around',
      type: 'line',
      source: 'land',
      filter: ofKind('border'),
      // They are too coarse for what is near.
      paint: { 'line-color': line, 'line-opacity': ['interpolate', ['linear'], ['zoom'], 6, 1, 9, 0] },
    },
  ]
}

/** Layers below values. */
export function layersBelow({ lake }: Colours): LayerSpecification[] {
  if (operatorTiles()) return [{ id: 'tiles', type: 'raster', source: 'basemap' }]
  return [
    { id: 'lakes', type: 'fill', source: 'basemap', filter: ofKind('lake'), paint: { 'fill-color': lake } },
  ]
}

/** Layers on values, under the borders of areas. */
export function layersAbove({ river }: Colours): LayerSpecification[] {
  if (operatorTiles()) return []
  return [
    {
      id: 'rivers',
      type: 'line',
      source: 'basemap',
      filter: ofKind('river'),
      paint: { 'line-color': river, 'line-width': ['interpolate', ['linear'], ['zoom'], 7, 0.8, 12, 2.4] },
    },
  ]
}

/** The names of rivers and towns, under those of areas. */
export function nameLayers({ river, label, halo }: Colours): LayerSpecification[] {
  if (operatorTiles()) return []
  return [
    namesIn('river-names', 'basemap', [river, halo], {
      minzoom: 8,
      filter: ofKind('river'),
      layout: { 'symbol-placement': 'line' },
    }),
    {
      id: 'town-dots',
      type: 'circle',
      source: 'basemap',
      filter: TOWNS,
      paint: {
        'circle-radius': 2.5,
        'circle-color': label,
        'circle-stroke-color': halo,
        'circle-stroke-width': 1,
      },
    },
    namesIn('town-names', 'basemap', [label, halo], {
      filter: TOWNS,
      layout: { 'text-anchor': 'left', 'text-offset': [0.5, 0], 'symbol-sort-key': ['get', 'rank'] },
    }),
  ]
}

function ofKind(kind: string): ExpressionSpecification {
  return ['==', ['get', 'kind'], kind]
}

export function basemapSources(): Record<string, SourceSpecification> {
  const tiles = operatorTiles()
  if (tiles) {
    const attribution = escaped(tiles.attribution)
    return { basemap: { type: 'raster', tiles: [tiles.url], tileSize: 256, attribution } }
  }
  return {
    land: { type: 'geojson', data: LAND, attribution: 'Natural Earth' },
    basemap: { type: 'geojson', data: { type: 'FeatureCollection', features: [] } },
  }
}

/** MapLibre takes attributions for HTML. */
function escaped(text: string) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}

/** Has the features loaded as soon as they are to be seen. */
export function loadBasemap(map: MapLibreMap) {
  let loaded = operatorTiles() !== null
  function load() {
    if (loaded || map.getZoom() < LEAST_ZOOM) return
    const source = map.getSource('basemap') as GeoJSONSource | undefined
    loaded = source !== undefined
    source?.setData(FEATURES)
  }
  map.on('zoom', load)
  map.on('style.load', () => {
    // Another style begins without them.
    loaded = operatorTiles() !== null
    load()
  })
}
