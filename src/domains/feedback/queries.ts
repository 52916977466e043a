import { type Kysely, sql } from 'kysely'
import type { Feedback, FeedbackRequest } from '#schemas/feedback.ts'
import type { Tables } from '#src/database/tables.ts'
import { isoTime } from '#src/database/time.ts'
import { isUuid } from '#src/lib/uuid.ts'

/** A row of advisory_feedback, called `feedback`, in the words of the API. */
export const feedbackJson = sql<Feedback>`json_build_object(
  'rating', feedback.rating,
  'comment', feedback.comment,
  'observed', nullif(
    jsonb_strip_nulls(
      jsonb_build_object(
        'yield_kg_ha', feedback.yield_kg_ha,
        'rate_kg_ha', feedback.rate_kg_ha,
        'rate_tons_ha', feedback.rate_tons_ha,
        'harvested_on', feedback.harvested_on
      )
    ),
    '{}'
  ),
  'created_at', ${isoTime('feedback.created_at')},
  'updated_at', ${isoTime('feedback.updated_at')}
)`

/**
 * Puts feedback to an item of a user's history, in the place of what there was.
 *
 * @returns undefined where the user has no item with this id, whatever it looks like
 */
export async function putFeedback(
  db: Kysely<Tables>,
  userId: string,
  historyId: string,
  { rating, comment, observed = {} }: FeedbackRequest,
): Promise<Feedback | undefined> {
  if (!isUuid(historyId)) return undefined
  const { yield_kg_ha, rate_kg_ha, rate_tons_ha, harvested_on } = observed
  const { rows } = await sql<{ feedback: Feedback }>`
    with item as (
      -- Held, so that it is not deleted between now and the insert.
      select id from advisory_history where id = ${historyId} and user_id = ${userId} for key share
    )
    insert into advisory_feedback as feedback (
      history_id, user_id, rating, comment, yield_kg_ha, rate_kg_ha, rate_tons_ha, harvested_on
    )
    select
      id, ${userId}::uuid, ${rating}::integer, ${comment ?? null}::text, ${yield_kg_ha ?? null}::float8,
      ${rate_kg_ha ?? null}::float8, ${rate_tons_ha ?? null}::float8, ${harvested_on ?? null}::date
    from item
    on conflict (history_id) do update set
      rating = excluded.rating,
      comment = excluded.comment,
      yield_kg_ha = excluded.yield_kg_ha,
      rate_kg_ha = excluded.rate_kg_ha,
      rate_tons_ha = excluded.rate_tons_ha,
      harvested_on = excluded.harvested_on,
      updated_at = now()
    returning ${feedbackJson} as feedback`.execute(db)
  return rows[0]?.feedback
}
