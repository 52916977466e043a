import { ofSeasonless } from '#schemas/product.ts'
import type { Products, Series } from '#schemas/products/define.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { requireStore } from '#src/data/tiles/store.ts'
import { listStores } from '#src/data/tiles/stores.ts'
import { ApiError, isReplaced, overloaded, refuseIfReplaced, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { type Labels, observeBatcher, observeQueue, type Sample } from '#src/http/metrics/metrics.ts'
import { type ClientKey, createLimiter, EVERYBODY, type Limiter } from '#src/lib/limiter.ts'
import { swapped } from '#src/lib/names.ts'
import { fillMissing, type Pauses, retry } from '#src/lib/promises.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import { type ConditionWish, conditionError } from './conditions.ts'
import {
  assembleValues,
  type LayerValues,
  namePlace,
  noData,
  type PlaceNoun,
  type StoredPixels,
} from './entries.ts'
import type { PointQuery, Position } from './layers.ts'
import { createPixelReader, type PixelReader } from './pixels.ts'
import { type AreaFinder, createAreaFinder, createRequestLocator, listDistinctCountries } from './places.ts'
import type { PublishedRelease, RequestedSeries } from './releases.ts'
import {
  countryNamed,
  createPinnedReleases,
  createSnapshots,
  listCodes,
  type PinnedRelease,
  type PinnedReleases,
  type Snapshot,
  type Snapshots,
} from './snapshot.ts'

/** "yield predictions of wheat for Ethiopia" */
interface Subject {
  values: string
  crop: string | null
  country: string
}

/** @param month such as 2026-07; null for the newest */
export function describeNotPublished(
  { values, crop, country }: Subject,
  month: string | null,
  months: string[],
): string {
  const what = `${values}${crop ? ` of ${crop}` : ''} for ${country}`
  return month !== null && months.length > 0
    ? `There are no ${what} in ${month}; published are: ${months.join(', ')}.`
    : `No ${what} have been published yet.`
}

export type Reasons = ReturnType<typeof createReasons>

function createReasons(areas: AreaFinder, products: Products) {
  const withoutCrops = ofSeasonless(products.list, (names) => `it has ${names} only`) || 'it has none'
  const valuesOf = ({ product }: Series) => products.of(product).names.values

  async function countriesAt(position: Position, { boundaries }: Snapshot): Promise<string[]> {
    return listDistinctCountries(await areas.find(position, boundaries))
  }

  function countriesFromMemory(position: Position, { boundaries }: Snapshot): string[] | undefined {
    const found = areas.fromMemory(position, boundaries)
    return found && listDistinctCountries(found)
  }

  /** A sentence for a position in another country than the requested one. */
  async function otherCountry(snapshot: Snapshot, query: PointQuery, what: PlaceNoun): Promise<string> {
    const codes = await countriesAt(query, snapshot)
    const other = countryNamed(snapshot, codes[0])
    if (!other || codes.includes(query.countryCode)) return ''
    const working = workingCall(snapshot, query, codes[0] as string)
    return ` The ${what} lies in ${other}${working || ` (${codes[0]})`}.`
  }

  return {
    /** Why no release is published: the country, the crop, the month, or none yet. A place may lie in another country. */
    async noRelease(
      snapshot: Snapshot,
      query: Series | PointQuery,
      what: PlaceNoun = 'point',
    ): Promise<ApiError> {
      const { countryCode } = query
      const cropCode = snapshot.cropNamed(query.cropCode)
      const country = snapshot.countries.find(({ code }) => code === countryCode)
      if (!country) return unknownCountry('country_code', listCodes(snapshot))
      const elsewhere = 'longitude' in query ? await otherCountry(snapshot, query, what) : ''
      if (cropCode !== null && !country.crops.includes(cropCode))
        return noSuchCrop(country, withoutCrops, elsewhere)
      const subject = { values: valuesOf(query), crop: cropCode, country: country.name }
      const month = query.forecastPeriod?.slice(0, 7) ?? null
      const months = snapshot.periodsOf({ ...query, cropCode }).map((period) => period.slice(0, 7))
      return new ApiError('NO_RELEASE', describeNotPublished(subject, month, months) + elsewhere)
    },

    /** Why a release has no value at a point; undefined for a miss. */
    noValueFromMemory(snapshot: Snapshot, series: Series, position: Position): ApiError | undefined {
      if (!snapshot.bounded.has(series.countryCode)) return noData(valuesOf(series), position, 'point')
      const codes = countriesFromMemory(position, snapshot)
      const meant = codes && positionMeant(codes, position, 'point')
      const codesMeant = meant ? countriesFromMemory(meant, snapshot) : []
      if (!codes || !codesMeant) return undefined
      return noValueIn(snapshot, { codes, codesMeant }, series, valuesOf(series), position, 'point')
    },

    async noValue(
      snapshot: Snapshot,
      series: Series,
      position: Position,
      what: PlaceNoun = 'point',
    ): Promise<ApiError> {
      if (!snapshot.bounded.has(series.countryCode)) return noData(valuesOf(series), position, what)
      const codes = await countriesAt(position, snapshot)
      const meant = positionMeant(codes, position, what)
      const codesMeant = meant ? await countriesAt(meant, snapshot) : []
      return noValueIn(snapshot, { codes, codesMeant }, series, valuesOf(series), position, what)
    },
  }
}

function noSuchCrop({ name, crops }: Country, withoutCrops: string, elsewhere: string): ApiError {
  const offer = crops.length > 0 ? `its crops are: ${crops.join(', ')}` : withoutCrops
  const message = `the crop is not available for ${name}`
  return new ApiError('CROP_NOT_AVAILABLE', `The crop is not available for ${name}; ${offer}.${elsewhere}`, [
    { field: 'crop', message, allowed: crops },
  ])
}

/** The swapped position of a point outside all countries. Swapped polygons are refused earlier. */
function positionMeant(codes: readonly string[], position: Position, what: PlaceNoun): Position | undefined {
  return codes.length === 0 && what === 'point' ? swapped(position) : undefined
}

function noValueIn(
  snapshot: Snapshot,
  { codes, codesMeant }: Record<'codes' | 'codesMeant', readonly string[]>,
  series: Series,
  values: string,
  position: Position,
  what: PlaceNoun,
): ApiError {
  if (codes.includes(series.countryCode)) return noData(values, position, what)
  const country = countryNamed(snapshot, series.countryCode)
  const other = countryNamed(snapshot, codes[0])
  const hint = codesMeant.includes(series.countryCode)
    ? ' With lat and lng swapped it would lie there: did you mean lng, lat?'
    : ''
  const where = other
    ? `lies in ${other}, not in ${country}${workingCall(snapshot, series, codes[0] as string)}`
    : `lies outside ${country}`
  return new ApiError('OUTSIDE_COUNTRY', `${namePlace(position, what)} ${where}.${hint}`)
}

/** Parameters for a place in another country; empty where that has no release. */
function workingCall(snapshot: Snapshot, series: Series, countryCode: string): string {
  const { crops = [] } = snapshot.countries.find(({ code }) => code === countryCode) ?? {}
  const requested = snapshot.cropNamed(series.cropCode)
  const cropCode = requested === null || crops.includes(requested) ? requested : crops[0]
  if (cropCode === undefined || !snapshot.releaseOf({ ...series, countryCode, cropCode })) return ''
  return `: send country_code=${countryCode}${cropCode === requested ? '' : ` and crop=${cropCode}`}`
}

type WorkInSnapshot<Result> = (snapshot: Snapshot) => Promise<Result>

/** @param release undefined where none is published for the series */
export type WorkInRelease<Result> = (
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
) => Promise<Result>

/** New attempts after replacements in a row, as only a large import causes. */
const REPLACEMENTS: Pauses = [0, 0, 0, 0]

/** Without a queue. */
const atOnce: Wait = (step) => step()

/** Decides which release answers: the one that a request names, or else the published one of its series. */
function createAnswering(snapshots: Snapshots, pinned: PinnedReleases, limiter: Limiter) {
  /** Does work in a snapshot; where a release in it is replaced meanwhile, anew in another one. */
  function inSnapshot<Result>(work: WorkInSnapshot<Result>, wait: Wait = atOnce): Promise<Result> {
    let find: () => Promise<Snapshot> = snapshots.current
    const attempt = async () => {
      const snapshot = await wait(find)
      find = snapshots.renewed
      return work(snapshot)
    }
    return refuseIfReplaced(() => retry(attempt, REPLACEMENTS, isReplaced))
  }

  /** A named release that is gone or elsewhere is loaded again, which gives the reason. */
  function inNamed<Result>(code: string, work: WorkInRelease<Result>, wait: Wait) {
    return inSnapshot(async (snapshot) => {
      const { release } = await wait(() => pinned.find(snapshot, code))
      try {
        return await work(snapshot, release)
      } catch (error) {
        if (isReplaced(error)) pinned.forget(code)
        throw error
      }
    }, wait)
  }

  /** Does work in the release of a series, and anew in its successor. @throws {ApiError} OVERLOADED after several */
  const inRelease = <Result>(
    series: RequestedSeries,
    work: WorkInRelease<Result>,
    wait: Wait = atOnce,
  ): Promise<Result> =>
    series.release === undefined
      ? inSnapshot((snapshot) => work(snapshot, snapshot.releaseOf(series)), wait)
      : inNamed(series.release, work, wait)

  return {
    inSnapshot,
    inRelease,
    /** For work of batchers. @throws {ApiError} OVERLOADED beyond DATABASE_QUEUE_LIMIT */
    inReleaseQueued: <Result>(
      series: RequestedSeries,
      clientKey: ClientKey,
      work: WorkInRelease<Result>,
      wait?: Wait,
    ): Promise<Result> => limiter.run(clientKey, () => inRelease(series, work, wait)),
    inSnapshotQueued: <Result>(clientKey: ClientKey, work: WorkInSnapshot<Result>): Promise<Result> =>
      limiter.run(clientKey, () => inSnapshot(work)),
  }
}

function createValueReader(readerOf: (release: PublishedRelease) => PixelReader) {
  /** The stored pixel of each grid. @throws {ReplacedMeanwhile} where the release was deleted */
  const storedAt = (release: PublishedRelease, position: Position): Promise<StoredPixels[]> =>
    Promise.all(release.coverages.map((coverage) => readerOf(release).read(coverage, position)))

  const valuesOfPoint = async (release: PublishedRelease, position: Position, condition?: ConditionWish) =>
    assembleValues(release, await storedAt(release, position), condition)

  /** Hit path; null without any value, undefined for a miss. */
  function valuesFromMemory(
    release: PublishedRelease,
    position: Position,
    condition: ConditionWish,
  ): LayerValues | null | undefined {
    const reader = readerOf(release)
    const found: StoredPixels[] = []
    for (const coverage of release.coverages) {
      const stored = reader.fromMemory(coverage, position)
      if (stored === undefined) return undefined
      found.push(stored)
    }
    return assembleValues(release, found, condition)
  }

  return {
    storedAt,
    valuesOfPoint,
    valuesFromMemory,
    /** Values in the order of the places; null without any. @throws {ReplacedMeanwhile} */
    valuesAt: (release: PublishedRelease, places: ConditionedPosition[]): Promise<(LayerValues | null)[]> =>
      fillMissing(
        places.map((place) => valuesFromMemory(release, place, place.condition)),
        (index) => {
          const place = places[index] as ConditionedPosition
          return valuesOfPoint(release, place, place.condition)
        },
      ),
  }
}

/** A position, and the condition of the field there, where it is known. */
export type ConditionedPosition = Position & { condition?: ConditionWish }

export interface PointAdvice {
  release: PublishedRelease
  /** At least one is not NaN. */
  values: LayerValues
}

/** Values, or the reason for none. */
export type PointOutcome = PointAdvice | ApiError

export type Lookup = ReturnType<typeof createLookup>

/** The embedded database runs one query at a time; a server's second one is prepared meanwhile. */
const CONCURRENT_QUERIES = { embedded: 1, server: 2 }

const MEGABYTE = 1_000_000

/** Tiles of unpublished releases have a small cache of their own: they evict no tile of a published one. */
const ARCHIVE_MB = 4

type LookupSources = Pick<App, 'database' | 'tiles' | 'config' | 'products'>

/** A point has two paths: the hit path in memory, which never waits, and the miss path through batchers. */
export function createLookup({ database, tiles, config, products }: LookupSources) {
  const { kind, reader } = database
  const concurrency = CONCURRENT_QUERIES[kind]
  const cacheBytes = config.TILE_CACHE_MB * MEGABYTE
  const pixels = createPixelReader(database, tiles, { cacheBytes, concurrency })
  const archiveBytes = Math.min(cacheBytes, ARCHIVE_MB * MEGABYTE)
  const archive = createPixelReader(database, tiles, { cacheBytes: archiveBytes, concurrency: 1 })
  const readerOf = (release: PublishedRelease) => (release.archived ? archive : pixels)
  const snapshots = createSnapshots(database, products, config.RELEASE_MAX_AGE_MS)
  const areas = createAreaFinder(reader, concurrency)
  const reasons = createReasons(areas, products)
  const most = config.DATABASE_QUEUE_LIMIT
  const limits = { running: most, runningEachNetwork: Math.ceil(most / 2), waiting: 0 }
  const limiter = createLimiter(limits, overloaded)
  const pinned = createPinnedReleases(reader, products, config.RELEASE_MAX_AGE_MS)
  const answering = createAnswering(snapshots, pinned, limiter)

  const { valuesOfPoint, ...values } = createValueReader(readerOf)

  return {
    reasons,
    areas,
    places: createRequestLocator(snapshots, areas),
    known: snapshots.known,
    current: snapshots.current,
    ...answering,
    ...values,
    /** The release with a code, published or not. @throws {ApiError} NOT_FOUND, or RELEASE_GONE where it was deleted */
    namedRelease: async (code: string): Promise<PinnedRelease> =>
      pinned.find(await snapshots.current(), code),
    /** Hit path; undefined for a miss. */
    adviseFromMemory(series: RequestedSeries, position: Position): PointOutcome | undefined {
      if (series.release !== undefined) return undefined
      const snapshot = snapshots.known()
      const release = snapshot?.releaseOf(series)
      if (!snapshot || !release) return undefined
      const error = conditionError(release, series.condition)
      if (error) return error
      const found = values.valuesFromMemory(release, position, series.condition)
      if (found === undefined) return undefined
      return found ? { release, values: found } : reasons.noValueFromMemory(snapshot, series, position)
    },
    /** Miss path. @throws {ApiError} OVERLOADED where too many wait */
    advise: (series: RequestedSeries, position: Position, clientKey = EVERYBODY): Promise<PointOutcome> =>
      answering.inReleaseQueued(series, clientKey, async (snapshot, release) => {
        if (!release) return reasons.noRelease(snapshot, { ...series, ...position }, 'point')
        const error = conditionError(release, series.condition)
        if (error) return error
        const found = await valuesOfPoint(release, position, series.condition)
        return found ? { release, values: found } : reasons.noValue(snapshot, series, position, 'point')
      }),
    state: () => ({
      ...pixels.state(),
      snapshot: snapshots.state(),
      areas: areas.state(),
      /** Points and batches in the miss path. */
      queue: limiter.state(),
    }),
  }
}

/** Has the metrics of a lookup: its caches, its queues, and the releases that answer. */
export function observeLookup({ config, metrics }: App, { state }: Lookup): void {
  metrics.observe('agro_tile_cache_tiles', () => state().cache.tiles)
  metrics.observe('agro_tile_cache_bytes', () => state().cache.bytes)
  metrics.observe('agro_tile_cache_limit_bytes', () => state().cache.limitBytes)
  metrics.observe('agro_tile_cache_hits_total', () => state().cache.hits)
  metrics.observe('agro_tile_cache_misses_total', () => state().cache.misses)
  metrics.observe('agro_tile_cache_evictions_total', () => state().cache.evicted)
  metrics.observe('agro_area_cells', () => state().areas.cells)
  metrics.observe('agro_area_cell_bytes', () => state().areas.bytes)

  observeQueue(metrics, 'points', () => state().queue)
  for (const [store, { batcher }] of listStores(config)) {
    observeBatcher(metrics, batcher, () => requireStore(state().loaders, store))
  }
  observeBatcher(metrics, 'pixels', () => state().pixels)
  observeBatcher(metrics, 'grids', () => state().cells)
  observeBatcher(metrics, 'cells', () => state().areas.askingCells)
  observeBatcher(metrics, 'places', () => state().areas.askingPlaces)

  const published = () => state().snapshot?.published ?? []
  metrics.observeAll('agro_snapshot_age_seconds', () => {
    const { snapshot } = state()
    return snapshot ? [{ labels: {}, value: snapshot.ageMs / 1000 }] : []
  })
  metrics.observeAll('agro_releases_published', () =>
    byProductAndCountry(published(), (releases) => releases.length),
  )
  metrics.observeAll('agro_release_newest_timestamp_seconds', () =>
    byProductAndCountry(
      published(),
      (releases) => Math.max(...releases.map(({ createdAt }) => createdAt.getTime())) / 1000,
    ),
  )
}

function byProductAndCountry(
  published: PublishedRelease[],
  measure: (releases: PublishedRelease[]) => number,
): Sample[] {
  const groups = new Map<string, { labels: Labels; releases: PublishedRelease[] }>()
  for (const release of published) {
    const { product, countryCode: country } = release
    const key = `${product} ${country}`
    const group = groups.get(key) ?? { labels: { product, country }, releases: [] }
    group.releases.push(release)
    groups.set(key, group)
  }
  return [...groups.values()].map(({ labels, releases }) => ({ labels, value: measure(releases) }))
}
