import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'

/** Between which values of a product are plausible, as an operator has said: for a crop, or for all that are not named. */
export interface StatedRange {
  product: string
  /** Null for all crops that have no range of their own. */
  cropCode: string | null
  /** In the product's unit. */
  minimum: number
  maximum: number
}

const selectRanges = (db: Kysely<Tables>) =>
  db.selectFrom('plausible_range').select(['product', 'crop_code as cropCode', 'minimum', 'maximum'])

/** All that operators have said, by product and crop. */
export async function listPlausibleRanges(db: Kysely<Tables>): Promise<StatedRange[]> {
  return selectRanges(db)
    .orderBy('product')
    .orderBy('crop_code', (order) => order.asc().nullsFirst())
    .execute()
}

/** What an operator has said of a product and crop, or else of the product. */
export async function findPlausibleRange(
  db: Kysely<Tables>,
  product: string,
  cropCode: string | null,
): Promise<StatedRange | undefined> {
  return selectRanges(db)
    .where('product', '=', product)
    .where((where) => where.or([where('crop_code', 'is', null), where('crop_code', '=', cropCode)]))
    .orderBy('crop_code', (order) => order.asc().nullsLast())
    .limit(1)
    .executeTakeFirst()
}

export async function upsertPlausibleRange(
  trx: Transaction<Tables>,
  { product, cropCode, minimum, maximum }: StatedRange,
): Promise<void> {
  await sql`
    insert into plausible_range (product, crop_code, minimum, maximum)
    values (${product}, ${cropCode}, ${minimum}, ${maximum})
    on conflict (product, crop_code) do update set minimum = excluded.minimum, maximum = excluded.maximum`.execute(
    trx,
  )
}

/** @returns whether there was one */
export async function deletePlausibleRange(
  trx: Transaction<Tables>,
  product: string,
  cropCode: string | null,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('plausible_range')
    .where('product', '=', product)
    .where('crop_code', 'is not distinct from', cropCode)
    .executeTakeFirst()
  return numDeletedRows !== 0n
}
