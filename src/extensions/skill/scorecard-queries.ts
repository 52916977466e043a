import { type RawBuilder, sql } from 'kysely'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Db } from '#src/data/tables.ts'
import type { Scorecard } from './schemas.ts'
import type { Judgement, Prediction, Seen } from './scores.ts'

/** Groups of fewer accounts are not shown: they would give single farmers away, and are chance. */
export const SMALLEST_GROUP = 5

export interface District {
  code: string
  name: string
}

export interface Observed {
  /** An account; each row of a file counts as one. */
  observer: string
  /** Reported by a text message: of its sender nothing is known, so it makes no group large. */
  byMessage?: boolean | undefined
  /** The areas that it lies in, by their levels from 0 on; undefined for none. */
  areas: readonly (District | undefined)[]
}

/** An observation with its place and its scores. */
export type Judged = Observed & Judgement & { key: string; predictions: readonly Prediction[] }

interface DistrictGroup<One extends Observed = Observed> {
  district: District
  observed: One[]
}

/** Whether a group has accounts enough, none of which has reported more than half of what accounts have. */
export function isLarge(observed: readonly Observed[]): boolean {
  const { accounts, total } = countByAccount(observed)
  return accounts.size >= SMALLEST_GROUP && [...accounts.values()].every((count) => 2 * count <= total)
}

/** How many observations each account has reported, and all of them. */
export function countByAccount(observed: readonly Observed[]) {
  const accounts = new Map<string, number>()
  let total = 0
  for (const { observer, byMessage } of observed) {
    if (byMessage) continue
    accounts.set(observer, (accounts.get(observer) ?? 0) + 1)
    total++
  }
  return { accounts, total }
}

/** Areas that may be shown: no difference of shown groups, also of levels above, is smaller than a group. */
export function shownAt<One extends Observed>(level: number, all: readonly One[]): DistrictGroup<One>[] {
  let parts: (readonly One[])[] = [all]
  let shown: DistrictGroup<One>[] = []
  for (let at = 0; at <= level; at++) {
    const wholes = groupsAt(at, all)
    const divided = parts.map((part) => dividePart(part, wholes, at))
    shown = divided.flatMap((part) => part.shown)
    parts = divided.flatMap((part) => [...part.shown.map(({ observed }) => observed), part.rest])
  }
  return shown
}

/** By the codes of the areas. */
export function groupsAt<One extends Observed>(
  level: number,
  all: readonly One[],
): Map<string, DistrictGroup<One>> {
  const groups = new Map<string, DistrictGroup<One>>()
  for (const one of all) {
    const district = one.areas[level]
    if (!district) continue
    const group = groups.get(district.code)
    if (group) group.observed.push(one)
    else groups.set(district.code, { district, observed: [one] })
  }
  return groups
}

function dividePart<One extends Observed>(
  part: readonly One[],
  wholes: ReadonlyMap<string, DistrictGroup<One>>,
  level: number,
) {
  const inPart = [...groupsAt(level, part).values()]
  const shown = shownAmong(
    inPart.filter(({ district, observed }) => wholes.get(district.code)?.observed.length === observed.length),
    part,
  )
  const inShown = new Set(shown.flatMap(({ observed }) => observed))
  return { shown, rest: part.filter((one) => !inShown.has(one)) }
}

/** The large ones, less those of them, the smallest first, without which the others of a part would not be large. */
function shownAmong<One extends Observed>(
  groups: readonly DistrictGroup<One>[],
  part: readonly One[],
): DistrictGroup<One>[] {
  const shown = groups
    .filter(({ observed }) => isLarge(observed))
    .sort((a, b) => countByAccount(a.observed).accounts.size - countByAccount(b.observed).accounts.size)
  const inShown = new Set(shown.flatMap(({ observed }) => observed))
  const hidden = part.filter((one) => !inShown.has(one))
  while (hidden.length > 0 && !isLarge(hidden)) {
    const smallest = shown.shift()
    if (smallest === undefined) break
    for (const one of smallest.observed) hidden.push(one)
  }
  return shown
}

export interface Observation extends Seen {
  lat: number
  lng: number
  /** The account of the feedback, or the hash of a sender; undefined for observations from files. */
  observer?: string
  byMessage?: boolean
  /** The same for all reports on an answer, on a place by a sender, or by a row of a file: a hash in hexadecimal. */
  key: string
  predictions: Prediction[]
}

/** So many harvests are looked at, the newest of each account, then the second: those of one displace no others. */
const MOST = sql.lit(50_000)

/**
 * Public sums have what was reported before a month (UTC) began, by accounts that were a month old then and have confirmed
 * their e-mail: so no new accounts, and no chosen moment, show what somebody else has reported.
 */
const MONTH_BEGAN = sql`date_trunc('month', now() at time zone 'UTC') at time zone 'UTC'`

/** Places of one sender that count. */
const MOST_OF_SENDER = sql.lit(5)

/**
 * The harvests that were reported on a release, the newest first: of accounts, and by message one of a sender and place.
 *
 * @param releaseId for those alone that may be stored, and are not counted yet in the country or in their area
 */
export async function listObserved(
  db: Db,
  release: string,
  { code, entries, value, observed }: Pick<ProductDefinition, 'code' | 'entries' | 'value' | 'observed'>,
  releaseId?: number,
): Promise<Observation[]> {
  if (observed === null) return []
  const counted = sql`select count(*) from skill_counted where release_id = ${releaseId} and skill_counted.key = report.key`
  const isWanted = releaseId === undefined ? sql`true` : sql`is_settled and 2 > (${counted})`
  const { rows } = await sql<Observation>`
    with report as (
      select
        item.answer, feedback.user_id::text as observer, feedback.observed, feedback.created_at as told_at,
        false as by_message,
        sha256(feedback.history_id::text::bytea) as key,
        feedback.updated_at < ${MONTH_BEGAN} and app_user.email_confirmed
          and app_user.created_at < ${MONTH_BEGAN} - interval '1 month' as is_settled
      from advisory_feedback as feedback
      join app_user on app_user.id = feedback.user_id
      join advisory_history as item on item.id = feedback.history_id and item.user_id = feedback.user_id
      where feedback.observed ->> ${observed.key} is not null and ${release} = any(item.releases)
      union all
      select
        answer, encode(sender, 'hex'), observed, told_at, true,
        sha256(
          sender || concat_ws(' ', answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng')::bytea
        ),
        told_at < ${MONTH_BEGAN}
      from ${reportedByMessage(release, sql`observed ->> ${observed.key} is not null`)} as of_messages
    ),
    ranked as (
      select *, row_number() over (partition by observer order by told_at desc) as ordinal
      from report
      where ${isWanted}
      order by by_message, ordinal, told_at desc
      limit ${MOST}
    )
    select
      (answer -> 'location' ->> 'lat')::float8 as lat,
      (answer -> 'location' ->> 'lng')::float8 as lng,
      (observed ->> ${observed.key})::float8 as observed,
      observer,
      by_message as "byMessage",
      encode(key, 'hex') as key,
      (
        select coalesce(
          json_agg(json_build_object(
            'scenario', entry ->> 'scenario', 'predicted', (entry ->> ${value.key})::float8,
            'probability', (entry ->> 'probability')::float8, 'range', entry -> 'range',
            'condition', entry ->> 'condition'
          )),
          '[]'
        )
        from json_array_elements(
          case json_typeof(coalesce(answer -> ${code} -> ${entries}, answer -> ${entries}))
            when 'array' then coalesce(answer -> ${code} -> ${entries}, answer -> ${entries})
            else '[]'
          end
        ) as entry
        where entry ->> ${value.key} is not null
      ) as predictions
    from ranked
    order by told_at desc`.execute(db)
  return rows
}

/** What senders have reported on a release: the newest of a sender and place, and some places of a sender. */
function reportedByMessage(release: string, isWanted: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`(
    select *
    from (
      select *, row_number() over (partition by sender order by told_at desc) as ordinal
      from (
        select distinct on (sender, answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng') *
        from message
        where releases @> array[${release}::text] and told_at is not null and ${isWanted}
        order by sender, answer -> 'location' ->> 'lat', answer -> 'location' ->> 'lng', told_at desc
      ) as of_places
    ) as of_senders
    where ordinal <= ${MOST_OF_SENDER}
  )`
}

/** How senders of messages have rated answers of a release, from 1 to 5. */
export async function rateByMessages(db: Db, release: string): Promise<Scorecard['message_ratings']> {
  const { rows } = await sql<Scorecard['message_ratings']>`
    select
      count(*)::integer as count,
      case when count(distinct sender) >= ${SMALLEST_GROUP}::integer then avg(rating)::float8 end as mean
    from ${reportedByMessage(release, sql`rating is not null`)} as report`.execute(db)
  return rows[0] as Scorecard['message_ratings']
}

/** The areas of places by level; of several of a level the one of lowest code. */
export async function findAreas(
  db: Db,
  countryCode: string,
  level: number,
  places: readonly { lat: number; lng: number }[],
): Promise<(District | undefined)[][]> {
  const { rows } = await sql<{ areas: Record<number, District> }>`
    select (
      select coalesce(json_object_agg(level, district), '{}')
      from (
        select distinct on (area.level)
          area.level, json_build_object('code', area.code, 'name', area.name) as district
        from admin_areas_at(place.longitude, place.latitude) as area
        where area.country_code = ${countryCode} and area.level <= ${level}::integer
        order by area.level, area.code
      ) as of_level
    ) as areas
    from unnest(${places.map(({ lng }) => lng)}::float8[], ${places.map(({ lat }) => lat)}::float8[])
      with ordinality as place (longitude, latitude, ordinal)
    order by ordinal`.execute(db)
  return rows.map(({ areas }) => Array.from({ length: level + 1 }, (_, at) => areas[at]))
}
