import { createRequire } from 'node:module'
import type { MultiPolygon } from 'geojson'
import { feature } from 'topojson-client'
import type { GeometryCollection, Topology } from 'topojson-specification'

/** Where the outlines come from: Natural Earth at 1:10 million, as packed by world-atlas. */
export const OUTLINE_SOURCE = {
  source: 'Natural Earth 1:10m, from the npm package world-atlas',
  licence: 'Public domain',
}

/** The outline of a country of the demo in longitude and latitude. */
export function countryOutline(countryCode: string): MultiPolygon {
  return outlineOf(DEMO_COUNTRIES[countryCode]?.numericCode)
}

/**
 * The outline of a country in longitude and latitude.
 *
 * @param numericCode ISO 3166-1
 */
export function outlineOf(numericCode: string | undefined): MultiPolygon {
  const world = createRequire(import.meta.url)('world-atlas/countries-10m.json') as Topology<{
    countries: GeometryCollection
  }>
  const country = feature(world, world.objects.countries).features.find(({ id }) => id === numericCode)
  const geometry = country?.geometry
  if (geometry?.type === 'Polygon') return { type: 'MultiPolygon', coordinates: [geometry.coordinates] }
  if (geometry?.type === 'MultiPolygon') return geometry
  throw new Error(`world-atlas has no outline for ${numericCode}`)
}

export function boundsOf(outline: MultiPolygon): {
  west: number
  south: number
  east: number
  north: number
} {
  const positions = outline.coordinates.flat(2)
  const longitudes = positions.map((position) => position[0] as number)
  const latitudes = positions.map((position) => position[1] as number)
  return {
    west: Math.min(...longitudes),
    south: Math.min(...latitudes),
    east: Math.max(...longitudes),
    north: Math.max(...latitudes),
  }
}

/**
 * The longitudes at which a parallel crosses an outline, ascending: inside lies between the first and
 * the second, the third and the fourth, and so on (the even-odd rule; holes come out by themselves).
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

/** A country that there are demo data for. */
export interface DemoCountry {
  /** ISO 3166-1, by which world-atlas knows it. */
  numericCode: string
  /** The crop that there are formulas for; null where there are none but those of forage. */
  crop: string | null
  /** Pixel size: about 5 km, and 1 km for Rwanda, which is small. */
  pixelDegrees: number
}

/** The demo has these, and of others nothing: it needs their seats, outlines and formulas. */
export const DEMO_COUNTRIES: Record<string, DemoCountry> = {
  eth: { numericCode: '231', crop: 'wheat', pixelDegrees: 0.05 },
  gha: { numericCode: '288', crop: null, pixelDegrees: 0.05 },
  ken: { numericCode: '404', crop: null, pixelDegrees: 0.05 },
  rwa: { numericCode: '646', crop: 'potato', pixelDegrees: 0.01 },
}
