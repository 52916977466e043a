import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { LOAD_STATES, ReleasesQuery } from '#schemas/releases.ts'
import type { Tables } from '#src/database/tables.ts'
import { isoTime } from '#src/database/time.ts'
import { LOADER } from '#src/domains/releases/queries.ts'
import { isStale, lastDayOf } from '#src/products/season.ts'
import { type CatalogGrid, GRIDS, withRoundedExtent } from './queries.ts'

export type ReleaseStateName = NonNullable<ReleasesQuery['state']>

/** What is known of a release. Times are ISO times. */
export interface KnownRelease {
  release: string
  product: string
  country_code: string
  crop: string | null
  forecast_period: string | null
  version: number
  state: ReleaseStateName
  synthetic: boolean
  /** Where a compression may have changed its values. */
  lossy?: true
  valid_until: string | null
  /** Where its season is over. */
  stale?: true
  source: string
  licence: string
  checksum: string
  loaded_at: string
  published_from: string | null
  published_to: string | null
  deleted_at: string | null
  /** Of one that is incomplete. */
  load?: (typeof LOAD_STATES)[number]
}

/** The same with what a complete release has more. */
export interface DescribedRelease extends KnownRelease {
  periods: { from: string; to: string | null }[]
  grids: CatalogGrid[]
  layers: object[]
}

export interface ReleaseFilter {
  product: string | null
  countryCode: string | null
  /** The code or an alias, in small letters. */
  crop: string | null
  /** Null for all that are not deleted or incomplete. */
  state: ReleaseStateName | null
  /** Whether those are among them that never were published; without them there are no incomplete ones, either. */
  withUnpublished: boolean
  /** The code after which to go on; null for the beginning. */
  after: string | null
  limit: number
}

type InRow<Release extends KnownRelease> = Omit<Release, 'lossy' | 'stale' | 'load'> & {
  lossy: boolean
  load: KnownRelease['load'] | null
}

/** SQL for what became of `release`, by its `period`. */
const STATE = sql<ReleaseStateName>`case
  when release.status = 'loading' then 'incomplete'
  when release.status = 'deleted' then 'deleted'
  when period.times = 0 then 'unpublished'
  when period.published_to is null then 'published'
  else 'replaced'
end`

/** SQL for what has become of the load of `release`; null where it is complete. */
const LOAD = sql<KnownRelease['load'] | null>`case
  when release.status <> 'loading' then null
  when ${LOADER} is not null then 'running'
  when release.load_lock is null then 'unknown'
  else 'cut_off'
end`

/** SQL for releases, with what is said of each. */
function selectReleases(withUnpublished: boolean, more: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  return sql`
    select
      release.code as release,
      release.product,
      release.country_code,
      release.crop_code as crop,
      to_char(release.forecast_period, 'YYYY-MM') as forecast_period,
      release.version,
      ${STATE} as state,
      release.synthetic,
      release.lossy,
      release.valid_until,
      release.source,
      release.licence,
      release.checksum,
      ${isoTime('release.created_at')} as loaded_at,
      ${isoTime('period.published_from')} as published_from,
      ${isoTime('period.published_to')} as published_to,
      ${isoTime('release.deleted_at')} as deleted_at,
      ${LOAD} as load
      ${more}
    from release
    cross join lateral (
      select
        count(*) as times,
        min(published_from) as published_from,
        case when count(*) = count(published_to) then max(published_to) end as published_to
      from release_period
      where release_id = release.id
    ) as period
    where (period.times > 0 or ${withUnpublished}::boolean)`
}

/** Releases in the order of their codes. */
export async function listKnownReleases(db: Kysely<Tables>, filter: ReleaseFilter): Promise<KnownRelease[]> {
  const { product, countryCode, crop, state, withUnpublished, after, limit } = filter
  const { rows } = await sql<InRow<KnownRelease>>`
    ${selectReleases(withUnpublished)}
      and (${product}::text is null or release.product = ${product})
      and (${countryCode}::text is null or release.country_code = ${countryCode})
      and (
        ${crop}::text is null
        or release.crop_code = coalesce((select crop_code from crop_alias where alias = ${crop}), ${crop})
      )
      and case when ${state}::text is null then release.status = 'ready' else ${STATE} = ${state} end
      and (${after}::text is null or release.code collate "C" > ${after})
    order by release.code collate "C"
    limit ${limit}`.execute(db)
  return rows.map(shown)
}

/** @returns undefined where there is no such release that is or was complete, or it never was published and those are left out */
export async function describeRelease(
  db: Kysely<Tables>,
  code: string,
  withUnpublished: boolean,
): Promise<DescribedRelease | undefined> {
  const { rows } = await sql<InRow<DescribedRelease>>`
    ${selectReleases(withUnpublished, sql`, ${PERIODS} as periods, ${GRIDS} as grids, ${LAYERS} as layers`)}
      and release.status <> 'loading' and release.code = ${code}`.execute(db)
  const [row] = rows
  return row && { ...shown(row), grids: (row.grids ?? []).map(withRoundedExtent) }
}

const PERIODS = sql`(
  select coalesce(
    jsonb_agg(
      jsonb_build_object('from', ${isoTime('published_from')}, 'to', ${isoTime('published_to')})
      order by published_from, id
    ),
    '[]'
  )
  from release_period
  where release_id = release.id
)`

const LAYERS = sql`(
  select coalesce(
    json_agg(
      json_build_object(
        'layer', ordinal, 'input', input, 'scenario', scenario, 'unit', unit, 'decimals', decimals, 'scale', scale,
        'offset', "offset", 'pixel_type', pixel_type, 'grid', grid, 'pixels', valid_count, 'minimum', minimum,
        'maximum', maximum, 'mean', mean
      ) order by ordinal
    ),
    '[]'
  )
  from layer
  join (
    select id, row_number() over (order by id) as grid from coverage where release_id = release.id
  ) as coverage on coverage.id = layer.coverage_id
  where layer.release_id = release.id
)`

function shown<Release extends KnownRelease>({ lossy, load, ...release }: InRow<Release>): Release {
  const { forecast_period: forecastPeriod, valid_until: validUntil, synthetic } = release
  const validity = { forecastPeriod, validUntil, synthetic }
  return {
    ...release,
    ...(lossy && { lossy }),
    ...(load && { load }),
    valid_until: lastDayOf(validity),
    ...(isStale(validity, Date.now()) && { stale: true }),
  } as unknown as Release
}
