import fc from 'fast-check'

export interface AskedPlace {
  lat: number
  lng: number
}

export const NAMES: Record<string, string> = { eth: 'Ethiopia', gha: 'Ghana', ken: 'Kenya', rwa: 'Rwanda' }
export const FIRST_CROPS: Record<string, string> = { eth: 'wheat', rwa: 'potato' }

const EXTENTS: [west: number, south: number, east: number, north: number][] = [
  [28.8, -2.9, 30.95, -1],
  [32.9, 3.3, 48.1, 15],
  [33.8, -4.8, 42, 5.6],
  [-3.4, 4.5, 1.3, 11.3],
  [-180, -90, 180, 90],
]

/** Degrees from a vertex. */
export const DISTANCES = [0, 1e-12, 1e-7, 1.1e-6, 1e-5, 1e-3, 0.05, 2]

export const between = (min: number, max: number) => fc.double({ min, max, noNaN: true })
export const anywhere = fc
  .constantFrom(...EXTENTS)
  .chain(([west, south, east, north]) => fc.tuple(between(west, east), between(south, north)))
export const cornerOfCell = anywhere.map(([x, y]): [number, number] => [
  Math.round(x * 16) / 16,
  Math.round(y * 16) / 16,
])
export const swapped = anywhere.map(([x, y]): [number, number] => [y, x])
