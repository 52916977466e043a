import type { Machines } from './cost-model.ts'
import type { Content, Store } from './results.ts'
import type { Dataset } from './storage-model.ts'

/** A service of some size: what it has, and what it runs on. */
export interface Scenario {
  name: string
  dataset: Dataset
  store: Store
  /** How often the dataset is kept: the one that answers, and those of before. */
  releases: number
  /** Processes that answer, on machines of their own. */
  processes: number
  services: Machines
  members: Machines
}

/** Ethiopia's 1.1 million km2, in pixels of 300 m. */
const COUNTRY_PIXELS = 1.1e12 / 300 ** 2

/** Africa's 30.3 million km2 of land, in pixels of 30 m. */
export const AFRICA_PIXELS = 3.4e10

/**
 * The part of these that is cropland: 2.1092e8 ha in 2022 (Lou et al. 2025, Earth System Science Data 17, 3777,
 * "An annual cropland extent dataset for Africa at 30 m"). The rasters that were measured have as much.
 */
export const AFRICA_CROPLAND = 2.1092e12 / 900 / AFRICA_PIXELS

const LAYERS = 8

/** A year of months. */
const MONTHS = 12

/** The one that answers, and the one that is loaded in its place. */
const TWO = 2

const one: Machines = { count: 1, cores: 2 }

const ofCountries = (countries: number): Dataset => ({
  content: 'float32',
  pixels: countries * COUNTRY_PIXELS,
  layers: LAYERS,
})

const ofAfrica = (content: Content): Dataset => ({ content, pixels: AFRICA_PIXELS, layers: LAYERS })

/** What grows: processes, members, and pixels at last. */
export const SCENARIOS: Scenario[] = [
  {
    name: 'one country at 300 m',
    dataset: ofCountries(1),
    store: 'postgis',
    releases: MONTHS,
    processes: 1,
    services: one,
    members: one,
  },
  {
    name: '10 countries at 300 m, 4 processes',
    dataset: ofCountries(10),
    store: 'postgis',
    releases: MONTHS,
    processes: 4,
    services: { count: 1, cores: 4 },
    members: { count: 1, cores: 4 },
  },
  {
    name: '10 countries at 300 m, 16 processes, 3 members',
    dataset: ofCountries(10),
    store: 'postgis',
    releases: MONTHS,
    processes: 16,
    services: { count: 2, cores: 8 },
    members: { count: 3, cores: 4 },
  },
  ...(['postgis', 'files'] as const).flatMap((store) =>
    (['float32', 'int16', 'masked'] as const).map(
      (content): Scenario => ({
        name: `Africa at 30 m, ${content}, ${store}`,
        dataset: ofAfrica(content),
        store,
        releases: TWO,
        processes: 16,
        services: { count: 2, cores: 8 },
        members: { count: 3, cores: 8 },
      }),
    ),
  ),
]
