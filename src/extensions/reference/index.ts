import type { Extension } from '../extension.ts'

/** Changes of countries, crops, plausible ranges and compositions of inputs: `agro countries`, `crops`, `ranges`, `compositions`. */
export const reference: Extension = {
  name: 'reference',
  commands: {
    countries: async () => (await import('./countries-crops.ts')).countriesCommand,
    crops: async () => (await import('./countries-crops.ts')).cropsCommand,
    ranges: async () => (await import('./ranges.ts')).rangesCommand,
    compositions: async () => (await import('./compositions.ts')).compositionsCommand,
  },
}
