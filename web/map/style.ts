import type { FeatureCollection, Geometry } from 'geojson'
import type { StyleSpecification } from 'maplibre-gl'
import type { Area, Place, Position } from '../api-types.ts'
import { placeInside } from '../geo/areas.ts'
import { basemapSources, landLayers, layersAbove, layersBelow, nameLayers, namesIn } from './basemap.ts'
import { gridLayers } from './grid.ts'

/** The colours of the base map, in light and dark; those of values come with their tiles. */
const COLOURS = {
  light: {
    water: '#d9e5e8',
    around: '#efede2',
    land: '#fbfaf4',
    line: '#8d937f',
    border: '#3c4637',
    label: '#2b3327',
    halo: '#fbfaf4',
    river: '#3f7fa3',
    lake: '#cfe0e8',
  },
  dark: {
    water: '#0b1418',
    around: '#141a14',
    land: '#1b221b',
    line: '#6d7a6b',
    border: '#c0cabb',
    label: '#eef2ea',
    halo: '#141a14',
    river: '#74a9c6',
    lake: '#16303c',
  },
}

/** The chosen place stands out from every colour of values. */
const MARK = '#d5006d'

const nothing = () => collectionOf([])

/** The style of the map: land and borders, with room for the values between. */
export function styleOf(dark: boolean): StyleSpecification {
  const colours = COLOURS[dark ? 'dark' : 'light']
  const { water, land, line, border, label, halo } = colours
  const source = () => ({ type: 'geojson' as const, data: nothing() })
  return {
    version: 8,
    sources: {
      ...basemapSources(),
      ...{ countries: source(), areas: source(), names: source(), pixel: source(), place: source() },
      grid: source(),
    },
    layers: [
      { id: 'water', type: 'background', paint: { 'background-color': water } },
      ...landLayers(colours),
      // Its edges lie below borders.
      {
        id: 'land',
        type: 'fill',
        source: 'countries',
        paint: { 'fill-color': land, 'fill-antialias': false },
      },
      ...layersBelow(colours),
      { id: ABOVE_VALUES, type: 'background', layout: { visibility: 'none' } },
      ...layersAbove(colours),
      ...gridLayers(colours),
      {
        id: 'areas',
        type: 'line',
        source: 'areas',
        paint: { 'line-color': line, 'line-width': ['interpolate', ['linear'], ['zoom'], 4, 0.4, 9, 1.4] },
      },
      {
        id: 'countries',
        type: 'line',
        source: 'countries',
        paint: { 'line-color': border, 'line-width': 1.4 },
      },
      { id: ABOVE_SHAPES, type: 'background', layout: { visibility: 'none' } },
      ...nameLayers(colours),
      namesIn('names', 'names', [label, halo], {
        minzoom: 4,
        // Near by, the name of the whole country would lie on its capital.
        filter: ['any', ['>', ['get', 'level'], 0], ['<', ['zoom'], 7]],
        layout: { 'text-size': ['interpolate', ['linear'], ['zoom'], 5, 11, 9, 15], 'text-max-width': 8 },
      }),
      { id: 'pixel', type: 'line', source: 'pixel', paint: { 'line-color': MARK, 'line-width': 2.5 } },
      {
        id: 'place',
        type: 'circle',
        source: 'place',
        paint: {
          'circle-radius': 5,
          'circle-color': MARK,
          'circle-stroke-color': '#ffffff',
          'circle-stroke-width': 2,
        },
      },
    ],
  }
}

/** Below which layers of the style values are drawn, and shapes: borders lie on values, and names on both. */
export const ABOVE_VALUES = 'above-values'
export const ABOVE_SHAPES = 'above-shapes'

export function shapesOf(areas: Area[]) {
  return collectionOf(areas.map(({ name, geometry }) => ({ name, geometry })))
}

/** Names, each in the middle of its area. */
export function namesOf(areas: Area[]) {
  return collectionOf(
    areas.map((area) => {
      const { lat, lng } = placeInside(area)
      return { name: area.name, level: area.level, geometry: { type: 'Point', coordinates: [lng, lat] } }
    }),
  )
}

export function pointOf(place: Place | null) {
  if (!place) return nothing()
  return collectionOf([{ name: '', geometry: { type: 'Point', coordinates: [place.lng, place.lat] } }])
}

export function outlineOf(ring: Position[] | undefined) {
  return ring ? collectionOf([{ name: '', geometry: { type: 'LineString', coordinates: ring } }]) : nothing()
}

function collectionOf(shapes: { name: string; level?: number; geometry: Geometry }[]): FeatureCollection {
  const features = shapes.map(({ geometry, ...properties }) => ({
    type: 'Feature' as const,
    properties,
    geometry,
  }))
  return { type: 'FeatureCollection', features }
}
