import { type Kysely, sql } from 'kysely'
import type { Product } from '#schemas/common.ts'
import type { Tables } from '#src/database/tables.ts'

/** What a request asks for, in the catalogue's terms, wherever it asks for it. */
export interface Subject {
  product: Product
  countryCode: string
  cropCode: string | null
  /** ISO date of the first day of the month; null for the newest. */
  forecastPeriod: string | null
}

/** Decimal degrees, WGS 84. */
export interface Position {
  longitude: number
  latitude: number
}

/** What a point request asks for. */
export type PointQuery = Subject & Position

/** The values of all layers of the release that answers a request, null where a layer has none. */
export interface PointValues {
  releaseId: number
  values: (number | null)[]
}

/** The answer to a point request; undefined where nothing is published for it. */
export async function valuesAtPoint(db: Kysely<Tables>, query: PointQuery): Promise<PointValues | undefined> {
  const { product, countryCode, cropCode, forecastPeriod, longitude, latitude } = query
  const { rows } = await sql<PointValues>`
    select
      release_id as "releaseId",
      release_values(release_id, ${longitude}::float8, ${latitude}::float8) as "values"
    from published_release(${product}, ${countryCode}, ${cropCode}, ${forecastPeriod}::date) as release_id
    where release_id is not null`.execute(db)
  return rows[0]
}

/** The release that answers for a subject now; undefined where nothing is published for it. */
export async function findPublishedRelease(
  db: Kysely<Tables>,
  { product, countryCode, cropCode, forecastPeriod }: Subject,
): Promise<number | undefined> {
  const { rows } = await sql<{ releaseId: number | null }>`
    select published_release(${product}, ${countryCode}, ${cropCode}, ${forecastPeriod}::date)
      as "releaseId"`.execute(db)
  return rows[0]?.releaseId ?? undefined
}

/** The layer of an entry of an answer. */
export interface LayerLabel {
  input: string | null
  scenario: string | null
  decimals: number
}

/** What of a release stays the same for every point. */
export interface ReleaseLabels {
  code: string
  /** ISO date of the first day of the month; null for forage. */
  forecastPeriod: string | null
  layers: LayerLabel[]
}

/** The labels of a release; undefined where it has been deleted. */
export async function findReleaseLabels(
  db: Kysely<Tables>,
  releaseId: number,
): Promise<ReleaseLabels | undefined> {
  const release = await db
    .selectFrom('release')
    .select(['code', 'forecast_period as forecastPeriod'])
    .where('id', '=', releaseId)
    .where('status', '=', 'ready')
    .executeTakeFirst()
  const layers = await db
    .selectFrom('layer')
    .select(['input', 'scenario', 'decimals'])
    .where('release_id', '=', releaseId)
    .orderBy('ordinal')
    .execute()
  return release && layers.length > 0 ? { ...release, layers } : undefined
}

export interface Country {
  code: string
  name: string
  /** The crops it offers. */
  crops: string[]
}

export async function listCountries(db: Kysely<Tables>): Promise<Country[]> {
  const { rows } = await sql<Country>`
    select
      country.code,
      country.name,
      array_remove(array_agg(country_crop.crop_code order by country_crop.crop_code), null) as crops
    from country
    left join country_crop on country_crop.country_code = country.code
    group by country.code
    order by country.code`.execute(db)
  return rows
}

/** The months, newest first, for which something is published. */
export async function listPublishedPeriods(
  db: Kysely<Tables>,
  { product, countryCode, cropCode }: Subject,
): Promise<string[]> {
  const rows = await db
    .selectFrom('publication')
    .select('forecast_period as period')
    .where('product', '=', product)
    .where('country_code', '=', countryCode)
    .where('crop_code', 'is not distinct from', cropCode)
    .orderBy('forecast_period', 'desc')
    .execute()
  return rows.flatMap(({ period }) => period ?? [])
}

/** Whether boundaries of a country are loaded, and which countries each of some points lies in, by code. */
export async function countriesAround(
  db: Kysely<Tables>,
  countryCode: string,
  points: Position[],
): Promise<{ known: boolean; containing: string[][] }> {
  const { rows } = await sql<{ known: boolean; containing: string[] }>`
    select
      exists (select from boundary_set where country_code = ${countryCode}) as known,
      countries_at(longitude, latitude) as containing
    from unnest(
      ${points.map(({ longitude }) => longitude)}::float8[],
      ${points.map(({ latitude }) => latitude)}::float8[]
    ) with ordinality as point (longitude, latitude, ordinal)
    order by ordinal`.execute(db)
  return { known: rows[0]?.known ?? false, containing: rows.map(({ containing }) => containing) }
}
