import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { COVERAGE_REASONS } from '#schemas/coverage.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Figures, FoundArea, RegionFigures } from '#src/advice/polygon/region-figures.ts'
import { findAdminCountry } from '#src/catalog/area-queries.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, BASE, noAreas, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { sayNotPublished } from '#src/lookup/reasons.ts'
import { type PublishedRelease, retryIfReplaced } from '#src/lookup/releases.ts'
import { codesOf, type Snapshot } from '#src/lookup/snapshot.ts'
import { type CoveredArea, type Extent, listCoveredAreas, listGridExtents } from './queries.ts'

/** Areas that are kept in memory: each takes some hundred bytes. */
const AREAS_KEPT = 50_000

/** The areas of a level of a country. */
interface CountryLevel {
  countryCode: string
  level: number
  /** Tells its areas from those that were or will be loaded. */
  key: string
  /** In the order of their codes. */
  areas: readonly CoveredArea[]
}

/** Keeps in memory which areas there are. */
interface Levels {
  known(snapshot: Snapshot, countryCode: string, level: number): CountryLevel | undefined
  /** The same; what is not in memory is asked of the database. */
  read(snapshot: Snapshot, countryCode: string, level: number): Promise<CountryLevel>
  /** Forgets a level of which other areas were found. */
  forget(level: CountryLevel): void
}

function createLevels(db: Kysely<Tables>): Levels {
  const levels = new LRUCache<string, CountryLevel>({
    maxSize: AREAS_KEPT,
    sizeCalculation: ({ areas }) => 1 + areas.length,
  })
  const keyOf = ({ boundaries }: Snapshot, countryCode: string, level: number) =>
    `${countryCode} ${level} ${boundaries}`
  return {
    known: (snapshot, countryCode, level) => levels.get(keyOf(snapshot, countryCode, level)),
    async read(snapshot, countryCode, level) {
      const key = keyOf(snapshot, countryCode, level)
      const areas = await listCoveredAreas(db, countryCode, level)
      const found = { countryCode, level, key, areas }
      levels.set(key, found)
      return found
    },
    forget({ key }) {
      levels.delete(key)
    },
  }
}

/** Shares that are kept in memory: of each area and release a number. */
const SHARES_KEPT = 1_000_000

/** Areas that are read with one statement. */
const AREAS_A_PAGE = 100

/** How releases cover the areas of a level. */
interface ReleaseShares {
  release: PublishedRelease
  /** Where its grids lie. */
  extents: readonly Extent[]
  /** The percentages of the areas, in their order; NaN where one is not known yet. */
  percents: Float64Array
}

/** How a request waits. */
interface Asking {
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>
  compute(area: FoundArea): Promise<Figures>
  /** When it stops computing, on the clock of `performance.now()`. */
  until: number
}

/** How much of areas has values: computed once, whoever asks first. */
interface Shares {
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

function createShares(
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
        const computed = await retryIfReplaced(() => asking.compute(area))
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

/** How much of an area has values of a release, and why it has none. */
interface CoverageEntry {
  product: string
  crop: string | null
  release: string | null
  forecast_period: string | null
  covered_percent: number
  code?: (typeof COVERAGE_REASONS)[number]
  reason?: string
}

/** What is told of every area of a country: a release of a product, or why there is none. */
type CoverageColumn = { release: PublishedRelease } | { entry: CoverageEntry }

/** What requests may ask for alone. */
interface ColumnFilter {
  product: string | null
  /** The code of a crop. */
  crop: string | null
}

/**
 * The columns of a country, by product and crop, the newest month first; where nothing is published, one that says so.
 *
 * @param releases those that may be told of, in any order
 */
function columnsOfCountry(
  products: readonly ProductDefinition[],
  country: Country,
  releases: readonly PublishedRelease[],
  { product: only, crop: onlyCrop }: ColumnFilter,
): CoverageColumn[] {
  const ofCountry = releases.filter(({ countryCode }) => countryCode === country.code)
  return products
    .filter(({ code }) => only === null || code === only)
    .flatMap((product) => {
      const found = ofCountry.filter((release) => release.product === product.code)
      return cropsOf(product, country, found, onlyCrop).flatMap((crop): CoverageColumn[] => {
        const ofCrop = found.filter(({ cropCode }) => cropCode === crop).toSorted(newestFirst)
        if (ofCrop.length > 0) return ofCrop.map((release) => ({ release }))
        return [{ entry: nothingPublished(product, country, crop) }]
      })
    })
}

function cropsOf(
  { seasonal }: ProductDefinition,
  { crops }: Country,
  found: readonly PublishedRelease[],
  only: string | null,
): (string | null)[] {
  if (!seasonal) return [null]
  if (only !== null) return [only]
  const all = [...new Set([...crops, ...found.flatMap(({ cropCode }) => cropCode ?? [])])].toSorted()
  return all.length > 0 ? all : [null]
}

function newestFirst(one: PublishedRelease, other: PublishedRelease): number {
  return (
    (other.forecastPeriod ?? '').localeCompare(one.forecastPeriod ?? '') || (one.code < other.code ? -1 : 1)
  )
}

function nothingPublished(product: ProductDefinition, country: Country, crop: string | null): CoverageEntry {
  const none = { product: product.code, crop, release: null, forecast_period: null, covered_percent: 0 }
  const isOffered = !product.seasonal || (crop !== null && country.crops.includes(crop))
  if (!isOffered) {
    const offered = country.crops.length > 0 ? `its crops are: ${country.crops.join(', ')}` : 'it has none'
    const reason = `The crop is not available for ${country.name}; ${offered}.`
    return { ...none, code: 'CROP_NOT_AVAILABLE', reason }
  }
  const what = { values: product.names.values, crop, country: country.name }
  return { ...none, code: 'NO_RELEASE', reason: sayNotPublished(what, null, []) }
}

/** What a release has in an area. */
function entryOf(
  { release, extents }: Omit<ReleaseShares, 'percents'>,
  area: Extent,
  percent: number,
): CoverageEntry {
  const { code, product, cropCode, forecastPeriod } = release
  const entry = {
    product,
    crop: cropCode,
    release: code,
    forecast_period: forecastPeriod && isoMonth(forecastPeriod),
    covered_percent: percent,
  }
  if (percent > 0) return entry
  if (!extents.some((extent) => meet(extent, area))) {
    return { ...entry, code: 'OUTSIDE_GRID', reason: `The area lies outside the grid of ${code}.` }
  }
  const reason = `No pixel of ${code} in the area has a value: its source has left them out.`
  return { ...entry, code: 'NO_DATA', reason }
}

function meet([west, south, east, north]: Extent, [left, bottom, right, top]: Extent): boolean {
  return left <= east && right >= west && bottom <= north && top >= south
}

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
interface AreaPlace {
  countryCode: string
  code: string
}

/** A page of areas, and its last one; null where no other page follows. */
interface CoveragePage {
  items: CoverageItem[]
  last: AreaPlace | null
}

interface PageRequest {
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
          if (!made[place]) await turns.next(clientKeyOf(request))
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
