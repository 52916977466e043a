import { sql } from 'kysely'
import type { Db } from '#src/data/tables.ts'
import type { AskedPlace, Question, Subject } from './grammar.ts'

/** The parts of a conversation that the next message may refer to. */
export interface Offer {
  /** The subject and the place of the last question. */
  subject?: Subject
  place?: AskedPlace
  /** Chosen by their numbers, from 1. */
  choices?: Question[]
  /** The pages that MORE asks for. */
  rest?: string[]
}

export interface Reply {
  text: string
  /** Whether a session goes on: the reply asks for something, or has more. */
  isOpen: boolean
  offer: Offer | null
  /** An answer that feedback may name. */
  record?: { code: string; releases: string[]; answer: object }
}

/** The keyed hashes of a message and of its sender. */
export interface Received {
  id: Buffer
  sender: Buffer
}

/** The state of a message at its arrival. */
export interface Arrival {
  /** Whether this request is to answer it. */
  claimed: boolean
  /** The reply, where the gateway asks again. */
  reply: string | null
  /** Messages of the sender in a day, without this one. */
  today: number
  /** Whether the sender has sent STOP. */
  stopped: boolean
  /** The offer of the last reply, within the life of a conversation. */
  offer: Offer | null
  /** The code of the last answer. */
  lastCode: string | null
  /** The latest messages of a sender of whom no such message is answered, a hundred at most; null of others. */
  latest: Buffer[] | null
}

/** The life of a conversation, as in `claim_message`. */
const CONVERSATION = sql.lit('10 minutes')

/**
 * Begins to answer a message, unless another request does, or the sender has sent too many in a day.
 *
 * @param wakes whether it is answered after a STOP
 */
export async function claimMessage(
  db: Db,
  { id, sender }: Received,
  { mostADay, isStop, wakes }: { mostADay: number; isStop: boolean; wakes: boolean },
): Promise<Arrival> {
  const { rows } = await sql<Arrival>`
    select claimed, reply, today, stopped, offer, last_code as "lastCode", latest
    from claim_message(${id}, ${sender}, ${mostADay}, ${isStop}, ${wakes})`.execute(db)
  return rows[0] as Arrival
}

/** Stores the reply of a message, which a repetition gets too. */
export async function storeReply(
  db: Db,
  { id }: Received,
  reply: string,
  { offer, record }: Pick<Reply, 'offer' | 'record'>,
): Promise<void> {
  await db
    .updateTable('message')
    .set({
      reply,
      offer: offer && sql<object>`${JSON.stringify(offer)}::jsonb`,
      ...(record && { ...record, answer: sql<object>`${JSON.stringify(record.answer)}::json` }),
    })
    .where('id', '=', id)
    .where('reply', 'is', null)
    .execute()
}

/** Gives a message back that could not be answered: the gateway may ask again. */
export async function abandonMessage(db: Db, { id }: Received): Promise<void> {
  await db.deleteFrom('message').where('id', '=', id).where('reply', 'is', null).execute()
}

/** Forgets the content of a sender's messages, and answers none until START. Their number still counts for the day. */
export async function stopSender(db: Db, { id, sender }: Received): Promise<void> {
  await sql`
    update message
    set
      stopped = id = ${id}, reply = case when id <> ${id} then '' end, offer = null, code = null, releases = null,
      answer = null, rating = null, observed = null, told_at = null
    where sender = ${sender}`.execute(db)
}

/** Answers a sender again after a STOP. */
export async function startSender(db: Db, sender: Buffer): Promise<void> {
  await db
    .updateTable('message')
    .set({ stopped: false })
    .where('sender', '=', sender)
    .where('stopped', '=', true)
    .execute()
}

/** The newest answer of a sender with a code. */
export async function findAnswer(
  db: Db,
  sender: Buffer,
  code: string,
): Promise<{ id: Buffer; answer: Record<string, unknown> } | undefined> {
  const { rows } = await sql<{ id: Buffer; answer: Record<string, unknown> }>`
    select id, answer
    from message
    where sender = ${sender} and code = ${code}
    order by arrived_at desc
    limit 1`.execute(db)
  return rows[0]
}

/** Stores feedback with an answer; it replaces earlier feedback of its kind. */
export async function storeFeedback(
  db: Db,
  id: Buffer,
  { rating, observed }: { rating?: number; observed?: Record<string, number> },
): Promise<void> {
  await db
    .updateTable('message')
    .set({
      ...(rating !== undefined && { rating }),
      ...(observed && { observed: sql<object>`${JSON.stringify(observed)}::jsonb` }),
      told_at: sql<Date>`now()`,
    })
    .where('id', '=', id)
    .execute()
}

/** Harvests come months after the advice. */
const LIFE_OF_ANSWERS = sql.lit('13 months')
const LIFE_OF_OTHERS = sql.lit('2 days')

/** Ends old conversations and deletes old messages, up to a number of each; returns the sum. The STOP of a user stays. */
export async function deleteOldMessages(db: Db, most: number): Promise<number> {
  const { numAffectedRows: ended = 0n } = await sql`
    update message set offer = null
    where id in (
      select id from message
      where offer is not null and arrived_at < now() - interval ${CONVERSATION}
      limit ${most}::integer
    )`.execute(db)
  const { numAffectedRows: deleted = 0n } = await sql`
    delete from message
    where id in (
      (
        select id from message
        where code is null and (not stopped or of_stranger) and arrived_at < now() - interval ${LIFE_OF_OTHERS}
        limit ${most}::integer
      )
      union all
      (
        select id from message
        where code is not null and arrived_at < now() - interval ${LIFE_OF_ANSWERS}
        limit ${most}::integer
      )
    )`.execute(db)
  return Number(ended + deleted)
}
