import { type Kysely, sql } from 'kysely'
import type { Product } from '#schemas/common.ts'
import type { Tables } from '#src/database/tables.ts'

/** An advisory that a signed-in caller was given: what was asked, and what was answered. */
export interface AdvisoryRecord {
  userId: string
  /** `all` where one call answered for every product. */
  product: Product | 'all'
  kind: 'point' | 'polygon'
  countryCode: string
  /** Null for forage. */
  cropCode: string | null
  /** The codes of the releases that answered. */
  releases: string[]
  request: object
  /** The body of the answer, without the `history_id` that this is about to give it. */
  answer: object
}

/**
 * Keeps an advisory in its caller's history; answers with its public id once it is kept: whoever asks
 * from then on finds it there.
 *
 * @throws {ApiError} UNAUTHORIZED where the caller has been deleted meanwhile, OVERLOADED where too many
 * advisories wait to be kept; otherwise what the database throws
 */
export type KeepAdvisory = (record: AdvisoryRecord) => Promise<string>

/** An advisory as it is written, with its request and answer as JSON. */
export interface HistoryEntry extends Omit<AdvisoryRecord, 'request' | 'answer'> {
  id: string
  request: string
  answer: string
  /** Of request and answer. */
  bytes: number
}

/**
 * Adds advisories to their callers' histories and counts them, in one statement.
 *
 * Callers whose accounts are gone, or are just being deleted, are passed over: waiting for the deletion
 * would make all the others wait. The counts are changed in one order everywhere, so that two processes
 * never wait for each other.
 *
 * @returns the ids of those that were added
 */
export async function insertAdvisories(db: Kysely<Tables>, entries: HistoryEntry[]): Promise<Set<string>> {
  const column = <Key extends keyof HistoryEntry>(key: Key) => entries.map((entry) => entry[key])
  // No code of a release has a space in it; a list of lists would have to be rectangular.
  const releases = entries.map((entry) => entry.releases.join(' '))
  const { rows } = await sql<{ id: string }>`
    with arriving as materialized (
      select arriving.*, clock_timestamp() as created_at
      from unnest(
        ${column('id')}::uuid[], ${column('userId')}::uuid[], ${column('kind')}::text[],
        ${column('product')}::text[], ${column('countryCode')}::text[], ${column('cropCode')}::text[],
        ${releases}::text[], ${column('request')}::text[], ${column('answer')}::text[],
        ${column('bytes')}::integer[]
      ) as arriving (
        id, user_id, kind, product, country_code, crop_code, releases, request, answer, bytes
      )
    ),
    living as materialized (
      select id from app_user where id in (select user_id from arriving) for key share skip locked
    ),
    accepted as materialized (
      select arriving.* from arriving join living on living.id = arriving.user_id
    ),
    counted as (
      insert into user_usage as usage (user_id, day, product, country_code, crop_code, advisories)
      select user_id, (created_at at time zone 'UTC')::date as day, product, country_code, crop_code, count(*)
      from accepted
      group by user_id, day, product, country_code, crop_code
      order by user_id, day, product, country_code, crop_code
      on conflict (user_id, day, product, country_code, crop_code)
        do update set advisories = usage.advisories + excluded.advisories
    )
    insert into advisory_history (
      id, user_id, created_at, kind, product, country_code, crop_code, releases, request, answer, bytes
    )
    select
      id, user_id, created_at, kind, product, country_code, crop_code, string_to_array(releases, ' '),
      request::json, answer::json, bytes
    from accepted
    returning id`.execute(db)
  return new Set(rows.map(({ id }) => id))
}
