import { createDice, drawSeasons } from './seasons.ts'

export const CODE = 'yield-eth-wheat-2026-07-v1'
export const EARLIER = 'yield-eth-wheat-2025-07-v1'
export const SYNTHETIC = 'synthetic-yield-eth-wheat-2026-07-v1'

/** Places in the pixel of the release, in three areas of the first level. */
export const PLACES = {
  'ETH-09': { lat: 9.5, lng: 38.5 },
  'ETH-01': { lat: 9.1, lng: 38.9 },
  'ETH-03': { lat: 9.9, lng: 38.1 },
} as const

export const SEASONS = 10_000
/** So many of them were seen in ETH-01, and all others in ETH-09. */
export const FEW = 20

/** What was predicted of each season, and what was harvested: within 300 kg/ha of the value of the season that came. */
const roll = createDice(7)
export const seen = drawSeasons('sharp', SEASONS).map(({ percents, outcome }, index) => ({
  area: index < FEW ? ('ETH-01' as const) : ('ETH-09' as const),
  observed: 1000 * (outcome + 1) + roll(601) - 300,
  entries: ['Below Normal', 'Normal', 'Above Normal'].map((scenario, at) => ({
    scenario,
    yield_kg_ha: 1000 * (at + 1),
    probability: (percents[at] as number) / 100,
    range: { low: 1000 * (at + 1) - 250, high: 1000 * (at + 1) + 250, level: 0.8 },
  })),
}))

/** Of the value of the most likely season; of equal ones that is the normal, then the below normal one. */
export function expectedOf(some: typeof seen) {
  const differences = some.map(({ entries, observed }) => {
    const [below, normal, above] = entries.map(({ probability }) => probability) as [number, number, number]
    const most = Math.max(below, normal, above)
    return (normal === most ? 2000 : below === most ? 1000 : 3000) - observed
  })
  const mean = (numbers: number[]) => numbers.reduce((sum, one) => sum + one, 0) / numbers.length
  return {
    n: some.length,
    bias: mean(differences),
    mae: mean(differences.map(Math.abs)),
    within: mean(differences.map((one) => Number(Math.abs(one) <= 250))),
  }
}
