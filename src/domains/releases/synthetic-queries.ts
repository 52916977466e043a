import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

/** Whether anything that is published is synthetic. */
export async function publishesSynthetic(db: Kysely<Tables>): Promise<boolean> {
  const published = await db
    .selectFrom('publication')
    .innerJoin('release', 'release.id', 'publication.release_id')
    .select('release.id')
    .where('release.synthetic', '=', true)
    .limit(1)
    .executeTakeFirst()
  return published !== undefined
}
