import { setTimeout } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { becomesStaleAt, type Products, type Series } from '#schemas/products/define.ts'
import {
  type Country,
  type CropAlias,
  listCountries,
  listCropAliases,
} from '#src/catalog/reference-queries.ts'
import type { Database } from '#src/data/client.ts'
import type { Tables } from '#src/data/tables.ts'
import {
  findPublishedState,
  findReleases,
  listBoundedCountries,
  type PublishedState,
  type Release,
} from './queries.ts'
import { createNumbering, type PublishedRelease, placedIn, renewed } from './releases.ts'

/** What the choice among releases depends on. */
interface Candidate extends Series {
  synthetic: boolean
}

/**
 * Makes the choice among published releases, for points and polygons alike: of the month asked for, or else
 * the newest; values that agronomists published before synthetic ones of any month.
 *
 * A crop may be named by its code or by an alias.
 *
 * The SQL function published_release chooses by the same rule, where a query needs it.
 *
 * @returns finds the release that answers for a series; undefined where nothing is published for it
 */
function chooserOf<Release extends Candidate>(
  releases: Release[],
  aliases: CropAlias[],
): (series: Series) => Release | undefined {
  const best = new Map<string, Release>()
  for (const release of releases) {
    for (const series of seriesAnswered(release, aliases)) {
      const key = keyOf(series)
      const other = best.get(key)
      if (!other || comesBefore(release, other)) best.set(key, release)
    }
  }
  return (series) => best.get(keyOf(series))
}

/** What a release may answer for: its month and no month, its crop by the code and each alias. */
function seriesAnswered(release: Candidate, aliases: CropAlias[]): Series[] {
  const ofCrop = aliases.filter(({ code }) => code === release.cropCode).map(({ alias }) => alias)
  const periods = [...new Set([null, release.forecastPeriod])]
  return [release.cropCode, ...ofCrop].flatMap((cropCode) =>
    periods.map((forecastPeriod) => ({ ...release, cropCode, forecastPeriod })),
  )
}

function keyOf({ product, countryCode, cropCode, forecastPeriod }: Series): string {
  return `${product} ${countryCode} ${cropCode} ${forecastPeriod}`
}

function comesBefore(a: Candidate, b: Candidate): boolean {
  if (a.synthetic !== b.synthetic) return b.synthetic
  return (a.forecastPeriod ?? '') > (b.forecastPeriod ?? '')
}

/** What answers come from, as it was when the database was asked. */
export interface Snapshot {
  /** The release that answers for a series, whose crop may be an alias; undefined where none is published. */
  releaseOf(series: Series): PublishedRelease | undefined
  /** The code of the crop that a code or an alias names; what is neither stays as it is. */
  cropNamed(crop: string | null): string | null
  /** In no order. */
  published: PublishedRelease[]
  /** The months, newest first, for which something of a product, country and crop is published. */
  periodsOf(series: Series): string[]
  /** In the order of their codes. */
  countries: Country[]
  /** The codes of the countries of which any boundaries are loaded. */
  bounded: ReadonlySet<string>
  /** Which boundaries are loaded: changes with each load. */
  boundaries: string
}

export interface Snapshots {
  /** What is published, as far as that is known without waiting: undefined where it is too old. */
  known(): Snapshot | undefined
  /** The same; where what is known is too old, the database is asked. */
  current(): Promise<Snapshot>
  /** The same, asked of the database after this call. */
  renewed(): Promise<Snapshot>
  /** Undefined before the database was first asked. */
  state(): SnapshotState | undefined
}

export interface SnapshotState {
  ageMs: number
  published: PublishedRelease[]
}

/** What is done when other releases answer than before; it never fails. */
interface SnapshotHooks {
  /** Prepares those that will answer soon, beside all that answer now. */
  before(added: readonly PublishedRelease[], published: readonly PublishedRelease[]): Promise<void>
  after(published: readonly PublishedRelease[]): void
}

type SnapshotSource = Pick<Database, 'reader' | 'standsStill'>

interface DatedSnapshot extends Snapshot {
  /** When the database was asked, on the clock of `performance.now()`. */
  takenAt: number
  /** The content of releases never changes, so neither does the snapshot while this is the same. */
  state: string
  /** When the season of the next of them ends, on the clock of `Date.now()`. */
  agesAt: number
  /** By their ids; null where the service does not know the product. */
  releases: Map<number, PublishedRelease | null>
}

/** More releases are hardly published and deleted one after the other, each within two statements. */
const ATTEMPTS = 5

/** Of its greatest age, how old a snapshot may become while the next one is prepared. */
const PREPARING_PART = 0.9

/**
 * Keeps in memory what is published.
 *
 * Nothing older than `maxAgeMs` is ever used; the database is asked again by the first request that
 * finds the snapshot at half that age, and requests meanwhile are answered from the old one. While there
 * are no requests, nothing is asked. With an age of 0 every request waits for an answer of its own.
 *
 * Releases that are new are given time to be prepared before they answer: until the snapshot before is nearly too old, or
 * somebody waits for the next one.
 *
 * While the database stands still a snapshot does not grow too old: what is published cannot change meanwhile,
 * and this process changes none of it.
 */
export function createSnapshots(
  source: SnapshotSource,
  products: Products,
  maxAgeMs: number,
  hooks?: SnapshotHooks,
): Snapshots {
  const { reader: db, standsStill } = source
  let snapshot: DatedSnapshot | undefined
  let pending: Promise<void> | undefined
  /** Ends the preparation that the pending one waits for. */
  let hurry = new AbortController()
  const preparation = createPreparation(products)

  async function load(before: DatedSnapshot | undefined, signal: AbortSignal): Promise<void> {
    // Of one source: a replica may not have what the writer says is published.
    const next = await db.connection().execute((source) => take(source, before, preparation))
    const added = before ? next.published.filter(({ id }) => !before.releases.has(id)) : []
    if (before && hooks && added.length > 0) {
      const late = before.takenAt + PREPARING_PART * maxAgeMs - performance.now()
      const tooLate = setTimeout(late, undefined, { signal, ref: false }).catch(() => {})
      await Promise.race([hooks.before(added, before.published), tooLate])
    }
    snapshot = next
    if (before && before !== next) hooks?.after(next.published)
  }

  function refresh(): Promise<void> {
    if (pending) return pending
    hurry = new AbortController()
    pending = load(snapshot, hurry.signal).finally(() => {
      pending = undefined
    })
    return pending
  }

  function inAHurry<Refresh extends Promise<void> | undefined>(refresh: Refresh): Refresh {
    hurry.abort()
    return refresh
  }

  const isSince = (time: number) => snapshot !== undefined && snapshot.takenAt >= time

  async function takenSince(time: number): Promise<Snapshot> {
    // One that is under way may have begun too early, or have met a fault that is over: the next one has not.
    if (!isSince(time)) await inAHurry(pending)?.catch(() => {})
    if (!isSince(time)) await inAHurry(refresh())
    return snapshot as Snapshot
  }

  function known(): Snapshot | undefined {
    if (!snapshot) return undefined
    const age = performance.now() - snapshot.takenAt
    if (age >= maxAgeMs / 2 && maxAgeMs > 0 && standsStill()) return snapshot
    if (age >= maxAgeMs) return undefined
    // A failure shows when the snapshot is too old, to the requests that then wait.
    if (age >= maxAgeMs / 2 && !pending) refresh().catch(() => {})
    return snapshot
  }

  return {
    known,
    current: async () => known() ?? takenSince(performance.now() - maxAgeMs),
    renewed: () => takenSince(performance.now()),
    state: () =>
      snapshot && {
        ageMs: performance.now() - snapshot.takenAt,
        published: snapshot.published,
      },
  }
}

/**
 * Asks what is published. Where that has not changed since a snapshot was taken, it is as new as that.
 *
 * @param attempts how often it is asked anew where a release is deleted meanwhile, whose place another one has taken
 */
async function take(
  source: Kysely<Tables>,
  before: DatedSnapshot | undefined,
  preparation: Preparation,
  attempts = ATTEMPTS,
): Promise<DatedSnapshot> {
  const takenAt = performance.now()
  const { ids, inFiles, boundaries, reference } = await findPublishedState(source)
  if (before?.state === stateOf({ ids, inFiles, boundaries, reference }) && Date.now() < before.agesAt) {
    before.takenAt = takenAt
    return before
  }
  const known = before?.releases
  const missing = ids.filter((id) => !known?.has(id))
  const added = await findReleases(source, missing)
  if (added.length < missing.length && attempts > 1) return take(source, before, preparation, attempts - 1)
  const countries = await listCountries(source)
  const bounded = await listBoundedCountries(source)
  const aliases = await listCropAliases(source)
  const prepared = new Map(added.map((release) => [release.id, preparation.prepare(release)]))
  const releases = new Map<number, PublishedRelease | null>()
  for (const id of ids) {
    const release = known?.has(id) ? known.get(id) : prepared.get(id)
    if (release !== undefined) releases.set(id, release && preparation.renew(release, inFiles))
  }
  const published = [...releases.values()].filter((release) => release !== null)
  return {
    takenAt,
    // Releases may have been deleted in between: then the next look finds a change.
    state: stateOf({ ids: [...releases.keys()], inFiles, boundaries, reference }),
    agesAt: Math.min(...published.map((release) => becomesStaleAt(release, Date.now()))),
    releases,
    countries,
    bounded: new Set(bounded),
    boundaries,
    published,
    releaseOf: chooserOf(published, aliases),
    cropNamed: (crop) => aliases.find(({ alias }) => alias === crop)?.code ?? crop,
    periodsOf: (series) => periodsOf(published, series),
  }
}

type Preparation = ReturnType<typeof createPreparation>

/** Makes of releases such that answer. */
function createPreparation({ list, of }: Products) {
  const numbered = createNumbering()
  return {
    /** Null where the service does not know the product: another version of it may know more. */
    prepare(release: Release): PublishedRelease | null {
      const product = list.find(({ code }) => code === release.product)
      return product ? numbered(release, product) : null
    },
    renew: (release: PublishedRelease, inFiles: number[]) =>
      renewed(placedIn(release, inFiles), of(release.product)),
  }
}

/** The codes of the countries that there are, in order. */
export function codesOf({ countries }: Snapshot): string[] {
  return countries.map(({ code }) => code)
}

/** The name of the country with a code. */
export function countryNamed({ countries }: Snapshot, code: string | undefined): string | undefined {
  return countries.find((country) => country.code === code)?.name
}

function stateOf({ ids, inFiles, boundaries, reference }: PublishedState): string {
  return `${ids.join()}; ${inFiles.join()}; ${boundaries}; ${reference}`
}

function periodsOf(releases: PublishedRelease[], { product, countryCode, cropCode }: Series): string[] {
  return releases
    .filter((one) => one.product === product && one.countryCode === countryCode && one.cropCode === cropCode)
    .flatMap(({ forecastPeriod }) => forecastPeriod ?? [])
    .sort()
    .reverse()
}
