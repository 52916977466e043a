import { type Kysely, sql, type Transaction } from 'kysely'
import type { CheckName, Finding } from '#src/database/findings.ts'
import type { Tables } from '#src/database/tables.ts'
import { holderOf } from '#src/database/work-lock.ts'
import { recordOperation } from '#src/domains/audit/queries.ts'
import { OperatorError } from '#src/errors.ts'
import type { Validity } from '#src/products/season.ts'
import type { Series } from '#src/products/series.ts'

export interface ReleaseRow extends Series, Validity {
  id: number
  code: string
  version: number
  source: string
  licence: string
  checksum: string
  status: 'loading' | 'ready' | 'deleted'
  createdAt: Date
  /** Null where it is not the published one. */
  publishedAt: Date | null
  /** What the checks have found; null where they have not looked at it. */
  findings: Finding[] | null
  /** The process of the database that holds the lock of its load; null where no load is running. */
  loader: number | null
  /** Whether an older version has loaded it, whose loads hold no lock: nobody can say whether they run. */
  lockless: boolean
}

const selectReleases = (db: Kysely<Tables>) =>
  db
    .selectFrom('release')
    .leftJoin('publication', 'publication.release_id', 'release.id')
    .select([
      'release.id',
      'release.code',
      'release.product',
      'release.country_code as countryCode',
      'release.crop_code as cropCode',
      'release.forecast_period as forecastPeriod',
      'release.version',
      'release.synthetic',
      'release.valid_until as validUntil',
      'release.source',
      'release.licence',
      'release.checksum',
      'release.status',
      'release.created_at as createdAt',
      'publication.published_at as publishedAt',
    ])
    .select(({ ref, eb }) => [
      ref('release.findings').$castTo<Finding[] | null>().as('findings'),
      eb
        .case()
        .when('release.status', '=', 'loading')
        .then(holderOf(ref('release.load_lock')))
        .end()
        .as('loader'),
      eb('release.load_lock', 'is', null).$castTo<boolean>().as('lockless'),
    ])

/** All releases that still have their data, the published ones among them. */
export async function listReleases(db: Kysely<Tables>): Promise<ReleaseRow[]> {
  return selectReleases(db).where('release.status', '<>', 'deleted').orderBy('release.code').execute()
}

export async function findRelease(db: Kysely<Tables>, code: string): Promise<ReleaseRow | undefined> {
  return selectReleases(db)
    .where('release.code', '=', code)
    .where('release.status', '<>', 'deleted')
    .executeTakeFirst()
}

/** The release that is published for a series, if one is. */
export async function findPublished(db: Kysely<Tables>, series: Series): Promise<ReleaseRow | undefined> {
  return selectReleases(db)
    .where('publication.product', '=', series.product)
    .where('publication.country_code', '=', series.countryCode)
    .where('publication.crop_code', 'is not distinct from', series.cropCode)
    .where('publication.forecast_period', 'is not distinct from', series.forecastPeriod)
    .executeTakeFirst()
}

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

/** Keeps with a release what the checks have found in it, in the place of what they had found before. */
export async function keepFindings(
  trx: Transaction<Tables>,
  code: string,
  findings: readonly Finding[],
): Promise<void> {
  await sql`update release set findings = ${JSON.stringify(findings)}::jsonb where code = ${code}`.execute(
    trx,
  )
}

/**
 * Makes a complete release the one that answers for its series: one row is flipped, and every request
 * sees either the old release or the new one.
 *
 * @param allowed the checks that would have refused it
 * @returns the code of the release it takes the place of
 * @throws {OperatorError} when the release is not completely loaded
 */
export async function publishRelease(
  trx: Transaction<Tables>,
  code: string,
  allowed: CheckName[] = [],
): Promise<string | undefined> {
  await lockReleases(trx)
  const release = await requireComplete(trx, code)
  const published = await findPublished(trx, release)
  if (published?.id === release.id) return undefined
  await sql`
    insert into publication (product, country_code, crop_code, forecast_period, release_id)
    values (
      ${release.product}, ${release.countryCode}, ${release.cropCode}, ${release.forecastPeriod}, ${release.id}
    )
    on conflict (product, country_code, crop_code, forecast_period) do update set
      release_id = excluded.release_id,
      previous_release_id = publication.release_id,
      published_at = now()`.execute(trx)
  await recordOperation(trx, {
    kind: 'release_published',
    detail: { release: code, replaced: published?.code, ...(allowed.length > 0 && { allowed }) },
  })
  return published?.code
}

/**
 * What a published release took the place of; nobody else may publish anything until the transaction ends.
 *
 * @throws {OperatorError} when the release is not published, or there was nothing before it
 */
export async function findPrevious(trx: Transaction<Tables>, code: string): Promise<string> {
  await lockReleases(trx)
  const release = await requireRelease(trx, code)
  const publication = await trx
    .selectFrom('publication')
    .innerJoin('release', 'release.id', 'publication.previous_release_id')
    .select('release.code as previous')
    .where('publication.release_id', '=', release.id)
    .executeTakeFirst()
  if (!release.publishedAt)
    throw new OperatorError(`${code} is not published: there is nothing to roll back.`)
  if (!publication) {
    throw new OperatorError(`Nothing was published before ${code}: \`agro releases rollback\` withdraws it.`)
  }
  return publication.previous
}

/**
 * Deletes a release with its tiles. The row of a complete one stays, so that its code, which answers
 * have named, is never given to other values.
 *
 * @throws {OperatorError} when the release is published and `force` is not given, or it is being loaded
 */
export async function deleteRelease(trx: Transaction<Tables>, code: string, force: boolean): Promise<void> {
  await lockReleases(trx)
  const release = await requireRelease(trx, code)
  refuseRunning(release)
  if (release.publishedAt && !force) {
    throw new OperatorError(`${code} is published: roll it back or publish another first, or use --force.`)
  }
  await trx.deleteFrom('publication').where('release_id', '=', release.id).execute()
  await trx
    .updateTable('publication')
    .set({ previous_release_id: null })
    .where('previous_release_id', '=', release.id)
    .execute()
  if (release.status === 'loading') {
    await trx.deleteFrom('release').where('id', '=', release.id).execute()
  } else {
    await trx.deleteFrom('coverage').where('release_id', '=', release.id).execute()
    await trx.deleteFrom('area_result').where('release_id', '=', release.id).execute()
    await trx.updateTable('release').set({ status: 'deleted' }).where('id', '=', release.id).execute()
    const detail = { release: code, published: release.publishedAt !== null }
    await recordOperation(trx, { kind: 'release_deleted', detail })
  }
}

/** @throws {OperatorError} where there is no such release */
export async function requireRelease(db: Kysely<Tables>, code: string): Promise<ReleaseRow> {
  const release = await findRelease(db, code)
  if (!release) throw new OperatorError(`There is no release ${code}; \`agro releases list\` shows them.`)
  return release
}

/** @throws {OperatorError} where there is no such release, or not all of it is loaded */
export async function requireComplete(db: Kysely<Tables>, code: string): Promise<ReleaseRow> {
  const release = await requireRelease(db, code)
  if (release.status !== 'loading') return release
  refuseRunning(release)
  throw new OperatorError(`${code} is not complete: its load was cut off. Delete it and ingest it again.`)
}

function refuseRunning({ code, status, loader }: ReleaseRow): void {
  if (status !== 'loading' || loader === null) return
  throw new OperatorError(
    `${code} is being loaded (process ${loader} of the database): wait for it, or end that load first.`,
  )
}

/** Operators are few: one at a time may change which releases there are. Readers are not held up. */
export async function lockReleases(trx: Transaction<Tables>): Promise<void> {
  await sql`lock table publication in share row exclusive mode`.execute(trx)
}
