import { sql } from 'kysely'
import type { CompanionRole } from '#schemas/certainty.ts'
import type { Series, Validity } from '#schemas/products/define.ts'
import type { CheckName, ReleaseIssue } from '#src/catalog/release-checks.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { findLockHolder } from '#src/data/work-lock.ts'
import { OperatorError } from '#src/errors.ts'

export interface ReleaseRow extends Series, Validity {
  id: number
  code: string
  version: number
  source: string
  licence: string
  checksum: string
  /** Whether a compression may have changed its values. */
  lossy: boolean
  status: 'loading' | 'ready' | 'deleted'
  createdAt: Date
  /** Null where it is not the published one. */
  publishedAt: Date | null
  /** What the checks have found; null where they have not looked at it. */
  findings: ReleaseIssue[] | null
  /** The process of the database that holds the lock of its load; null where no load is running. */
  loader: number | null
  store: string
}

/** SQL for the process of the database that holds the lock of the load of `release`; null where no load is running. */
export const LOADER = sql<number | null>`case
  when release.status = 'loading' then ${findLockHolder(sql.ref<number | null>('release.load_lock'))}
end`

const selectReleases = (db: Db) =>
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
      'release.lossy',
      'release.status',
      'release.created_at as createdAt',
      'release.tile_store as store',
      'publication.published_at as publishedAt',
    ])
    .select(({ ref }) => [
      ref('release.findings').$castTo<ReleaseIssue[] | null>().as('findings'),
      LOADER.as('loader'),
    ])

/** All releases that still have their data, the published ones among them. */
export async function listReleases(db: Db): Promise<ReleaseRow[]> {
  return selectReleases(db).where('release.status', '<>', 'deleted').orderBy('release.code').execute()
}

export async function findRelease(db: Db, code: string): Promise<ReleaseRow | undefined> {
  return selectReleases(db)
    .where('release.code', '=', code)
    .where('release.status', '<>', 'deleted')
    .executeTakeFirst()
}

export async function findPublished(db: Db, series: Series): Promise<ReleaseRow | undefined> {
  return selectReleases(db)
    .where('publication.product', '=', series.product)
    .where('publication.country_code', '=', series.countryCode)
    .where('publication.crop_code', 'is not distinct from', series.cropCode)
    .where('publication.forecast_period', 'is not distinct from', series.forecastPeriod)
    .executeTakeFirst()
}

/** Keeps with a release what the checks have found in it, instead of what they had found before. */
export async function storeIssues(trx: Trx, code: string, findings: readonly ReleaseIssue[]): Promise<void> {
  await sql`update release set findings = ${JSON.stringify(findings)}::jsonb where code = ${code}`.execute(
    trx,
  )
}

/** A release whose time to be published has come, and what was said beforehand. */
export interface DueRelease {
  code: string
  publishAt: Date
  /** The user of the operating system who wanted that. */
  scheduledBy: string
  /** The checks whose errors do not count. */
  allowed: CheckName[]
  /** Whether notes are errors as well. */
  strict: boolean
}

/** What has come of it: what it replaced, or why it is not published, in sentences. */
export type DueOutcome = { replaced: string | undefined } | { refusal: string }

/** Details of the audit record of a publication. */
interface PublicationOrigin {
  /** The checks that would have refused it. */
  allowed?: CheckName[]
  /** Who wanted it to be published at its time, where it was scheduled. */
  scheduledBy?: string | undefined
  returns?: boolean | undefined
}

/** Makes a complete release the one that answers for its series, and gives the code of the replaced one. */
export async function publishRelease(
  trx: Trx,
  code: string,
  { allowed = [], scheduledBy, returns }: PublicationOrigin = {},
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
  await trx.deleteFrom('scheduled_publication').where('release_id', '=', release.id).execute()
  await recordOperation(trx, {
    kind: 'release_published',
    detail: {
      release: code,
      replaced: published?.code,
      ...(allowed.length > 0 && { allowed }),
      scheduled_by: scheduledBy,
      rollback: returns,
    },
  })
  return published?.code
}

/** The release that a publication replaced. Other publications wait until the transaction ends. */
export async function findPrevious(trx: Trx, code: string): Promise<string> {
  await lockReleases(trx)
  const release = await requireRelease(trx, code)
  const previous = await findReplaced(trx, release.id)
  if (!release.publishedAt)
    throw new OperatorError(`${code} is not published: there is nothing to roll back.`)
  if (!previous) {
    throw new OperatorError(`Nothing was published before ${code}: \`agro releases rollback\` withdraws it.`)
  }
  return previous.code
}

/** The rasters of a grid are deleted in so many pieces. */
const PIECES = 50

/** Deletes the rasters of a release piece by piece; `deleted` receives the deleted part, from 0 to 1. */
export async function deleteRasters(
  trx: Trx,
  releaseId: number,
  deleted: (part: number) => void = () => {},
): Promise<void> {
  const coverages = await trx
    .selectFrom('coverage')
    .select(['id', 'width', 'height', 'tile_size'])
    .where('release_id', '=', releaseId)
    .execute()
  const pixels = coverages.reduce((sum, { width, height }) => sum + width * height, 0)
  let done = 0
  for (const { id, width, height, tile_size } of coverages) {
    const rows = Math.ceil(height / tile_size)
    const step = Math.ceil(rows / PIECES)
    for (let row = 0; row < rows; row += step) {
      const end = row + step
      await sql`
        delete from raster_tile
        where coverage_id = ${id} and tile_row >= ${row} and tile_row < ${end}`.execute(trx)
      await sql`
        delete from tile_summary
        where coverage_id = ${id} and level = 0 and block_row >= ${row} and block_row < ${end}`.execute(trx)
      deleted((done + (Math.min(end, rows) / rows) * width * height) / pixels)
    }
    done += width * height
  }
  await trx.deleteFrom('coverage').where('release_id', '=', releaseId).execute()
  await trx.deleteFrom('area_result').where('release_id', '=', releaseId).execute()
}

/** @throws {OperatorError} where there is no such release */
export async function requireRelease(db: Db, code: string): Promise<ReleaseRow> {
  const release = await findRelease(db, code)
  if (release) return release
  const none = `There is no release ${code}; \`agro releases list\` shows them.`
  throw new OperatorError(none, { code: 'NOT_FOUND' })
}

/** @throws {OperatorError} where there is no such release, or not all of it is loaded */
export async function requireComplete(db: Db, code: string): Promise<ReleaseRow> {
  const release = await requireRelease(db, code)
  if (release.status !== 'loading') return release
  refuseRunning(release)
  const cutOff = `${code} is not complete: its load was cut off. Delete it and ingest it again.`
  throw new OperatorError(cutOff, { code: 'CUT_OFF' })
}

/** @throws {OperatorError} where a process loads it */
export function refuseRunning({ code, status, loader }: ReleaseRow): void {
  if (status !== 'loading' || loader === null) return
  throw new OperatorError(
    `${code} is being loaded (process ${loader} of the database): wait for it, or end that load first.`,
  )
}

/** Operators are few: one at a time may change which releases there are. Readers are not held up. */
export async function lockReleases(trx: Trx): Promise<void> {
  await sql`lock table publication in share row exclusive mode`.execute(trx)
}

export interface LayerSummary {
  input: string | null
  scenario: string | null
  condition: string | null
  role: CompanionRole | null
  unit: string
  validCount: number
  minimum: number | null
  maximum: number | null
  mean: number | null
  width: number
  height: number
}

/** The layers of a release with their statistics, in the order of the answers, then the bands about them. */
export async function listLayers(db: Db, releaseId: number): Promise<LayerSummary[]> {
  const { rows } = await sql<LayerSummary>`
    select input, scenario, condition, role, unit, valid_count as "validCount", minimum, maximum, mean, width, height
    from (
      select ordinal, coverage_id, input, scenario, condition, null as role, unit, valid_count, minimum, maximum, mean
      from layer
      where release_id = ${releaseId}
      union all
      select ordinal, coverage_id, input, scenario, condition, role, unit, valid_count, minimum, maximum, mean
      from companion
      where release_id = ${releaseId}
    ) as band
    join coverage on coverage.id = coverage_id
    order by ordinal`.execute(db)
  return rows
}

/** The release that it replaced, would replace, or that answers requests without a month. */
export async function findPredecessor(
  db: Db,
  release: ReleaseRow,
): Promise<{ release: ReleaseRow; reason: string } | undefined> {
  if (release.publishedAt) {
    const replaced = await findReplaced(db, release.id)
    return replaced && { release: replaced, reason: 'which it replaced' }
  }
  const published = await findPublished(db, release)
  if (published) return { release: published, reason: 'which it would replace' }
  const answering = await findAnswering(db, release)
  return answering && { release: answering, reason: 'which answers requests without a month' }
}

/** What a published release replaced, where that is still there. */
async function findReplaced(db: Db, releaseId: number): Promise<ReleaseRow | undefined> {
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
  db: Db,
  { product, countryCode, cropCode }: ReleaseRow,
): Promise<ReleaseRow | undefined> {
  const { rows } = await sql<{ code: string }>`
    select code from release
    where id = published_release(${product}, ${countryCode}, ${cropCode}::text, null)`.execute(db)
  return rows[0] && findRelease(db, rows[0].code)
}

/** Whether anything that is published is synthetic. */
export async function publishesSynthetic(db: Db): Promise<boolean> {
  const published = await db
    .selectFrom('publication')
    .innerJoin('release', 'release.id', 'publication.release_id')
    .select('release.id')
    .where('release.synthetic', '=', true)
    .limit(1)
    .executeTakeFirst()
  return published !== undefined
}

/** Bytes of the rasters of releases, in the database or in files, by id. */
export async function listReleaseSizes(db: Db, releaseId?: number): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; bytes: number }>`
    select release_id as id, sum(bytes)::float8 as bytes
    from (
      select coverage_id, pg_column_size(rast) as bytes from raster_tile
      union all
      select coverage_id, bytes from granule
    ) as stored
    join coverage on coverage.id = coverage_id
    ${releaseId === undefined ? sql`` : sql`where release_id = ${releaseId}`}
    group by release_id`.execute(db)
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}
