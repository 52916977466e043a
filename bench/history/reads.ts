import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import {
  deleteHistoryItem,
  deleteItems,
  findHistoryItem,
  type HistoryFilter,
  listHistory,
  putFeedback,
} from '#src/history/queries.ts'
import { deleteOldest } from '#src/history/recording-queries.ts'
import type { Landmarks } from './calls.ts'

const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** What the service asks of a history, by its own queries. */
const STATEMENTS: Record<
  string,
  (trx: Transaction<Tables>, userId: string, at: Landmarks) => Promise<unknown>
> = {
  'first page': (trx, userId) => list(trx, userId, {}),
  'page of a product': (trx, userId, { product }) => list(trx, userId, { product }),
  'page of a kind': (trx, userId) => list(trx, userId, { kind: 'polygon' }),
  'page of a country, all two years old': (trx, userId, { rareCountry: countryCode }) =>
    list(trx, userId, { countryCode }),
  'page of a month': (trx, userId, { from, to }) => list(trx, userId, { from, to }),
  'page after nine tenths': (trx, userId, { deep }) => list(trx, userId, { after: deep.id }),
  item: (trx, userId, { deep }) => findHistoryItem(trx, userId, deep.id),
  feedback: (trx, userId, { deep }) => putFeedback(trx, userId, deep.id, { rating: 4 }, []),
  'deletion of an item': (trx, userId, { deep }) => deleteHistoryItem(trx, userId, deep.id),
  'deletion of the 500 oldest of a full history': (trx, userId) =>
    deleteOldest(trx, userId, { items: 1, bytes: 1, full: 'oldest' }, 500),
  'removal of 500 items of an account': (trx, userId) => deleteItems(trx, userId, FIRST_ID, 500),
}

function list(trx: Transaction<Tables>, userId: string, chosen: Partial<HistoryFilter>) {
  const all = { product: null, kind: null, countryCode: null, from: null, to: null, after: null }
  return listHistory(trx, { userId, ...all, limit: 50, bytes: 8_000_000, ...chosen })
}

/** How many items each statement reads, those that it leaves out included. */
export async function countReads(
  db: Kysely<Tables>,
  email: string,
  landmarks: Landmarks,
): Promise<Map<string, number>> {
  const { id: userId } = await db
    .selectFrom('app_user')
    .select('id')
    .where('email', '=', email)
    .executeTakeFirstOrThrow()
  const reads = new Map<string, number>()
  for (const [what, ask] of Object.entries(STATEMENTS)) {
    const trx = await db.startTransaction().execute()
    try {
      const before = await itemsRead(trx)
      await ask(trx, userId, landmarks)
      reads.set(what, (await itemsRead(trx)) - before)
    } finally {
      // What is deleted comes back.
      await trx.rollback().execute()
    }
  }
  return reads
}

/** Of a session; of a transaction alone only the difference is. */
async function itemsRead(trx: Transaction<Tables>): Promise<number> {
  const { rows } = await sql<{ read: number }>`
    select coalesce(sum(seq_tup_read + coalesce(idx_tup_fetch, 0)), 0)::integer as read
    from pg_stat_xact_user_tables
    where relname like 'history_item%'`.execute(trx)
  return rows[0]?.read ?? Number.NaN
}
