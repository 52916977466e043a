import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { findPublished, findRelease, type ReleaseRow } from './queries.ts'

/** What a release is compared with where nobody says it, and why. */
export interface Predecessor {
  release: ReleaseRow
  reason: string
}

/**
 * What a release took or would take the place of: what it replaced, or what is published for its series; or else what
 * answers those who name no month.
 */
export async function findPredecessor(
  db: Kysely<Tables>,
  release: ReleaseRow,
): Promise<Predecessor | undefined> {
  if (release.publishedAt) {
    const replaced = await findReplaced(db, release.id)
    return replaced && { release: replaced, reason: 'which it took the place of' }
  }
  const published = await findPublished(db, release)
  if (published) return { release: published, reason: 'which it would take the place of' }
  const answering = await findAnswering(db, release)
  return answering && { release: answering, reason: 'which answers requests without a month' }
}

/** What a published release took the place of, where that is still there. */
async function findReplaced(db: Kysely<Tables>, releaseId: number): Promise<ReleaseRow | undefined> {
  const previous = await db
    .selectFrom('publication')
    .innerJoin('release', 'release.id', 'publication.previous_release_id')
    .select('release.code')
    .where('publication.release_id', '=', releaseId)
    .executeTakeFirst()
  return previous && findRelease(db, previous.code)
}

/** What answers for the product, country and crop of a release where no month is named. */
async function findAnswering(
  db: Kysely<Tables>,
  { product, countryCode, cropCode }: ReleaseRow,
): Promise<ReleaseRow | undefined> {
  const { rows } = await sql<{ code: string }>`
    select code from release
    where id = published_release(${product}, ${countryCode}, ${cropCode}::text, null)`.execute(db)
  return rows[0] && findRelease(db, rows[0].code)
}
