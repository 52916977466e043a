import { createHash } from 'node:crypto'
import type { Kysely, Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { holderOf } from '#src/database/work-lock.ts'
import { lockReleases, type ReleaseRow } from '#src/domains/releases/queries.ts'
import { OperatorError } from '#src/errors.ts'
import type { Validity } from '#src/products/season.ts'
import type { Series } from '#src/products/series.ts'

/** What a release is of, and the sum of its data. */
type LoadedData = Series & Pick<ReleaseRow, 'synthetic' | 'checksum'>

/** What the locks of loads begin with; any constant will do, as long as every process that loads uses the same. */
const LOAD_LOCKS = 7_239_449

/** The rest of them; two loads of different data that have the same wait for each other. */
const LOAD_LOCK_BITS = 24

/**
 * The lock of a load: it is the same for the same data, which are loaded once at a time, and tells while it is held
 * that what it has begun is not the rest of a load that was cut off.
 */
export function loadLockOf({ synthetic, checksum, ...series }: LoadedData): number {
  const { product, countryCode, cropCode, forecastPeriod } = series
  const digest = createHash('sha256')
    .update(JSON.stringify([product, countryCode, cropCode, forecastPeriod, synthetic, checksum]))
    .digest()
  return LOAD_LOCKS * 2 ** LOAD_LOCK_BITS + digest.readUIntBE(0, LOAD_LOCK_BITS / 8)
}

/**
 * Begins a release in the state `loading`, with the next version and a code that was never used. Its load holds its
 * lock by now.
 */
export async function insertRelease(
  db: Kysely<Tables>,
  release: LoadedData & Pick<ReleaseRow, 'source' | 'licence'> & Partial<Validity>,
): Promise<{ id: number; code: string }> {
  return inTransaction(db, async (trx) => {
    await lockReleases(trx)
    const { last } = await trx
      .selectFrom('release')
      .select(({ fn }) => fn.max('version').as('last'))
      .where('product', '=', release.product)
      .where('country_code', '=', release.countryCode)
      .where('crop_code', 'is not distinct from', release.cropCode)
      .where('forecast_period', 'is not distinct from', release.forecastPeriod)
      .where('synthetic', '=', release.synthetic)
      .executeTakeFirstOrThrow()
    const version = (last ?? 0) + 1
    return trx
      .insertInto('release')
      .values({
        code: codeOf(release, version),
        product: release.product,
        country_code: release.countryCode,
        crop_code: release.cropCode,
        forecast_period: release.forecastPeriod,
        version,
        synthetic: release.synthetic,
        source: release.source,
        licence: release.licence,
        checksum: release.checksum,
        valid_until: release.validUntil ?? null,
        load_lock: loadLockOf(release),
      })
      .returning(['id', 'code'])
      .executeTakeFirstOrThrow()
  })
}

function codeOf(release: Series & { synthetic: boolean }, version: number): string {
  const { synthetic, product, countryCode, cropCode, forecastPeriod } = release
  const parts = [
    synthetic && 'synthetic',
    product,
    countryCode,
    cropCode,
    forecastPeriod?.slice(0, 7),
    `v${version}`,
  ]
  return parts.filter(Boolean).join('-')
}

/** @throws {OperatorError} where somebody has deleted it meanwhile */
export async function markReady(
  trx: Transaction<Tables>,
  { id, code }: Pick<ReleaseRow, 'id' | 'code'>,
): Promise<void> {
  await lockReleases(trx)
  const { numUpdatedRows } = await trx
    .updateTable('release')
    .set({ status: 'ready' })
    .where('id', '=', id)
    .executeTakeFirst()
  if (numUpdatedRows === 0n) throw new OperatorError(`${code} was deleted while it was being loaded.`)
}

/** Takes back what a load has begun, which nobody has seen yet. */
export async function deleteLoad(db: Kysely<Tables>, releaseId: number): Promise<void> {
  await db.deleteFrom('release').where('id', '=', releaseId).where('status', '=', 'loading').execute()
}

/**
 * Deletes what is left of loads that were cut off.
 *
 * @param ownLock of a load that holds it and has not begun a release yet: what has it is left of others
 * @returns their codes
 */
export async function deleteDeadLoads(db: Kysely<Tables>, ownLock: number): Promise<string[]> {
  return inTransaction(db, async (trx) => {
    await lockReleases(trx)
    const loads = await trx
      .selectFrom('release')
      .select(({ ref }) => ['id', 'code', 'load_lock', holderOf(ref('load_lock')).as('loader')])
      .where('status', '=', 'loading')
      .where('load_lock', 'is not', null)
      .orderBy('code')
      .execute()
    const dead = loads.filter(({ load_lock, loader }) => load_lock === ownLock || loader === null)
    for (const { id } of dead) await deleteLoad(trx, id)
    return dead.map(({ code }) => code)
  })
}

/**
 * The release that has the same data, complete: the published one, or else the latest of those that were checked when
 * they were loaded.
 */
export async function findLoaded(
  db: Kysely<Tables>,
  data: LoadedData,
): Promise<{ code: string; published: boolean } | undefined> {
  const row = await db
    .selectFrom('release')
    .leftJoin('publication', 'publication.release_id', 'release.id')
    .select(['code', 'published_at'])
    .where('status', '=', 'ready')
    .where((row) => row.or([row('published_at', 'is not', null), row('findings', 'is not', null)]))
    .where('checksum', '=', data.checksum)
    .where('synthetic', '=', data.synthetic)
    .where('release.product', '=', data.product)
    .where('release.country_code', '=', data.countryCode)
    .where('release.crop_code', 'is not distinct from', data.cropCode)
    .where('release.forecast_period', 'is not distinct from', data.forecastPeriod)
    .orderBy('published_at', (order) => order.desc().nullsLast())
    .orderBy('release.id', 'desc')
    .executeTakeFirst()
  return row && { code: row.code, published: row.published_at !== null }
}
