import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { Series } from '#src/products/series.ts'
import {
  type Country,
  type Coverage,
  findPublishedState,
  findReleases,
  type Layer,
  listBoundedCountries,
  listCountries,
  type PublishedState,
  type Release,
} from './queries.ts'

/** A coverage with what the tiles of it are numbered from: no two tiles of a process have one number. */
export interface NumberedCoverage extends Coverage {
  tileColumns: number
  firstTile: number
}

export interface PublishedRelease extends Release {
  coverages: NumberedCoverage[]
  /** `coverage` is the place in `coverages`. */
  layers: (Layer & { coverage: number })[]
}

/** What answers come from, as it was when the database was asked. */
export interface Snapshot {
  /** The release that answers for a series; undefined where nothing is published for it. */
  releaseOf(series: Series): PublishedRelease | undefined
  /** The months, newest first, for which something of a product, country and crop is published. */
  periodsOf(series: Series): string[]
  /** In the order of their codes, as they were when anything else of this last changed: they come with versions. */
  countries: Country[]
  /** The codes of the countries of which any boundaries are loaded. */
  bounded: ReadonlySet<string>
  /** Which boundaries are loaded: changes with each load. */
  boundaries: string
}

export interface Published {
  /** What is published, as far as that is known without waiting: undefined where it is too old. */
  known(): Snapshot | undefined
  /** The same; where what is known is too old, the database is asked. */
  current(): Promise<Snapshot>
  /** The same, asked of the database after this call. */
  renewed(): Promise<Snapshot>
}

interface DatedSnapshot extends Snapshot {
  /** When the database was asked, on the clock of `performance.now()`. */
  asked: number
  /** The content of releases never changes, so neither does the snapshot while this is the same. */
  state: string
  releases: Map<number, PublishedRelease>
}

/**
 * Keeps in memory what is published.
 *
 * Nothing older than `maxAgeMs` is ever used; the database is asked again by the first request that
 * finds the snapshot at half that age, and requests meanwhile are answered from the old one. While there
 * are no requests, nothing is asked. With an age of 0 every request waits for an answer of its own.
 */
export function createPublished(db: Kysely<Tables>, maxAgeMs: number): Published {
  let snapshot: DatedSnapshot | undefined
  let pending: Promise<void> | undefined
  let nextTile = 0

  async function load(): Promise<void> {
    const asked = performance.now()
    const { ids, boundaries } = await findPublishedState(db)
    if (snapshot && snapshot.state === stateOf({ ids, boundaries })) {
      snapshot.asked = asked
      return
    }
    const known = snapshot?.releases
    const missing = ids.filter((id) => !known?.has(id))
    const [found, countries, bounded] = await Promise.all([
      findReleases(db, missing),
      listCountries(db),
      listBoundedCountries(db),
    ])
    const releases = new Map<number, PublishedRelease>()
    for (const id of ids) {
      const release = known?.get(id) ?? numbered(found.find((candidate) => candidate.id === id))
      if (release) releases.set(id, release)
    }
    const published = [...releases.values()]
    snapshot = {
      asked,
      // Releases may have been deleted in between: then the next look finds a change.
      state: stateOf({ ids: [...releases.keys()], boundaries }),
      releases,
      countries,
      bounded: new Set(bounded),
      boundaries,
      releaseOf: chooser(published),
      periodsOf: (series) => periodsOf(published, series),
    }
  }

  function numbered(release: Release | undefined): PublishedRelease | undefined {
    if (!release) return undefined
    const coverages = release.coverages.map((coverage) => {
      const tileColumns = Math.ceil(coverage.width / coverage.tileSize)
      const firstTile = nextTile
      nextTile += tileColumns * Math.ceil(coverage.height / coverage.tileSize)
      return { ...coverage, tileColumns, firstTile }
    })
    const layers = release.layers.map((layer) => ({
      ...layer,
      coverage: coverages.findIndex(({ id }) => id === layer.coverageId),
    }))
    return { ...release, coverages, layers }
  }

  function refresh(): Promise<void> {
    pending ??= load().finally(() => {
      pending = undefined
    })
    return pending
  }

  async function askedSince(time: number): Promise<Snapshot> {
    while (!snapshot || snapshot.asked < time) await refresh()
    return snapshot
  }

  function known(): Snapshot | undefined {
    if (!snapshot) return undefined
    const age = performance.now() - snapshot.asked
    if (age >= maxAgeMs) return undefined
    // A failure shows when the snapshot is too old, to the requests that then wait.
    if (age >= maxAgeMs / 2) refresh().catch(() => {})
    return snapshot
  }

  return {
    known,
    current: async () => known() ?? askedSince(performance.now() - maxAgeMs),
    renewed: () => askedSince(performance.now()),
  }
}

function stateOf({ ids, boundaries }: PublishedState): string {
  return `${ids.join()}; ${boundaries}`
}

function periodsOf(releases: PublishedRelease[], { product, countryCode, cropCode }: Series): string[] {
  return releases
    .filter(
      (release) =>
        release.product === product && release.countryCode === countryCode && release.cropCode === cropCode,
    )
    .flatMap(({ forecastPeriod }) => forecastPeriod ?? [])
    .sort()
    .reverse()
}

/**
 * The choice among releases, which the SQL function published_release makes as well: of the month asked
 * for, or else the newest; values that agronomists published before synthetic ones of any month.
 */
function chooser(releases: PublishedRelease[]): Snapshot['releaseOf'] {
  const best = new Map<string, PublishedRelease>()
  for (const release of releases) {
    for (const period of new Set([null, release.forecastPeriod])) {
      const key = keyOf({ ...release, forecastPeriod: period })
      const other = best.get(key)
      if (!other || comesBefore(release, other)) best.set(key, release)
    }
  }
  // The same series come again and again: finding them by themselves is faster than by a text.
  const known = new WeakMap<Series, PublishedRelease>()
  return (series) => {
    const found = known.get(series) ?? best.get(keyOf(series))
    if (found) known.set(series, found)
    return found
  }
}

function keyOf({ product, countryCode, cropCode, forecastPeriod }: Series): string {
  return `${product} ${countryCode} ${cropCode} ${forecastPeriod}`
}

function comesBefore(a: PublishedRelease, b: PublishedRelease): boolean {
  if (a.synthetic !== b.synthetic) return b.synthetic
  return (a.forecastPeriod ?? '') > (b.forecastPeriod ?? '')
}
