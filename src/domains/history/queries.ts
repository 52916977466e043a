import { type Kysely, sql, type Transaction } from 'kysely'
import type { Feedback } from '#schemas/feedback.ts'
import { livingUser } from '#src/database/living.ts'
import type { Tables } from '#src/database/tables.ts'
import { isoTime } from '#src/database/time.ts'
import { feedbackJson } from '#src/domains/feedback/queries.ts'
import type { Party } from '#src/lib/fair-line.ts'
import { isUuid } from '#src/lib/uuid.ts'

/** An advisory that a signed-in caller was given: what was asked, and what was answered. */
export interface AdvisoryRecord {
  userId: string
  /** The code of the product; `all` where one call answered for every product. */
  product: string
  kind: 'point' | 'polygon'
  countryCode: string
  /** The code or an alias; the code is recorded. Null where no product asked for has seasons. */
  cropCode: string | null
  /** The codes of the releases that answered. */
  releases: string[]
  request: object
  /** The body of the answer, or its text, without the `history_id` that this is about to give it. */
  answer: object | string | TemplatedAnswer
}

/** What answers of a release have in common; there is one object for each that a process knows. */
export class AnswerTemplate {
  /** The text around what they differ in: one more than there are of these. */
  readonly pieces: string[]
  /** What the text of an answer has beyond its filling, whose lines have ends. */
  readonly bytes: number

  constructor(pieces: string[]) {
    this.pieces = pieces
    const lineEnds = pieces.length - 2
    this.bytes = Buffer.byteLength(pieces.join('')) - lineEnds
  }
}

/** The body of an answer, and how it comes from a template. */
export class TemplatedAnswer {
  /** The body as JSON, but for the bracket at its end: there may be more to say. */
  readonly open: string
  readonly template: AnswerTemplate
  /** What stands between the pieces: a line each, which is JSON itself. */
  readonly filling: string

  constructor(open: string, template: AnswerTemplate, filling: string) {
    this.open = open
    this.template = template
    this.filling = filling
  }

  /** The length of the body. */
  get bytes(): number {
    return this.template.bytes + Buffer.byteLength(this.filling)
  }
}

/** Why an advisory is not kept: the history holds as much as is kept of an account, or all of them as much as is kept at all. */
export interface FullHistory {
  full: 'account' | 'service'
}

/**
 * Keeps an advisory in its caller's history; answers with its public id once it is kept: whoever asks
 * from then on finds it there. Instead of the id it says what is full where the advisory is not kept.
 *
 * @param party who waits for it: they take turns
 * @throws {ApiError} UNAUTHORIZED where the caller has been deleted meanwhile, DATABASE_UNAVAILABLE where the account
 * stays locked, OVERLOADED where too many advisories wait to be kept; otherwise what the database throws
 */
export type RecordAdvisory = (record: AdvisoryRecord, party?: Party) => Promise<string | FullHistory>

export interface HistoryFilter {
  userId: string
  product: string | null
  kind: AdvisoryRecord['kind'] | null
  countryCode: string | null
  /** ISO date and time: then or later. */
  from: string | null
  /** ISO date and time: earlier. */
  to: string | null
  /** Where the page before ended: microseconds since 1970, and the id. */
  after: { createdAt: number; id: string } | null
  limit: number
  /** The page ends early where its requests and answers become this large. */
  bytes: number
}

/** An advisory as it was kept. */
export interface HistoryRow {
  id: string
  /** ISO date and time, to the millisecond. */
  created_at: string
  /** Microseconds since 1970. */
  created_us: number
  kind: AdvisoryRecord['kind']
  product: string
  country_code: string
  crop_code: string | null
  releases: string[]
  /** Whether they are demonstration data, by their codes: as far as the database knows them. */
  synthetic_by_release: Record<string, boolean>
  request: object
  answer: object
  feedback: Feedback | null
  /** Whether others come after this one in the list. */
  more: boolean
}

/** Of `item`, a row of the view with all items, and `feedback`. */
export const HISTORY_COLUMNS = sql`
  item.id,
  ${isoTime('item.created_at')} as created_at,
  (extract(epoch from item.created_at) * 1000000)::bigint as created_us,
  item.kind, item.product, item.country_code, item.crop_code, item.releases,
  (
    select coalesce(json_object_agg(release.code, release.synthetic), '{}')
    from release
    where release.code = any(item.releases)
  ) as synthetic_by_release,
  item.request, item.answer,
  case when feedback.history_id is not null then ${feedbackJson} end as feedback`

/** An item of a user's history; undefined where the user has none with this id, whatever it looks like. */
export async function findHistoryItem(
  db: Kysely<Tables>,
  userId: string,
  id: string,
): Promise<HistoryRow | undefined> {
  if (!isUuid(id)) return undefined
  const { rows } = await sql<HistoryRow>`
    select ${HISTORY_COLUMNS}, false as more
    from advisory_history as item
    left join advisory_feedback as feedback on feedback.history_id = item.id
    where item.id = ${id} and item.user_id = ${livingUser(userId)}`.execute(db)
  return rows[0]
}

/** Deletes an item of a user's history with its feedback; false where there is none with this id. */
export async function deleteHistoryItem(db: Kysely<Tables>, userId: string, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numDeletedRows } = await db
    .deleteFrom('advisory_history')
    .where('user_id', '=', livingUser(userId))
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export interface RemovedHistory {
  /** Items of the history. */
  history: number
  feedback: number
  /** Days and subjects that the user's advisories were counted for. */
  usage: number
}

/** Counts what goes with an account: its history and counts by day, of which rows are left to be deleted. */
export async function countHistory(trx: Transaction<Tables>, userId: string): Promise<RemovedHistory> {
  const counts = await trx
    .selectNoFrom(({ selectFrom, fn }) => [
      selectFrom('history_size').select('items').where('user_id', '=', userId).as('history'),
      selectFrom('advisory_feedback')
        .select(fn.countAll<number>().as('n'))
        .where('user_id', '=', userId)
        .as('feedback'),
      selectFrom('user_usage')
        .select(fn.countAll<number>().as('n'))
        .where('user_id', '=', userId)
        .as('usage'),
    ])
    .executeTakeFirstOrThrow()
  return { history: counts.history ?? 0, feedback: counts.feedback ?? 0, usage: counts.usage ?? 0 }
}

/**
 * Deletes the oldest items of a user's history after one, with their feedback.
 *
 * @param limit so many at most
 * @returns the last of them; null where there are none
 */
export async function deleteItems(
  trx: Transaction<Tables>,
  userId: string,
  after: string,
  limit: number,
): Promise<string | null> {
  const { rows } = await sql<{ last: string | null }>`
    select delete_history_items(${userId}, ${after}, ${limit}) as last`.execute(trx)
  return rows[0]?.last ?? null
}

/** Deletes so many at most of the items that older versions have kept for a user, with their feedback; says how many. */
export async function deleteOlderItems(
  trx: Transaction<Tables>,
  userId: string,
  limit: number,
): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from advisory_history_json
    where id in (select id from advisory_history_json where user_id = ${userId} limit ${limit})`.execute(trx)
  return Number(numAffectedRows)
}

/** Deletes so many counts at most of what a user was given on a day; says how many. */
export async function deleteUsage(trx: Transaction<Tables>, userId: string, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from user_usage
    where ctid = any (array(select ctid from user_usage where user_id = ${userId} limit ${limit}))`.execute(
    trx,
  )
  return Number(numAffectedRows)
}
