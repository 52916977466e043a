import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { District } from './groups.ts'

/** What was observed at a place, and what a release says of it in each scenario. */
export interface Observation {
  lat: number
  lng: number
  observed: number
  /** The account that has told it; undefined for what is from elsewhere. */
  observer?: string
  predictions: { scenario: string | null; predicted: number }[]
}

/** So much feedback is looked at, the newest: more tells no more. */
const MOST = 50_000

/** What callers have observed where a release had answered them, and what they were answered. */
export async function listObserved(
  db: Kysely<Tables>,
  release: string,
  { code, entries, value, observed }: Pick<ProductDefinition, 'code' | 'entries' | 'value' | 'observed'>,
): Promise<Observation[]> {
  if (observed === null) return []
  const { rows } = await sql<Observation>`
    select
      (answer -> 'location' ->> 'lat')::float8 as lat,
      (answer -> 'location' ->> 'lng')::float8 as lng,
      observed,
      observer,
      (
        select coalesce(
          json_agg(json_build_object(
            'scenario', entry ->> 'scenario', 'predicted', (entry ->> ${value.key})::float8
          )),
          '[]'
        )
        from json_array_elements(entries) as entry
        where entry ->> ${value.key} is not null
      ) as predictions
    from (
      select
        item.answer,
        feedback.user_id as observer,
        (feedback.observed ->> ${observed.key})::float8 as observed,
        case json_typeof(coalesce(item.answer -> ${code} -> ${entries}, item.answer -> ${entries}))
          when 'array' then coalesce(item.answer -> ${code} -> ${entries}, item.answer -> ${entries})
          else '[]'
        end as entries
      from advisory_feedback as feedback
      join app_user on app_user.id = feedback.user_id
      join advisory_history as item on item.id = feedback.history_id and item.user_id = feedback.user_id
      where feedback.observed ->> ${observed.key} is not null and ${release} = any(item.releases)
      order by feedback.created_at desc
      limit ${MOST}::integer
    ) as told`.execute(db)
  return rows
}

/**
 * In which areas places lie, in their order: of each by its level, down to one; undefined for none. Of several of a level,
 * the one of lowest code.
 */
export async function findAreas(
  db: Kysely<Tables>,
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
