import { isStale, type Products, type Series } from '#schemas/products/define.ts'
import {
  type Country,
  type CropAlias,
  listCountries,
  listCropAliases,
} from '#src/catalog/reference-queries.ts'
import type { Database } from '#src/data/database.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { Cache } from '#src/lib/cache.ts'
import * as queries from './queries.ts'
import { createNumbering, type PublishedRelease, withAge, withStore } from './releases.ts'

/**
 * Makes the choice among published releases: that of the requested month, or else the newest; values of agronomists
 * before synthetic ones of any month. The SQL function published_release has the same rule.
 */
function createChooser(releases: PublishedRelease[], aliases: CropAlias[]): Snapshot['releaseOf'] {
  const best = new Map<string, PublishedRelease>()
  for (const release of releases) {
    for (const series of seriesAnswered(release, aliases)) {
      const key = keyOf(series)
      const other = best.get(key)
      if (!other || comesBefore(release, other)) best.set(key, release)
    }
  }
  return (series) => best.get(keyOf(series))
}

/** Series of a release: its month and no month, the code of its crop and each alias. */
function seriesAnswered(release: PublishedRelease, aliases: CropAlias[]): Series[] {
  const ofCrop = aliases.filter(({ code }) => code === release.cropCode).map(({ alias }) => alias)
  const periods = [...new Set([null, release.forecastPeriod])]
  return [release.cropCode, ...ofCrop].flatMap((cropCode) =>
    periods.map((forecastPeriod) => ({ ...release, cropCode, forecastPeriod })),
  )
}

function keyOf({ product, countryCode, cropCode, forecastPeriod }: Series): string {
  return `${product} ${countryCode} ${cropCode} ${forecastPeriod}`
}

function comesBefore(a: PublishedRelease, b: PublishedRelease): boolean {
  if (a.synthetic !== b.synthetic) return b.synthetic
  return (a.forecastPeriod ?? '') > (b.forecastPeriod ?? '')
}

export interface Snapshot {
  /** The crop may be an alias; undefined where none is published. */
  releaseOf(series: Series): PublishedRelease | undefined
  /** The code of a crop by code or alias; other words stay. */
  cropNamed(crop: string | null): string | null
  /** In no order. */
  published: PublishedRelease[]
  cropAliases: readonly CropAlias[]
  /** Published months of a product, country and crop, newest first. */
  periodsOf(series: Series): string[]
  /** In the order of their codes. */
  countries: Country[]
  /** Codes of countries with boundaries. */
  bounded: ReadonlySet<string>
  /** Version of the boundaries, which changes with each load. */
  boundaries: string
}

export type Snapshots = ReturnType<typeof createSnapshots>

interface DatedSnapshot extends Snapshot {
  /** On the clock of `performance.now()`, before the query. */
  takenAt: number
  /** The same state is the same snapshot, since releases never change. */
  state: string
  /** By id; null for an unknown product. */
  releases: Map<number, PublishedRelease | null>
}

/** Bounds releases that are deleted between two statements. */
const ATTEMPTS = 5

/**
 * Stores the published releases in memory, for `maxAgeMs` at most. The first request at half that age begins a query;
 * meanwhile the old snapshot answers. Without requests there are no queries. With an age of 0 each request has its own.
 *
 * While the embedded database is away a snapshot does not grow too old: publications cannot change.
 */
export function createSnapshots(
  { reader: db, standsStill }: Pick<Database, 'reader' | 'standsStill'>,
  products: Products,
  maxAgeMs: number,
) {
  let snapshot: DatedSnapshot | undefined
  let pending: Promise<void> | undefined
  const numbered = createNumbering()

  async function load(): Promise<void> {
    // From one server: a replica may lag behind the writer.
    snapshot = await db.connection().execute((source) => take(source, snapshot, products, numbered))
  }

  function refresh(): Promise<void> {
    pending ??= load().finally(() => {
      pending = undefined
    })
    return pending
  }

  const isSince = (time: number) => snapshot !== undefined && snapshot.takenAt >= time

  async function takenSince(time: number): Promise<Snapshot> {
    // The pending one may have begun too early, or have met a fault that is over.
    if (!isSince(time)) await pending?.catch(() => {})
    if (!isSince(time)) await refresh()
    return snapshot as Snapshot
  }

  function known(): Snapshot | undefined {
    if (!snapshot) return undefined
    const age = performance.now() - snapshot.takenAt
    if (age >= maxAgeMs / 2 && maxAgeMs > 0 && standsStill()) return snapshot
    if (age >= maxAgeMs) return undefined
    // Requests that wait for a snapshot meet its failure.
    if (age >= maxAgeMs / 2 && !pending) refresh().catch(() => {})
    return snapshot
  }

  return {
    /** From memory; undefined where it is too old. */
    known,
    current: async (): Promise<Snapshot> => known() ?? takenSince(performance.now() - maxAgeMs),
    /** Queried after this call. */
    renewed: () => takenSince(performance.now()),
    /** Undefined before the first query. */
    state: () =>
      snapshot && {
        ageMs: performance.now() - snapshot.takenAt,
        published: snapshot.published,
      },
  }
}

/** Queries the published releases; an unchanged snapshot gets the new time. */
async function take(
  source: Db,
  before: DatedSnapshot | undefined,
  products: Products,
  numbered: ReturnType<typeof createNumbering>,
  attempts = ATTEMPTS,
): Promise<DatedSnapshot> {
  const takenAt = performance.now()
  const { ids, stores, boundaries, reference } = await queries.findPublishedState(source)
  if (before?.state === formatState({ ids, stores, boundaries, reference }) && sayTheirAge(before)) {
    before.takenAt = takenAt
    return before
  }
  const missing = ids.filter((id) => !before?.releases.has(id))
  const added = await queries.findReleases(source, missing)
  if (added.length < missing.length && attempts > 1)
    return take(source, before, products, numbered, attempts - 1)
  const countries = await listCountries(source)
  const bounded = await queries.listBoundedCountries(source)
  const aliases = await listCropAliases(source)
  const prepared = new Map(before?.releases)
  for (const release of added) {
    const product = products.list.find(({ code }) => code === release.product)
    // Null for a product of another version of the service.
    prepared.set(release.id, product ? numbered(release, product) : null)
  }
  const releases: DatedSnapshot['releases'] = new Map()
  for (const id of ids) {
    const release = prepared.get(id)
    if (release === undefined) continue
    const store = stores[id] ?? 'postgis'
    releases.set(id, release && withAge(withStore(release, store), products.of(release.product)))
  }
  const published = [...releases.values()].filter((release) => release !== null)
  return {
    takenAt,
    // Releases may have been deleted meanwhile: then the next query finds a change.
    state: formatState({ ids: [...releases.keys()], stores, boundaries, reference }),
    releases,
    countries,
    bounded: new Set(bounded),
    boundaries,
    published,
    releaseOf: createChooser(published, aliases),
    cropAliases: aliases,
    cropNamed: (crop) => aliases.find(({ alias }) => alias === crop)?.code ?? crop,
    periodsOf: ({ product, countryCode, cropCode }) =>
      published
        .filter(
          (one) => one.product === product && one.countryCode === countryCode && one.cropCode === cropCode,
        )
        .flatMap(({ forecastPeriod }) => forecastPeriod ?? [])
        .sort()
        .reverse(),
  }
}

export function listCodes({ countries }: Snapshot): string[] {
  return countries.map(({ code }) => code)
}

export function countryNamed({ countries }: Snapshot, code: string | undefined): string | undefined {
  return countries.find((country) => country.code === code)?.name
}

/** Seasons end while releases stay, and a clock that was wrong is put right. */
function sayTheirAge({ published }: Snapshot): boolean {
  return published.every((release) => isStale(release, Date.now()) === (release.stale ?? false))
}

function formatState({ ids, stores, boundaries, reference }: queries.PublishedState): string {
  return `${ids.join()}; ${JSON.stringify(stores)}; ${boundaries}; ${reference}`
}

/** Unpublished releases in memory, without their pixels: each takes some kilobytes. */
const MOST_RELEASES = 100

export interface PinnedRelease {
  /** Without `stale`: its answers are the same at any time. */
  release: PublishedRelease
  /** Published now or before. */
  isPublic: boolean
}

export type PinnedReleases = ReturnType<typeof createPinnedReleases>

interface StoredPin extends PinnedRelease {
  store: queries.ReleaseState['store']
}

/** A release never changes; after `maxAgeMs` the database says whether it still exists. */
export function createPinnedReleases(db: Db, products: Products, maxAgeMs: number) {
  const cache = new Cache<string, StoredPin>('pinned releases', { max: MOST_RELEASES, ttlMs: maxAgeMs })
  const timeless = new WeakMap<PublishedRelease, PublishedRelease>()
  // Their tiles have a cache of their own: see the pixel readers of the look-up.
  const numbered = createNumbering()

  function findTimeless(release: PublishedRelease): PublishedRelease {
    if (!release.stale) return release
    const cached = timeless.get(release)
    if (cached) return cached
    const created = withAge(release, products.of(release.product), false)
    timeless.set(release, created)
    return created
  }

  async function load(code: string, last: StoredPin | undefined): Promise<StoredPin> {
    const state = await queries.findReleaseState(db, code)
    if (state?.status !== 'ready') {
      cache.delete(code)
      // A release that never was published stays unknown, also after it was deleted.
      const wasPublic = state?.status === 'deleted' && state.publishedFrom !== null
      throw wasPublic ? gone(code, state) : unknownRelease(code)
    }
    const isPublic = state.publishedFrom !== null
    if (last && last.store === state.store) return { ...last, isPublic }
    const [release] = await queries.findReleases(db, [state.id])
    const product = release && products.list.find(({ code }) => code === release.product)
    // It was deleted just now, or only another version of the service has its product.
    if (!product) throw unknownRelease(code)
    const found: PublishedRelease = { ...withAge(numbered(release, product), product, false), archived: true }
    return { release: found, isPublic, store: state.store }
  }

  return {
    /** @throws {ApiError} NOT_FOUND without a complete release, RELEASE_GONE where a published one was deleted */
    async find(snapshot: Snapshot, code: string): Promise<PinnedRelease> {
      const published = snapshot.published.find((release) => release.code === code)
      if (published) return { release: findTimeless(published), isPublic: true }
      return cache.load(code, (last) => load(code, last))
    },
    /** For a release that is gone, or has its tiles elsewhere. */
    forget: (code: string) => cache.delete(code),
  }
}

export function unknownRelease(code: string): ApiError {
  const message = `No release ${code} is or was published; \`GET ${BASE}/releases\` lists those that are there.`
  return new ApiError('NOT_FOUND', message)
}

function gone(code: string, { deletedAt, publishedFrom, publishedTo }: queries.ReleaseState): ApiError {
  const when = deletedAt === null ? '' : ` at ${deletedAt}`
  const until = publishedTo === null ? '' : ` to ${publishedTo}`
  const known = `\`GET ${BASE}/releases/${code}\` says what is known of it`
  return new ApiError(
    'RELEASE_GONE',
    `${code} was deleted${when}; it was published from ${publishedFrom}${until}. ${known}.`,
  )
}
