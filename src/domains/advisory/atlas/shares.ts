import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tables } from '#src/database/tables.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import type { Figures, FoundArea, RegionFigures } from '../lookup/region-figures.ts'
import { whileThere } from '../lookup/while-there.ts'
import type { CountryLevel, Levels } from './levels.ts'
import { type Extent, listGridExtents } from './queries.ts'

/** Shares that are kept in memory: of each area and release a number. */
const SHARES_KEPT = 1_000_000

/** Areas that are read with one statement. */
const AREAS_A_PAGE = 100

/** How releases cover the areas of a level. */
export interface ReleaseShares {
  release: PublishedRelease
  /** Where its grids lie. */
  extents: readonly Extent[]
  /** The percentages of the areas, in their order; NaN where one is not known yet. */
  percents: Float64Array
}

/** How a request waits. */
export interface Asking {
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
  compute(area: FoundArea): Promise<Figures>
  /** When it stops computing, on the clock of `performance.now()`. */
  until: number
}

/** How much of areas has values: computed once, whoever asks first. */
export interface Shares {
  /**
   * The shares of a release. Some may not be known yet.
   *
   * @throws {ReplacedMeanwhile} where the release has been deleted
   */
  of(release: PublishedRelease, level: CountryLevel, asking: Asking): Promise<ReleaseShares>
  /**
   * Sees to it that they are known from one place on to before another, in as many areas as there is time for.
   *
   * @returns the first place of which it is not known
   * @throws {ApiError} OVERLOADED where the release or the boundaries are being replaced
   */
  fill(shares: ReleaseShares, level: CountryLevel, from: number, to: number, asking: Asking): Promise<number>
}

export function createShares(
  db: Kysely<Tables>,
  figures: RegionFigures,
  { forget }: Pick<Levels, 'forget'>,
): Shares {
  const kept = new LRUCache<string, ReleaseShares>({
    maxSize: SHARES_KEPT,
    sizeCalculation: ({ percents }) => 1 + percents.length,
  })

  async function find(
    { release }: ReleaseShares,
    level: CountryLevel,
    from: number,
    { inTurn }: Asking,
  ): Promise<FoundArea[]> {
    const { countryCode, areas } = level
    const after = areas[from - 1]?.code ?? null
    const run = { countryCode, level: level.level, after, count: AREAS_A_PAGE }
    const found = await inTurn(() => figures.find(release, run))
    if (found[0] && found.every(({ code }, at) => code === areas[from + at]?.code)) return found
    // Other boundaries have been loaded than the snapshot knows of.
    forget(level)
    throw overloaded()
  }

  return {
    async of(release, level, { inTurn }) {
      const key = `${release.id} ${level.key}`
      const known = kept.get(key)
      if (known) return known.release === release ? known : { ...known, release }
      const extents = await inTurn(() => listGridExtents(db, release.id))
      const percents = new Float64Array(level.areas.length).fill(Number.NaN)
      const shares = { release, extents, percents }
      kept.set(key, shares)
      return shares
    },
    async fill(shares, level, from, to, asking) {
      const { release, percents } = shares
      let page: { first: number; found: FoundArea[] } | undefined
      for (let place = from; place < to; place++) {
        if (!Number.isNaN(percents[place])) continue
        if (!page || place >= page.first + page.found.length) {
          page = { first: place, found: await find(shares, level, place, asking) }
          // All that is stored is taken at once.
          for (const [at, { stored }] of page.found.entries()) {
            if (stored) percents[place + at] = coveredPercent(figures.columnsOf(release), stored)
          }
        }
        if (!Number.isNaN(percents[place])) continue
        if (place > from && performance.now() > asking.until) return place
        const area = page.found[place - page.first] as FoundArea
        const computed = await whileThere(() => asking.compute(area))
        percents[place] = coveredPercent(figures.columnsOf(release), computed)
      }
      return to
    },
  }
}

/** Of the layer that covers most; 0 where none has a value. */
function coveredPercent(columns: readonly string[], found: Figures): number {
  let most = 0
  for (const [at, column] of columns.entries()) {
    if (column.startsWith('covered_percent')) most = Math.max(most, found[at] ?? 0)
  }
  return most
}
