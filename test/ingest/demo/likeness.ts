import { DEMO_QUANTITIES, type DemoQuantity, type DemoSeason } from '#src/ingest/demo/formula.ts'
import { countryOutline, crossings, DEMO_COUNTRIES, demoTerrain } from '#src/ingest/demo/outlines.ts'
import { describeLand, type Land } from '#src/ingest/demo/relief.ts'

export const COUNTRIES = Object.keys(DEMO_COUNTRIES)
export const QUANTITIES = Object.entries(DEMO_QUANTITIES).flatMap(([name, quantities]) =>
  quantities.map((quantity) => ({ name: [name, quantity.input].filter(Boolean).join(', '), quantity })),
)
export const WHEAT = DEMO_QUANTITIES['yield eth wheat']?.[0] as DemoQuantity
/** From the worst. */
export const SEASONS: DemoSeason[] = ['Below Normal', 'Normal', 'Above Normal']

/** Rows from the south, cells from the west: the pixels of a country, every `step`th; null outside. */
export function landsOf(country: string, step: number): (Land | null)[][] {
  const terrain = demoTerrain(country)
  const outline = countryOutline(country)
  const pixel = (DEMO_COUNTRIES[country]?.pixelDegrees as number) * step
  const [west, south, east, north] = terrain.bounds.map((degrees) => Math.round(degrees / pixel) * pixel)
  const centres = (from = 0, to = 0) =>
    Array.from({ length: Math.round((to - from) / pixel) }, (_, at) => from + (at + 0.5) * pixel)
  return centres(south, north).map((latitude) => {
    const ends = crossings(outline, latitude)
    return centres(west, east).map((longitude) =>
      ends.filter((end) => end < longitude).length % 2 === 1
        ? describeLand(terrain, longitude, latitude)
        : null,
    )
  })
}

export const placesOf = (country: string, step: number) =>
  landsOf(country, step)
    .flat()
    .filter((land) => land !== null)

export const everywhere = COUNTRIES.flatMap((country) => placesOf(country, country === 'rwa' ? 10 : 5))

export const mean = (numbers: number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length

/** Pearson's, of the pairs that have both. */
export function correlation(pairs: (readonly [number, number])[]): number {
  const [meanX, meanY] = [mean(pairs.map(([x]) => x)), mean(pairs.map(([, y]) => y))]
  const products = (part: (x: number, y: number) => number) =>
    mean(pairs.map(([x, y]) => part(x - meanX, y - meanY)))
  return products((x, y) => x * y) / Math.sqrt(products((x) => x * x) * products((_, y) => y * y))
}

/** How alike a raster is to itself at the most, moved by 6 to 18 cells in one of 24 directions. */
export function findLikeness(values: (number | null)[][]): number {
  const likenesses = Array.from({ length: 13 * 24 }, (_, index) => {
    const [length, angle] = [6 + Math.floor(index / 24), ((index % 24) * Math.PI) / 24]
    const [right, up] = [Math.round(length * Math.cos(angle)), Math.round(length * Math.sin(angle))]
    const pairs = values.flatMap((row, y) =>
      row.flatMap((value, x) => {
        const other = values[y + up]?.[x + right] ?? null
        return value === null || other === null ? [] : [[value, other] as const]
      }),
    )
    return pairs.length < 200 ? 0 : correlation(pairs)
  })
  return Math.max(...likenesses)
}

/** The sizes of what is connected by sides and has one value. */
export function findPatches(rows: (number | null)[][]): number[] {
  const left = rows.map((row) => [...row])
  return rows.flatMap((row, y) =>
    row.flatMap((value, x) => {
      if (value === null || left[y]?.[x] === null) return []
      const open = [[y, x] as const]
      let size = 0
      for (let place = open.pop(); place; place = open.pop()) {
        const [down, right] = place
        const line = left[down]
        if (line?.[right] !== value) continue
        line[right] = null
        size++
        open.push([down + 1, right], [down - 1, right], [down, right + 1], [down, right - 1])
      }
      return [size]
    }),
  )
}
