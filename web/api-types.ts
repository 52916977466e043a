export type { Conditions } from '#schemas/certainty.ts'

import type { Cut, LayerName } from '#schemas/map.ts'

// The members of answers that pages read; the OpenAPI document has all of them.

export interface Catalog {
  countries: { code: string; name: string; crops: string[] }[]
  crops: { code: string; name: string }[]
  products: CatalogProduct[]
  scenarios: { scenario: string; description: string }[]
  releases: CatalogRelease[]
  boundaries: { country_code: string; level: number; areas: number; approximate: boolean }[]
}

/** Of the service; the demo is there while a part of it is missing. */
export interface Readiness {
  demo?: { loaded: number; of: number }
}

export interface CatalogProduct {
  product: string
  unit: string
  value: { key: string; unit: string; description: string }
  needs_crop: boolean
}

export interface CatalogRelease {
  release: string
  product: string
  country_code: string
  crop: string | null
  forecast_period: string | null
  synthetic: boolean
  stale?: true
  valid_until: string | null
  grids: Grid[]
  source: string
  licence: string
}

export interface Grid {
  srid: number
  width: number
  height: number
  resolution: { metres_x: number | null; metres_y: number | null }
  extent: Bounds
}

export interface Tileset {
  tiles: string[]
  minzoom: number
  maxzoom: number
  bounds: Bounds
  attribution: string
  release: string
  layer: LayerName
  input: string | null
  scenario: string | null
  condition?: string
  /** Of a band about layers. */
  role?: string
  unit: string
  cut: Cut
  classes: { from: number; to: number; color: string; title?: string }[]
}

/** An area of a country as a feature. */
export interface Area {
  code: string
  name: string
  level: number
  country_code: string
  parent: string | null
  geometry: Polygon | MultiPolygon
}

/** An area that a name may mean, with its centre. */
export interface FoundArea extends Omit<Area, 'geometry'>, Place {}

export interface FoundAreas {
  items: FoundArea[]
  /** Of coordinates and grid codes. */
  position: Place | null
  is_near: boolean
}

/** West, south, east and north in degrees. */
export type Bounds = [west: number, south: number, east: number, north: number]
export type Position = [number, number]
interface Polygon {
  type: 'Polygon'
  coordinates: Position[][]
}
interface MultiPolygon {
  type: 'MultiPolygon'
  coordinates: Position[][][]
}

export interface Place {
  lat: number
  lng: number
}
