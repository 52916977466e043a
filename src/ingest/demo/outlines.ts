import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { MultiPolygon } from 'geojson'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'
import { type Bounds, measureBounds } from '#src/raster/rings.ts'
import type { Terrain } from './relief.ts'

/** Natural Earth at 1:10 million, as packed by world-atlas. */
export const OUTLINE_SOURCE = {
  source: 'Natural Earth 1:10m, from the npm package world-atlas',
  licence: 'Public domain',
}

const outlines = new Map<string, MultiPolygon>()

export function countryOutline(countryCode: string): MultiPolygon {
  const outline = outlines.get(countryCode) ?? readOutline(DEMO_COUNTRIES[countryCode]?.numericCode)
  outlines.set(countryCode, outline)
  return outline
}

/** The world is read anew each time: as a module it would stay in memory. */
export function readOutline(numericCode: string | undefined): MultiPolygon {
  const path = createRequire(import.meta.url).resolve('world-atlas/countries-10m.json')
  const world = JSON.parse(readFileSync(path, 'utf8')) as Topology<{ countries: GeometryCollection }>
  const country = world.objects.countries.geometries.find(({ id }) => id === numericCode)
  if (country?.type === 'MultiPolygon') return feature(world, country).geometry
  if (country?.type === 'Polygon') {
    return { type: 'MultiPolygon', coordinates: [feature(world, country).geometry.coordinates] }
  }
  throw new Error(`world-atlas has no outline for ${numericCode}`)
}

export function measureOutline({ coordinates }: MultiPolygon): Bounds {
  return measureBounds(coordinates.flat().map((ring) => ring.flat()))
}

/**
 * Ascending longitudes at a parallel. Inside lies between the first and the second, the third and the fourth (even-odd
 * rule, holes included).
 */
export function crossings(outline: MultiPolygon, latitude: number): number[] {
  const longitudes: number[] = []
  for (const ring of outline.coordinates.flat()) {
    for (let index = 1; index < ring.length; index++) {
      const [fromX = 0, fromY = 0] = ring[index - 1] ?? []
      const [toX = 0, toY = 0] = ring[index] ?? []
      if (fromY > latitude === toY > latitude) continue
      longitudes.push(fromX + ((latitude - fromY) / (toY - fromY)) * (toX - fromX))
    }
  }
  return longitudes.sort((a, b) => a - b)
}

export interface DemoCountry {
  /** ISO 3166-1, the key of world-atlas. */
  numericCode: string
  crop: string | null
  /** About 5 km, and 1 km for the small Rwanda. */
  pixelDegrees: number
  relief: Omit<Terrain, 'bounds'>
}

/** A country needs seats, an outline, a relief and formulas. */
export const DEMO_COUNTRIES: Record<string, DemoCountry> = {
  eth: {
    numericCode: '231',
    crop: 'wheat',
    pixelDegrees: 0.05,
    relief: { grain: 4, low: 300, high: 2300, rugged: 2000, rift: 1300 },
  },
  gha: {
    numericCode: '288',
    crop: null,
    pixelDegrees: 0.05,
    relief: { grain: 3, low: 20, high: 250, rugged: 700, rift: 0 },
  },
  ken: {
    numericCode: '404',
    crop: null,
    pixelDegrees: 0.05,
    relief: { grain: 4, low: 100, high: 1500, rugged: 1900, rift: 800 },
  },
  rwa: {
    numericCode: '646',
    crop: 'potato',
    pixelDegrees: 0.01,
    relief: { grain: 0.6, low: 1000, high: 1500, rugged: 2000, rift: 0 },
  },
}

export function demoTerrain(countryCode: string): Terrain {
  const { relief } = DEMO_COUNTRIES[countryCode] as DemoCountry
  return { bounds: measureOutline(countryOutline(countryCode)), ...relief }
}
