import type { Feature, FeatureCollection } from 'geojson'
import type { GeoJSONSource, LayerSpecification, Map as MapLibreMap } from 'maplibre-gl'
import type { Bounds, Position } from '../api-types.ts'
import { TEXTS } from '../texts/en.ts'
import { namesIn } from './basemap.ts'

// Near by, where a map may have nothing else to find one's way by: lines of round latitudes and longitudes, with their names.

/** From here on districts are wider than a map. */
const LEAST_ZOOM = 10.5

/** At least as many lines cross the shorter side of a map, and up to twice as many. */
const FEWEST = 2

/** The layers of it, in the colours of the map. */
export function gridLayers({ line, label, halo }: Record<'line' | 'label' | 'halo', string>) {
  const layers: LayerSpecification[] = [
    {
      id: 'grid',
      type: 'line',
      source: 'grid',
      paint: { 'line-color': line, 'line-width': 0.7, 'line-opacity': 0.7 },
    },
    namesIn('grid-names', 'grid', [label, halo], {
      filter: ['has', 'name'],
      layout: { 'text-anchor': ['get', 'anchor'], 'text-offset': [0.3, 0.2] },
    }),
  ]
  return layers
}

/** Has a map draw them wherever it goes. */
export function followGrid(map: MapLibreMap) {
  let isDrawn = false
  function draw() {
    const source = map.getSource('grid') as GeoJSONSource | undefined
    const isNear = map.getZoom() >= LEAST_ZOOM
    if (!isNear && !isDrawn) return
    isDrawn = isNear
    const features = isNear ? gridOf(map.getBounds().toArray().flat() as Bounds) : []
    source?.setData({ type: 'FeatureCollection', features } satisfies FeatureCollection)
  }
  map.on('moveend', draw)
  map.on('style.load', draw)
}

/** The lines in a rectangle, and their names at its western and northern edges. */
export function gridOf([west, south, east, north]: Bounds): Feature[] {
  const most = Math.min(east - west, north - south) / FEWEST
  const power = Math.floor(Math.log10(most))
  const step = ([5, 2].find((one) => one * 10 ** power <= most) ?? 1) * 10 ** power
  const between = (least: number, end: number) => {
    const first = Math.ceil(least / step)
    const count = Math.max(0, Math.floor(end / step) - first + 1)
    return Array.from({ length: count }, (_, at) => (first + at) * step)
  }
  const text = (degrees: number) => Math.abs(degrees).toFixed(Math.max(0, -power))
  return [
    ...between(south, north).flatMap((lat) =>
      lineOf([west, lat], [east, lat], 'left', TEXTS.map.latitude(text(lat), lat < 0)),
    ),
    ...between(west, east).flatMap((lng) =>
      lineOf([lng, north], [lng, south], 'top', TEXTS.map.longitude(text(lng), lng < 0)),
    ),
  ]
}

function lineOf(from: Position, to: Position, anchor: string, name: string): Feature[] {
  return [
    { type: 'Feature', properties: {}, geometry: { type: 'LineString', coordinates: [from, to] } },
    { type: 'Feature', properties: { name, anchor }, geometry: { type: 'Point', coordinates: from } },
  ]
}
