import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Products } from '#schemas/products/define.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { findReleaseState, findReleases, type ReleaseState } from './queries.ts'
import { createNumbering, type PublishedRelease, withoutAge } from './releases.ts'
import type { Snapshot } from './snapshot.ts'

/** So many releases that are not published are kept in memory, without their pixels: each takes some kilobytes. */
const RELEASES_KEPT = 100

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

interface Kept extends PinnedRelease {
  store: ReleaseState['store']
  /** When the database was last asked for it, on the clock of `performance.now()`. */
  seenAt: number
}

/**
 * What is published is found in the snapshot. Of other releases the database is asked, and those that were asked for last
 * are kept: a release never changes, and whether it is still there is asked again where that is older than `maxAgeMs`.
 */
export function createPinnedReleases(
  db: Kysely<Tables>,
  products: Products,
  maxAgeMs: number,
): PinnedReleases {
  const kept = new LRUCache<string, Kept>({ max: RELEASES_KEPT })
  const pending = new Map<string, Promise<Kept>>()
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

  async function ask(code: string): Promise<Kept> {
    const seenAt = performance.now()
    const state = await findReleaseState(db, code)
    if (state?.status !== 'ready') {
      kept.delete(code)
      // One that never was published is nobody's business, also after it was deleted.
      const wasPublic = state?.status === 'deleted' && state.publishedFrom !== null
      throw wasPublic ? gone(code, state) : unknownRelease(code)
    }
    const isPublic = state.publishedFrom !== null
    const known = kept.get(code)
    if (known && known.store === state.store) return Object.assign(known, { seenAt, isPublic })
    const [release] = await findReleases(db, [state.id])
    const product = release && products.list.find(({ code }) => code === release.product)
    // It has been deleted just now, or another version of the service knows its product.
    if (!product) throw unknownRelease(code)
    const found: PublishedRelease = { ...withoutAge(numbered(release, product), product), archived: true }
    return { release: found, isPublic, store: state.store, seenAt }
  }

  function askOnce(code: string): Promise<Kept> {
    const begun = pending.get(code)
    if (begun) return begun
    const asking = ask(code).then((found) => {
      kept.set(code, found)
      return found
    })
    pending.set(code, asking)
    const ended = () => pending.delete(code)
    asking.then(ended, ended)
    return asking
  }

  return {
    async find(snapshot, code) {
      const published = snapshot.published.find((release) => release.code === code)
      if (published) return { release: withoutAgeOf(published), isPublic: true }
      const known = kept.get(code)
      return known && performance.now() - known.seenAt < maxAgeMs ? known : askOnce(code)
    },
    forget(code) {
      kept.delete(code)
    },
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
