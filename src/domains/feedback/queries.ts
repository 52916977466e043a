import { type Kysely, sql } from 'kysely'
import type { Feedback, FeedbackRequest } from '#schemas/feedback.ts'
import { FOREIGN_KEY_VIOLATION } from '#src/database/failures.ts'
import { livingUser } from '#src/database/living.ts'
import type { Tables } from '#src/database/tables.ts'
import { isoTime } from '#src/database/time.ts'
import { codeOf } from '#src/lib/caught.ts'
import { isUuid } from '#src/lib/uuid.ts'

/** A row of advisory_feedback, called `feedback`, in the words of the API. */
export const feedbackJson = sql<Feedback>`json_build_object(
  'rating', feedback.rating,
  'comment', feedback.comment,
  'observed', nullif(
    coalesce(feedback.observed, '{}')
      || jsonb_strip_nulls(jsonb_build_object('harvested_on', feedback.harvested_on)),
    '{}'
  ),
  'created_at', ${isoTime('feedback.created_at')},
  'updated_at', ${isoTime('feedback.updated_at')}
)`

/**
 * Puts feedback to an item of a user's history, in the place of what there was.
 *
 * @param observable the keys of what can be observed; others are ignored
 * @returns undefined where the user has no item with this id, whatever it looks like
 */
export async function putFeedback(
  db: Kysely<Tables>,
  userId: string,
  historyId: string,
  { rating, comment, observed }: FeedbackRequest,
  observable: string[],
): Promise<Feedback | undefined> {
  if (!isUuid(historyId)) return undefined
  const values = Object.fromEntries(observable.map((key) => [key, observed?.[key] ?? undefined]))
  const { rows } = await sql<{ feedback: Feedback }>`
    insert into advisory_feedback as feedback (
      history_id, user_id, rating, comment, observed, harvested_on
    )
    select
      id, ${userId}::uuid, ${rating}::integer, ${comment ?? null}::text, ${JSON.stringify(values)}::jsonb,
      ${observed?.harvested_on ?? null}::date
    from advisory_history
    where id = ${historyId} and user_id = ${livingUser(userId)}
    on conflict (history_id) do update set
      rating = excluded.rating,
      comment = excluded.comment,
      observed = excluded.observed,
      harvested_on = excluded.harvested_on,
      updated_at = now()
    returning ${feedbackJson} as feedback`
    .execute(db)
    .catch(noneWhereDeleted)
  return rows[0]?.feedback
}

/** An item may be deleted while the statement waits for it. */
function noneWhereDeleted(error: unknown): { rows: never[] } {
  if (codeOf(error) === FOREIGN_KEY_VIOLATION) return { rows: [] }
  throw error
}
