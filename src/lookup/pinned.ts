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

export interface PinnedRelease {
  /** Without `stale`: its answers are the same at any time. */
  release: PublishedRelease
  /** Published now or before. */
  isPublic: boolean
}

export type PinnedReleases = ReturnType<typeof createPinnedReleases>

interface StoredPin extends PinnedRelease {
  store: ReleaseState['store']
}

/**
 * Published releases come from the snapshot, others from a cache of the database. A release never changes; after
 * `maxAgeMs` the database says whether it still exists.
 */
export function createPinnedReleases(db: Kysely<Tables>, products: Products, maxAgeMs: number) {
  const cache = new Cache<string, StoredPin>('pinned releases', { max: MOST_RELEASES, ttlMs: maxAgeMs })
  const timeless = new WeakMap<PublishedRelease, PublishedRelease>()
  // Their tiles have a cache of their own: see the pixel readers of the look-up.
  const numbered = createNumbering()

  function findTimeless(release: PublishedRelease): PublishedRelease {
    if (!release.stale) return release
    const cached = timeless.get(release)
    if (cached) return cached
    const created = withoutAge(release, products.of(release.product))
    timeless.set(release, created)
    return created
  }

  async function load(code: string, last: StoredPin | undefined): Promise<StoredPin> {
    const state = await findReleaseState(db, code)
    if (state?.status !== 'ready') {
      cache.delete(code)
      // A release that never was published stays unknown, also after it was deleted.
      const wasPublic = state?.status === 'deleted' && state.publishedFrom !== null
      throw wasPublic ? gone(code, state) : unknownRelease(code)
    }
    const isPublic = state.publishedFrom !== null
    if (last && last.store === state.store) return { ...last, isPublic }
    const [release] = await findReleases(db, [state.id])
    const product = release && products.list.find(({ code }) => code === release.product)
    // It was deleted just now, or only another version of the service has its product.
    if (!product) throw unknownRelease(code)
    const found: PublishedRelease = { ...withoutAge(numbered(release, product), product), archived: true }
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

function gone(code: string, { deletedAt, publishedFrom, publishedTo }: ReleaseState): ApiError {
  const when = deletedAt === null ? '' : ` at ${deletedAt}`
  const until = publishedTo === null ? '' : ` to ${publishedTo}`
  const known = `\`GET ${BASE}/releases/${code}\` says what is known of it`
  return new ApiError(
    'RELEASE_GONE',
    `${code} was deleted${when}; it was published from ${publishedFrom}${until}. ${known}.`,
  )
}
