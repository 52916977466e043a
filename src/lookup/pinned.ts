import type { Kysely } from 'kysely'
import type { Products } from '#schemas/products/define.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { Cache } from '#src/lib/cache.ts'
import { findReleaseState, findReleases, type ReleaseState } from './queries.ts'
import { createNumbering, type PublishedRelease, withoutAge } from './releases.ts'
import type { Snapshot } from './snapshot.ts'

/** Unpublished releases in memory, without their pixels: each takes some kilobytes. */
const MOST_RELEASES = 100

/** A release that a request has named. */
export interface PinnedRelease {
  /** It never says that its season is over: what it answers is the same at any time. */
  release: PublishedRelease
  /** Whether it is or was published. */
  isPublic: boolean
}

/** Finds releases by their codes, also those that are not published any more. */
export interface PinnedReleases {
  /**
   * @throws {ApiError} NOT_FOUND where there is no complete release with this code, RELEASE_GONE where it was published and has been deleted
   */
  find(snapshot: Snapshot, code: string): Promise<PinnedRelease>
  /** Forgets what is known of a release: it was found to be gone, or its tiles to be elsewhere. */
  forget(code: string): void
}

interface StoredPin extends PinnedRelease {
  store: ReleaseState['store']
}

/**
 * Published releases come from the snapshot, others from a cache of the database. A release never changes; after
 * `maxAgeMs` the database says whether it still exists.
 */
export function createPinnedReleases(
  db: Kysely<Tables>,
  products: Products,
  maxAgeMs: number,
): PinnedReleases {
  const cache = new Cache<string, StoredPin>('pinned releases', { max: MOST_RELEASES, ttlMs: maxAgeMs })
  const timeless = new WeakMap<PublishedRelease, PublishedRelease>()
  // Its pixels are kept apart from those of what is published: see the pixel readers of the look-up.
  const numbered = createNumbering()

  function withoutAgeOf(release: PublishedRelease): PublishedRelease {
    if (!release.stale) return release
    const known = timeless.get(release)
    if (known) return known
    const made = withoutAge(release, products.of(release.product))
    timeless.set(release, made)
    return made
  }

  async function load(code: string, last: StoredPin | undefined): Promise<StoredPin> {
    const state = await findReleaseState(db, code)
    if (state?.status !== 'ready') {
      cache.delete(code)
      // One that never was published is nobody's business, also after it was deleted.
      const wasPublic = state?.status === 'deleted' && state.publishedFrom !== null
      throw wasPublic ? gone(code, state) : unknownRelease(code)
    }
    const isPublic = state.publishedFrom !== null
    if (last && last.store === state.store) return { ...last, isPublic }
    const [release] = await findReleases(db, [state.id])
    const product = release && products.list.find(({ code }) => code === release.product)
    // It has been deleted just now, or another version of the service knows its product.
    if (!product) throw unknownRelease(code)
    const found: PublishedRelease = { ...withoutAge(numbered(release, product), product), archived: true }
    return { release: found, isPublic, store: state.store }
  }

  return {
    async find(snapshot, code) {
      const published = snapshot.published.find((release) => release.code === code)
      if (published) return { release: withoutAgeOf(published), isPublic: true }
      return cache.load(code, (last) => load(code, last))
    },
    forget: (code) => cache.delete(code),
  }
}

/** There is no such release for whoever asks. */
export function unknownRelease(code: string): ApiError {
  const message = `No release ${code} is or was published; \`GET ${BASE}/releases\` lists those that are there.`
  return new ApiError('NOT_FOUND', message)
}

function gone(code: string, { deletedAt, publishedFrom, publishedTo }: ReleaseState): ApiError {
  const when = deletedAt === null ? '' : ` at ${deletedAt}`
  const until = publishedTo === null ? '' : ` to ${publishedTo}`
  const known = `\`GET ${BASE}/releases/${code}\` says what is known of it`
  return new ApiError(
    'RELEASE_GONE',
    `${code} was deleted${when}; it was published from ${publishedFrom}${until}. ${known}.`,
  )
}
