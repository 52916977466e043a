import { sql } from 'kysely'
import { isObservable, type ProductDefinition, type Series } from '#schemas/products/define.ts'
import { isoTime } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import type { Exchange } from '#src/http/exchange.ts'
import type { Scorecard, Skill } from './schemas.ts'
import { describeSkill, roundSkill, type SkillSums } from './scores.ts'

/** Of the areas that skill is stored for, beside the country: finer ones have few observations. */
export const SKILL_LEVEL = 1

/** Of fewer observations nothing is said: chance alone would explain it. */
const LEAST_OBSERVATIONS = 30

interface SkillRow extends SkillSums {
  level: number
  area_code: string
  observers: number
}

/** New observations of an area, or of the country. */
export interface SkillBatch {
  sums: SkillRow
  keys: string[]
}

/** The observations that the sums of a release have: the level, a space and the key. */
export async function findCounted(db: Db, releaseId: number): Promise<Set<string>> {
  const { rows } = await sql<{ key: string }>`
    select level || ' ' || encode(key, 'hex') as key
    from skill_counted
    where release_id = ${releaseId}`.execute(db)
  return new Set(rows.map(({ key }) => key))
}

/** Adds a batch to the sums of the release. None of its keys is counted yet at its level. */
export async function addSkill(trx: Trx, releaseId: number, { sums, keys }: SkillBatch): Promise<void> {
  const { level, area_code: _, ...numbers } = sums
  const added = Object.keys(numbers).map((name) => [
    name,
    sql`skill.${sql.ref(name)} + excluded.${sql.ref(name)}`,
  ])
  await trx
    .insertInto('skill')
    .values({ release_id: releaseId, ...sums })
    .onConflict((known) =>
      known
        .columns(['release_id', 'level', 'area_code'])
        .doUpdateSet({ ...Object.fromEntries(added), kept_at: sql<Date>`now()` }),
    )
    .execute()
  await sql`
    insert into skill_counted (release_id, level, key)
    select ${releaseId}::bigint, ${level}::integer, decode(key, 'hex')
    from unnest(${keys}::text[]) as key`.execute(trx)
}

function findSums(db: Db, releaseId: number) {
  return db
    .selectFrom('skill')
    .selectAll()
    .select(isoTime('kept_at').as('keptAt'))
    .where('release_id', '=', releaseId)
    .orderBy('level')
    .orderBy(sql`area_code collate "C"`)
    .execute()
}

/** The stored sums of a release as figures: the country first. */
export async function listSkill(db: Db, releaseId: number): Promise<Scorecard['kept']> {
  const rows = await findSums(db, releaseId)
  return rows.map((row) => ({
    level: row.level,
    code: row.area_code,
    observers: row.observers,
    ...describeSkill(row),
    kept_at: row.keptAt,
  }))
}

interface PlaceSkill extends SkillSums {
  area_code: string
  first_year: number
  last_year: number
}

/** The sums of all releases of a series at a position: of its area of the first level, or else of the country. */
export async function findSkill(
  db: Db,
  { product, countryCode, cropCode }: Omit<Series, 'forecastPeriod'>,
  { longitude, latitude }: { longitude: number; latitude: number },
): Promise<PlaceSkill | undefined> {
  const { rows } = await sql<PlaceSkill>`
    select
      area_code,
      extract(year from min(forecast_period))::integer as first_year,
      extract(year from max(forecast_period))::integer as last_year,
      sum(n)::integer as n,
      sum(sum_difference) as sum_difference,
      sum(sum_absolute) as sum_absolute,
      sum(n_range)::integer as n_range,
      sum(n_within)::integer as n_within,
      sum(n_odds)::integer as n_odds,
      sum(sum_brier) as sum_brier,
      sum(sum_rps) as sum_rps,
      sum(sum_rps_climatology) as sum_rps_climatology
    from skill
    join release on release.id = skill.release_id
    -- The same harvests may be stored with several releases of a month: the last one counts.
    where not exists (
      select from release as later
      join skill as other on other.release_id = later.id
      where later.product = release.product and later.country_code = release.country_code
        and later.crop_code is not distinct from release.crop_code
        and later.forecast_period = release.forecast_period
        and not later.synthetic and later.status = 'ready' and later.version > release.version
    )
      and product = ${product} and country_code = ${countryCode}
      and crop_code is not distinct from ${cropCode}::text
      and not synthetic and status = 'ready'
      and (
        skill.level = 0
        or (
          skill.level = ${SKILL_LEVEL}::integer and area_code in (
            select area.code
            from admin_areas_at(${longitude}::float8, ${latitude}::float8) as area
            where area.country_code = ${countryCode} and area.level = ${SKILL_LEVEL}::integer
          )
        )
      )
    group by skill.level, area_code
    having sum(n) >= ${LEAST_OBSERVATIONS}::integer
    order by skill.level desc, area_code collate "C"
    limit 1`.execute(db)
  return rows[0]
}

/** A release that has answered, as far as its skill depends on it. */
interface Answering {
  countryCode: string
  cropCode: string | null
  synthetic: boolean
}

/**
 * How well such forecasts have done at the place of an answer. Null below {@link LEAST_OBSERVATIONS}, for demonstration
 * data and for products that are not observed.
 */
export async function readSkill(
  product: ProductDefinition,
  { release, position }: { release: Answering; position: { longitude: number; latitude: number } },
  exchange: Exchange,
): Promise<Skill | null> {
  const { request } = exchange
  if (release.synthetic || !isObservable(product)) return null
  const { database } = request.server
  const { countryCode, cropCode } = release
  const found = await exchange.withDatabasePermit(() =>
    findSkill(database.reader, { product: product.code, countryCode, cropCode }, position),
  )
  if (!found) return null
  const { within, rpss, ...figures } = roundSkill(found)
  const { area_code, first_year, last_year, n_range, n_odds } = found
  const years = first_year === last_year ? `${first_year}` : `${first_year} to ${last_year}`
  return {
    ...figures,
    ...(within !== null && n_range >= LEAST_OBSERVATIONS && { within }),
    ...(rpss !== null && n_odds >= LEAST_OBSERVATIONS && { rpss }),
    of: `${area_code}, ${cropCode}, ${years}`,
  }
}
