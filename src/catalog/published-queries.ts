import { type RawBuilder, sql } from 'kysely'
import type { TSchema } from 'typebox'
import type {
  CatalogBoundaries,
  CatalogRelease,
  ReleaseDescription,
  ReleaseSummary,
} from '#schemas/catalog.ts'
import type { Conditions } from '#schemas/certainty.ts'
import { findLastDay, isStale } from '#schemas/products/define.ts'
import { isoTime } from '#src/data/sql.ts'
import type { Db } from '#src/data/tables.ts'
import { roundDegrees } from '#src/lib/round.ts'
import { LOADER } from './release-queries.ts'

export async function listCrops(db: Db): Promise<{ code: string; name: string }[]> {
  return db.selectFrom('crop').select(['code', 'name']).orderBy('code').execute()
}

type CatalogGrid = CatalogRelease['grids'][number]
type ReleaseMembers = Pick<ReleaseSummary, keyof CatalogRelease & keyof ReleaseSummary>
type InRow<Release extends { lossy?: true; stale?: true }> = Omit<
  Release,
  'lossy' | 'stale' | 'load' | 'conditions'
> & {
  lossy: boolean
  load?: ReleaseSummary['load'] | null
  conditions?: Conditions | null
}

const MEMBERS = sql`
  release.code as release,
  release.product,
  release.country_code,
  release.crop_code as crop,
  to_char(release.forecast_period, 'YYYY-MM') as forecast_period,
  release.version,
  release.synthetic,
  release.lossy,
  release.valid_until,
  release.source,
  release.licence`

/** A row as answers show it. */
function shown<Release extends ReleaseMembers>({
  lossy,
  load,
  conditions,
  ...release
}: InRow<Release>): Release {
  const { forecast_period: forecastPeriod, valid_until: validUntil, synthetic } = release
  const validity = { forecastPeriod, validUntil, synthetic }
  return {
    ...release,
    ...(lossy && { lossy }),
    ...(load && { load }),
    ...(conditions && { conditions }),
    valid_until: findLastDay(validity),
    ...(isStale(validity, Date.now()) && { stale: true }),
    ...('grids' in release && {
      grids: ((release.grids ?? []) as CatalogGrid[]).map((grid) => ({
        ...grid,
        extent: grid.extent.map(roundDegrees),
      })),
    }),
  } as unknown as Release
}

/** SQL for the unit of the coordinates of `crs`; a CRS that is described by a PROJ string has no WKT to look in. */
export const CRS_UNIT = sql<string>`coalesce(
  substring(crs.srtext from '.*UNIT."([^"]+)"'),
  case when crs.proj4text like '%+units=m %' then 'metre' when crs.proj4text like '+proj=longlat%' then 'degree' end,
  'unknown'
)`

/** SQL for the whole metres between the centre of a coverage and a position in its CRS; null where there is no such CRS. */
function metresBetween(x: RawBuilder<unknown>, y: RawBuilder<unknown>): RawBuilder<unknown> {
  const longitudeAndLatitude = (x: RawBuilder<unknown>, y: RawBuilder<unknown>) =>
    sql`st_transform(st_setsrid(st_makepoint(${x}, ${y}), crs.srid), 4326)::geography`
  const center = longitudeAndLatitude(sql`center_x`, sql`center_y`)
  return sql`round(st_distance(${center}, ${longitudeAndLatitude(x, y)}))`
}

/** SQL for the grids of `release`, as `grids`: null where it has none. @param which a condition for `coverage` */
const gridsWhere = (which: RawBuilder<unknown>) => sql`(
  select jsonb_agg(
    jsonb_build_object(
      'srid', coverage.srid,
      'width', coverage.width,
      'height', coverage.height,
      'resolution', jsonb_build_object(
        'x', coverage.pixel_width,
        'y', abs(coverage.pixel_height),
        'unit', ${CRS_UNIT},
        'metres_x', ${metresBetween(sql`center_x + pixel_width`, sql`center_y`)},
        'metres_y', ${metresBetween(sql`center_x`, sql`center_y + pixel_height`)}
      ),
      'extent', jsonb_build_array(coverage.west, coverage.south, coverage.east, coverage.north)
    )
    order by coverage.id
  ) as grids
  from (
    select
      *,
      origin_x + pixel_width * width / 2 as center_x,
      origin_y + pixel_height * height / 2 as center_y
    from coverage
  ) as coverage
  left join spatial_ref_sys as crs on crs.srid = coverage.srid
  where coverage.release_id = release.id and ${which}
)`

const GRIDS = gridsWhere(sql`true`)

/** Without grids of odds alone: they do not say where a value holds. */
const GRIDS_OF_VALUES = gridsWhere(sql`exists (select from layer where coverage_id = coverage.id)`)

export async function listPublishedReleases(db: Db): Promise<CatalogRelease[]> {
  const { rows } = await sql<InRow<CatalogRelease>>`
    select
      ${MEMBERS},
      layers.inputs,
      layers.scenarios,
      release.conditions,
      layers.units,
      ranges.range,
      grids.grids,
      ${isoTime('publication.published_at')} as published_at
    from publication
    join release on release.id = publication.release_id
    cross join lateral (
      select
        coalesce(array_remove(array_agg(input order by first), null), '{}') as inputs,
        (
          select coalesce(array_agg(scenario order by first), '{}')
          from (
            select scenario, min(ordinal) as first
            from layer
            where release_id = release.id and scenario is not null
            group by scenario
          ) as by_scenario
        ) as scenarios,
        (select array_agg(distinct unit) from layer where release_id = release.id) as units
      from (
        select input, min(ordinal) as first from layer where release_id = release.id group by input
      ) as by_input
    ) as layers
    cross join lateral (
      select case when count(minimum) > 0 then jsonb_build_object(
        'min', round(min(minimum)::numeric, max(decimals)), 'max', round(max(maximum)::numeric, max(decimals))
      ) end as range
      from layer
      where release_id = release.id
    ) as ranges
    cross join lateral ${GRIDS_OF_VALUES} as grids
    order by release.product, release.country_code, release.crop_code, release.forecast_period desc`.execute(
    db,
  )
  return rows.map(shown<CatalogRelease>)
}

export async function listBoundaries(db: Db): Promise<CatalogBoundaries[]> {
  const { rows } = await sql<CatalogBoundaries>`
    select
      country_code,
      level,
      (
        select count(*) from admin_area
        where admin_area.country_code = boundary_set.country_code and admin_area.level = boundary_set.level
      ) as areas,
      approximate,
      source,
      licence,
      ${isoTime('loaded_at')} as loaded_at
    from boundary_set
    order by country_code, level`.execute(db)
  return rows
}

type State = ReleaseSummary['state']

interface ReleaseFilter {
  product: string | null
  countryCode: string | null
  /** The code or an alias, in small letters. */
  crop: string | null
  /** Null for all that are not deleted or incomplete. */
  state: State | null
  /** Whether those are among them that never were published; without them there are no incomplete ones, either. */
  withUnpublished: boolean
  /** The code after which to go on; null for the beginning. */
  after: string | null
  limit: number
}

/** SQL for what became of `release`, by its `period`. */
const STATE = sql<State>`case
  when release.status = 'loading' then 'incomplete'
  when release.status = 'deleted' then 'deleted'
  when period.times = 0 then 'unpublished'
  when period.published_to is null then 'published'
  else 'replaced'
end`

/** SQL for what has become of the load of `release`; null where it is complete. */
const LOAD = sql<ReleaseSummary['load'] | null>`case
  when release.status <> 'loading' then null
  when ${LOADER} is not null then 'running'
  when release.load_lock is null then 'unknown'
  else 'cut_off'
end`

function selectReleases(withUnpublished: boolean, more: RawBuilder<unknown> = sql``): RawBuilder<unknown> {
  return sql`
    select
      ${MEMBERS},
      ${STATE} as state,
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

export async function listReleaseRows(db: Db, filter: ReleaseFilter): Promise<ReleaseSummary[]> {
  const { product, countryCode, crop, state, withUnpublished, after, limit } = filter
  const { rows } = await sql<InRow<ReleaseSummary>>`
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
  return rows.map(shown<ReleaseSummary>)
}

/** A member of a release that an extension adds. */
export interface ReleaseMember {
  name: string
  schema: TSchema
  /** In a query on `release`. */
  value: RawBuilder<unknown>
  /** Makes of it what answers have. */
  read?(value: unknown): Promise<unknown>
}

/** @returns undefined where there is no such release that is or was complete, or it never was published and those are left out */
export async function describeRelease(
  db: Db,
  code: string,
  withUnpublished: boolean,
  members: readonly ReleaseMember[] = [],
): Promise<ReleaseDescription | undefined> {
  const added = members.map(({ name, value }) => sql`${value} as ${sql.ref(name)}`)
  const { rows } = await sql<InRow<ReleaseDescription>>`
    ${selectReleases(
      withUnpublished,
      sql`, ${sql.join([...added, sql`${PERIODS} as periods, release.conditions, ${GRIDS} as grids, ${LAYERS} as layers`])}`,
    )}
      and release.status <> 'loading' and release.code = ${code}`.execute(db)
  return rows.map(shown<ReleaseDescription>)[0]
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

/** Members of bands, without those that a band lacks. */
const LAYERS = sql`(
  select coalesce(
    json_agg(
      jsonb_build_object(
        'layer', ordinal, 'input', input, 'scenario', scenario, 'unit', unit, 'decimals', decimals, 'scale', scale,
        'offset', "offset", 'pixel_type', pixel_type, 'grid', grid, 'pixels', valid_count, 'minimum', minimum,
        'maximum', maximum, 'mean', mean
      ) || jsonb_strip_nulls(jsonb_build_object(
        'condition', condition, 'role', role, 'probability', probability,
        'range', case when range_from is not null then jsonb_build_array(range_from, range_to) end
      )) order by ordinal
    ),
    '[]'
  )
  from (
    select
      ordinal, input, scenario, condition, null as role, probability, range_from, range_to, coverage_id, unit, scale,
      "offset", decimals, pixel_type, valid_count, minimum, maximum, mean
    from layer
    where release_id = release.id
    union all
    select
      ordinal, input, scenario, condition, role, null, null, null, coverage_id, unit, scale,
      "offset", decimals, pixel_type, valid_count, minimum, maximum, mean
    from companion
    where release_id = release.id
  ) as band
  join (
    select id, row_number() over (order by id) as grid from coverage where release_id = release.id
  ) as coverage on coverage.id = band.coverage_id
)`
