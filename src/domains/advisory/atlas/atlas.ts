import type { FastifyReply, FastifyRequest } from 'fastify'
import { LRUCache } from 'lru-cache'
import { findAdminCountry } from '#src/domains/areas/queries.ts'
import type { Country } from '#src/domains/reference/queries.ts'
import { ApiError, BASE, noAreas, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { partyOf } from '#src/http/party.ts'
import type { PublishedRelease } from '../lookup/published-release.ts'
import type { RegionFigures } from '../lookup/region-figures.ts'
import { codesOf, type Snapshot } from '../lookup/snapshot.ts'
import { type ColumnFilter, type CoverageEntry, columnsOfCountry, entryOf } from './entries.ts'
import { type CountryLevel, createLevels } from './levels.ts'
import type { CoveredArea } from './queries.ts'
import { type Asking, createShares, type ReleaseShares } from './shares.ts'

/** Entries of items that are kept in memory: some hundred bytes each. */
const ENTRIES_KEPT = 100_000

/** How long a page waits for what has to be computed; then it ends, and the next one goes on. */
const COMPUTING_MS = 4000

/** What is asked for. */
export interface AtlasFilter extends ColumnFilter {
  level: number
  countryCode: string | null
  /** The code of an area. */
  area: string | null
}

/** An area, and what releases have in it. */
export interface CoverageItem {
  country_code: string
  level: number
  code: string
  name: string
  products: CoverageEntry[]
}

/** Where a page begins or ends. */
export interface AreaPlace {
  countryCode: string
  code: string
}

/** A page of areas, and its last one; null where no other page follows. */
export interface CoveragePage {
  items: CoverageItem[]
  last: AreaPlace | null
}

export interface PageRequest {
  request: FastifyRequest
  reply: FastifyReply
  snapshot: Snapshot
  filter: AtlasFilter
  /** Those that may be told of. */
  releases: readonly PublishedRelease[]
  /** The area that the page begins after; null for the first page. */
  after: AreaPlace | null
  limit: number
}

export interface Atlas {
  /**
   * A page of areas. It may end early where much has to be computed.
   *
   * @throws {ApiError} where there is no such country, level or area
   */
  page(wanted: PageRequest): Promise<CoveragePage>
}

/** Makes what tells how releases cover the areas of levels. */
export function createAtlas({ database, inTurn, turns, products }: App, figures: RegionFigures): Atlas {
  const db = database.reader
  const levels = createLevels(db)
  const shares = createShares(db, figures, levels)
  const kept = createItems()

  async function levelOf(snapshot: Snapshot, { code }: Country, level: number, asking: Asking) {
    return levels.known(snapshot, code, level) ?? asking.inTurn(() => levels.read(snapshot, code, level))
  }

  async function refuseUnlessThere(snapshot: Snapshot, { countryCode, level }: AtlasFilter, asking: Asking) {
    if (countryCode === null) return
    const country = snapshot.countries.find(({ code }) => code === countryCode)
    if (!country) throw unknownCountry('country_code', codesOf(snapshot))
    const { areas } = await levelOf(snapshot, country, level, asking)
    if (areas.length > 0) return
    const found = await asking.inTurn(() => findAdminCountry(db, countryCode, level))
    throw noAreas(found ?? { name: country.name, levels: [] }, level)
  }

  return {
    async page({ request, reply, snapshot, filter, releases, after, limit }) {
      const asking: Asking = {
        inTurn: (work) => inTurn(request, reply, work),
        compute: (area) => area.compute(request, reply),
        until: performance.now() + COMPUTING_MS,
      }
      await refuseUnlessThere(snapshot, filter, asking)
      const items: CoverageItem[] = []
      let last: AreaPlace | null = null
      for (const country of countriesIn(snapshot, filter, after)) {
        const level = await levelOf(snapshot, country, filter.level, asking)
        const { from, to } = placesIn(level, filter, after)
        if (from >= to) continue
        if (items.length === limit) return { items, last }
        const columns: Column[] = []
        for (const column of columnsOfCountry(products.list, country, releases, filter)) {
          columns.push('entry' in column ? column : await shares.of(column.release, level, asking))
        }
        let known = Math.min(to, from + limit - items.length)
        for (const column of columns) {
          if ('percents' in column) known = await shares.fill(column, level, from, known, asking)
        }
        const made = releases === snapshot.published ? kept.of(snapshot, filter, level, columns.length) : []
        for (let place = from; place < known; place++) {
          if (!made[place]) await turns.next(partyOf(request))
          const item = made[place] ?? itemAt(level, columns, place)
          made[place] = item
          items.push(item)
        }
        last = { countryCode: country.code, code: level.areas[known - 1]?.code as string }
        if (known < to) return { items, last }
      }
      if (items.length === 0 && after === null) throw nothingThere(filter)
      return { items, last: null }
    },
  }
}

/** Keeps the items of levels, by their places, as long as what is published stays: pages of any length are made of them. */
function createItems() {
  let current: Snapshot | undefined
  const kept = new LRUCache<string, CoverageItem[]>({ maxSize: ENTRIES_KEPT })
  return {
    of(
      snapshot: Snapshot,
      { product, crop }: AtlasFilter,
      level: CountryLevel,
      entries: number,
    ): CoverageItem[] {
      if (current !== snapshot) kept.clear()
      current = snapshot
      const key = JSON.stringify([product, crop, level.key])
      const items = kept.get(key) ?? []
      kept.set(key, items, { size: 1 + entries * level.areas.length })
      return items
    },
  }
}

/** How a release covers all areas of a level, or what is told of all of them. */
type Column = ReleaseShares | { entry: CoverageEntry }

function countriesIn(
  { countries }: Snapshot,
  { countryCode }: AtlasFilter,
  after: AreaPlace | null,
): Country[] {
  return countries.filter(
    ({ code }) => (countryCode === null || code === countryCode) && (!after || code >= after.countryCode),
  )
}

/** The places of the areas of a level that are asked for: from one on, to before another. */
function placesIn(
  { areas, countryCode }: CountryLevel,
  { area }: AtlasFilter,
  after: AreaPlace | null,
): { from: number; to: number } {
  const code = after?.countryCode === countryCode ? after.code : ''
  const from = areas.findIndex((other) => (area === null ? other.code > code : other.code === area))
  if (from < 0) return { from: 0, to: 0 }
  return { from, to: area === null ? areas.length : from + 1 }
}

function itemAt({ countryCode, level, areas }: CountryLevel, columns: readonly Column[], place: number) {
  const { code, name, extent } = areas[place] as CoveredArea
  const entries = columns.map((column) =>
    'entry' in column ? column.entry : entryOf(column, extent, column.percents[place] as number),
  )
  return { country_code: countryCode, level, code, name, products: entries }
}

function nothingThere({ level, area }: AtlasFilter): ApiError {
  if (area === null) return new ApiError('NO_AREAS', `No areas of level ${level} are loaded.`)
  return new ApiError(
    'UNKNOWN_AREA',
    `There is no area of level ${level} with the code ${area}; GET ${BASE}/admin lists them.`,
  )
}
