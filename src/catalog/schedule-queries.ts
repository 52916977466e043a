import { sql } from 'kysely'
import type { CheckName } from '#src/catalog/release-checks.ts'
import { operatorName, recordOperation } from '#src/data/audit-queries.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { doAlone } from '#src/data/work-lock.ts'
import { OperatorError } from '#src/errors.ts'
import {
  type DueOutcome,
  type DueRelease,
  lockReleases,
  type ReleaseRow,
  requireComplete,
  requireRelease,
} from './release-queries.ts'

const PUBLISHING_LOCK = 7_239_450

/** When a release is to be published, and what came of it. */
export interface Schedule extends Omit<DueRelease, 'code'> {
  scheduledAt: Date
  /** When it was refused; null where it still is to be published. */
  refusedAt: Date | null
  /** Why, in sentences. */
  refusal: string | null
}

const SCHEDULE = [
  'publish_at as publishAt',
  'scheduled_at as scheduledAt',
  'scheduled_by as scheduledBy',
  sql<CheckName[]>`allowed`.as('allowed'),
  'strict',
  'refused_at as refusedAt',
  'refusal',
] as const

/** Of the releases that are to be published, and of those that were refused at their time, by their ids. */
export async function listSchedules(db: Db): Promise<Map<number, Schedule>> {
  const rows = await db
    .selectFrom('scheduled_publication')
    .select(['release_id as id', ...SCHEDULE])
    .execute()
  return new Map(rows.map(({ id, ...schedule }) => [id, schedule]))
}

export async function findSchedule(db: Db, releaseId: number): Promise<Schedule | undefined> {
  return db
    .selectFrom('scheduled_publication')
    .select(SCHEDULE)
    .where('release_id', '=', releaseId)
    .executeTakeFirst()
}

/** @throws {OperatorError} where a time has passed by the clock of the database, which is that of publications */
export async function refusePast(db: Db, publishAt: Date): Promise<void> {
  const { rows } = await sql`select where ${publishAt}::timestamptz > clock_timestamp()`.execute(db)
  if (rows.length === 0) throw new OperatorError(`${publishAt.toISOString()} has passed.`)
}

/** @throws {OperatorError} where a release is not complete, or published already */
export async function requireUnpublished(db: Db, code: string): Promise<ReleaseRow> {
  const release = await requireComplete(db, code)
  if (release.publishedAt) throw new OperatorError(`${code} is published already.`, { code: 'ALREADY_THERE' })
  return release
}

/** Has a complete release published at a time, whenever it was to be published before. */
export async function scheduleRelease(
  trx: Trx,
  code: string,
  { publishAt, allowed, strict }: Pick<Schedule, 'publishAt' | 'allowed' | 'strict'>,
): Promise<void> {
  await lockReleases(trx)
  const { id } = await requireUnpublished(trx, code)
  await deleteSchedule(trx, id)
  const scheduledBy = operatorName()
  await trx
    .insertInto('scheduled_publication')
    .values({ release_id: id, publish_at: publishAt, scheduled_by: scheduledBy, allowed, strict })
    .execute()
  const detail = { release: code, publish_at: publishAt, ...(allowed.length > 0 && { allowed }) }
  await recordOperation(trx, { kind: 'release_scheduled', detail })
}

/** Takes back that a release is published at a time, or forgets that it was refused then. */
export async function unscheduleRelease(trx: Trx, code: string): Promise<void> {
  await lockReleases(trx)
  const { id } = await requireRelease(trx, code)
  if (!(await deleteSchedule(trx, id))) throw new OperatorError(`${code} is not scheduled.`)
  await recordUnscheduled(trx, code)
}

export async function recordUnscheduled(trx: Trx, code: string): Promise<void> {
  await recordOperation(trx, { kind: 'release_unscheduled', detail: { release: code } })
}

/** @returns whether there was one */
export async function deleteSchedule(trx: Trx, releaseId: number): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('scheduled_publication')
    .where('release_id', '=', releaseId)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Milliseconds to the next publication by the clock of the database, without the failed ones; undefined for none. */
export async function findTimeToPublication(db: Db, failed: readonly number[]): Promise<number | undefined> {
  const { rows } = await sql<{ ms: number }>`
    select extract(epoch from publish_at - clock_timestamp())::float8 * 1000 as ms
    from scheduled_publication
    where refused_at is null and release_id <> all(${failed})
    order by publish_at
    limit 1`.execute(db)
  return rows[0]?.ms
}

/** What has come of a release whose time has come; after a failure nothing of it is stored. */
type DueTrial = { id: number; due: DueRelease } & ({ outcome: DueOutcome } | { failure: unknown })

/** Publishes the release whose time came first, or stores its refusal; undefined for none, or beside another process. */
export async function publishNextDue(
  db: Db,
  publish: (trx: Trx, due: DueRelease) => Promise<DueOutcome>,
  failed: readonly number[],
): Promise<DueTrial | undefined> {
  let tried: Pick<DueTrial, 'id' | 'due'> | undefined
  try {
    return await doAlone(db, PUBLISHING_LOCK, async (trx) => {
      // From here on no operator changes the schedule.
      await lockReleases(trx)
      tried = await findNextDue(trx, failed)
      if (!tried) return undefined
      const { id, due } = tried
      const outcome = await publish(trx, due)
      if ('refusal' in outcome) {
        await keepRefusal(trx, id, due, outcome.refusal)
      } else {
        await deleteSchedule(trx, id)
        await refuseOvertaken(trx, id, due)
      }
      return { id, due, outcome }
    })
  } catch (failure) {
    if (!tried) throw failure
    return { ...tried, failure }
  }
}

async function findNextDue(
  trx: Trx,
  failed: readonly number[],
): Promise<Pick<DueTrial, 'id' | 'due'> | undefined> {
  const next = await selectWaiting(trx)
    .where('publish_at', '<=', sql<Date>`clock_timestamp()`)
    .where(sql<boolean>`release.id <> all(${failed})`)
    .orderBy('publish_at')
    .orderBy('release.id')
    .limit(1)
    .executeTakeFirst()
  if (!next) return undefined
  const { id, ...due } = next
  return { id, due }
}

const selectWaiting = (trx: Trx) =>
  trx
    .selectFrom('scheduled_publication')
    .innerJoin('release', 'release.id', 'scheduled_publication.release_id')
    .select(['release.id', 'release.code', ...SCHEDULE])
    .where('refused_at', 'is', null)

/** The last of several releases of a series answers: earlier ones that failed are not to replace it. */
async function refuseOvertaken(trx: Trx, releaseId: number, { code, publishAt }: DueRelease): Promise<void> {
  const overtaken = await selectWaiting(trx)
    .innerJoin('release as published', (join) =>
      join
        .on('published.id', '=', releaseId)
        .onRef('published.product', '=', 'release.product')
        .onRef('published.country_code', '=', 'release.country_code')
        .on('published.crop_code', 'is not distinct from', sql.ref('release.crop_code'))
        .on('published.forecast_period', 'is not distinct from', sql.ref('release.forecast_period')),
    )
    .where(sql<boolean>`(publish_at, release.id) < (${publishAt}::timestamptz, ${releaseId}::bigint)`)
    .execute()
  for (const { id, ...due } of overtaken) {
    const refusal = `It could not be published at its time, and ${code}, whose time came later, is published already.`
    await keepRefusal(trx, id, due, refusal)
  }
}

async function keepRefusal(
  trx: Trx,
  releaseId: number,
  { code, publishAt, scheduledBy }: DueRelease,
  refusal: string,
): Promise<void> {
  await trx
    .updateTable('scheduled_publication')
    .set({ refused_at: sql<Date>`clock_timestamp()`, refusal })
    .where('release_id', '=', releaseId)
    .execute()
  const detail = { release: code, publish_at: publishAt, scheduled_by: scheduledBy, refusal }
  await recordOperation(trx, { kind: 'release_refused', detail })
}
