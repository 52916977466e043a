import { sql } from 'kysely'
import type { Db } from '#src/data/tables.ts'
import { nameKey, wordKey } from '#src/lib/names.ts'

/** A list that operators keep, and its tables. */
export interface ReferenceList {
  table: 'country' | 'crop'
  aliasTable: 'country_alias' | 'crop_alias'
  /** Names the entry, in the table of its aliases and wherever else it is referred to. */
  column: 'country_code' | 'crop_code'
  /** What a code, a name or an alias is looked up by. */
  keyOf(name: string): string
}

export const COUNTRIES: ReferenceList = {
  table: 'country',
  aliasTable: 'country_alias',
  column: 'country_code',
  keyOf: nameKey,
}

export const CROPS: ReferenceList = {
  table: 'crop',
  aliasTable: 'crop_alias',
  column: 'crop_code',
  keyOf: wordKey,
}

export interface ReferenceEntry {
  code: string
  name: string
}

/** West, south, east and north, decimal degrees. */
type Extent = [west: number, south: number, east: number, north: number]

/** Where a country lies, as far as its areas or the operator say. */
export interface CountryExtent extends ReferenceEntry {
  /** The extent of its outline, or else the stated one; null without both. */
  extent: Extent | null
  stated: Extent | null
}

/** The countries in the order of their codes. */
export async function listCountryExtents(db: Db): Promise<CountryExtent[]> {
  const { rows } = await sql<CountryExtent>`
    select
      country.code,
      country.name,
      coalesce(
        case when outline.id is not null
          then json_build_array(outline.west, outline.south, outline.east, outline.north)
        end,
        stated.extent
      ) as extent,
      stated.extent as stated
    from country
    left join admin_area as outline on outline.country_code = country.code and outline.level = 0
    cross join lateral (
      select case when country.west is not null
        then json_build_array(country.west, country.south, country.east, country.north)
      end as extent
    ) as stated
    order by country.code`.execute(db)
  return rows
}

/** The countries in the order in which documents list them: that in which they were added. */
export async function listCountryNames(db: Db): Promise<ReferenceEntry[]> {
  return db.selectFrom('country').select(['code', 'name']).orderBy('ordinal').orderBy('code').execute()
}

export interface CountryEntry extends ReferenceEntry {
  /** What else it is found by, in lower case and without accents. */
  aliases: string[]
  /** Codes of the crops it offers. */
  crops: string[]
  /** The levels that have areas. */
  levels: number[]
  extent: Extent | null
}

export async function listCountryEntries(db: Db): Promise<CountryEntry[]> {
  const extents = await listCountryExtents(db)
  const { rows } = await sql<Omit<CountryEntry, 'extent'>>`
    select
      code,
      name,
      array(select alias from country_alias where country_code = code order by alias) as aliases,
      array(select crop_code from country_crop where country_code = code order by crop_code) as crops,
      array(select distinct level from admin_area where country_code = country.code order by level) as levels
    from country
    order by code`.execute(db)
  return rows.map((row) => ({
    ...row,
    aliases: withoutOwn(COUNTRIES, row),
    extent: extents.find(({ code }) => code === row.code)?.extent ?? null,
  }))
}

export interface CropEntry extends ReferenceEntry {
  /** What else it is found by, in lower case. */
  aliases: string[]
  /** Codes of the countries that offer it. */
  countries: string[]
}

export async function listCropEntries(db: Db): Promise<CropEntry[]> {
  const { rows } = await sql<CropEntry>`
    select
      code,
      name,
      array(select alias from crop_alias where crop_code = code order by alias) as aliases,
      array(select country_code from country_crop where crop_code = code order by country_code) as countries
    from crop
    order by code`.execute(db)
  return rows.map((row) => ({ ...row, aliases: withoutOwn(CROPS, row) }))
}

/** The aliases that are neither the code nor the name. */
function withoutOwn(
  list: ReferenceList,
  { code, name, aliases }: ReferenceEntry & { aliases: string[] },
): string[] {
  return aliases.filter((alias) => alias !== code && alias !== list.keyOf(name))
}

/** What the entries of a list are found by: keys of codes, names and aliases, and whose they are. */
export async function findKeys(db: Db, list: ReferenceList): Promise<Map<string, ReferenceEntry>> {
  const { rows } = await sql<ReferenceEntry & { aliases: string[] }>`
    select
      code,
      name,
      array(select alias from ${sql.table(list.aliasTable)} where ${sql.ref(list.column)} = code) as aliases
    from ${sql.table(list.table)}
    order by code`.execute(db)
  // Rows that were written by SQL may lack the aliases of the code and the name.
  return new Map(
    rows.flatMap(({ code, name, aliases }) =>
      [...aliases, list.keyOf(name), code].map((key) => [key, { code, name }] as const),
    ),
  )
}

export interface Country extends ReferenceEntry {
  /** The crops it offers. */
  crops: string[]
}

export async function listCountries(db: Db): Promise<Country[]> {
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

/** What a crop may be called by, in lower case, and the code that it stands for. */
export interface CropAlias {
  alias: string
  code: string
}

export async function listCropAliases(db: Db): Promise<CropAlias[]> {
  return db.selectFrom('crop_alias').select(['alias', 'crop_code as code']).orderBy('alias').execute()
}

/** Between which values of a product are plausible, as an operator has said: for a crop, or for all that are not named. */
export interface StatedRange {
  product: string
  /** Null for all crops that have no range of their own. */
  cropCode: string | null
  /** In the product's unit. */
  minimum: number
  maximum: number
  /** Null for that of the product. */
  largestFrom: number | null
  meanTo: number | null
}

const selectRanges = (db: Db) =>
  db
    .selectFrom('plausible_range')
    .select(['product', 'crop_code as cropCode', 'minimum', 'maximum'])
    .select(['largest_from as largestFrom', 'mean_to as meanTo'])

/** All that operators have said, by product and crop. */
export async function listPlausibleRanges(db: Db): Promise<StatedRange[]> {
  return selectRanges(db)
    .orderBy('product')
    .orderBy('crop_code', (order) => order.asc().nullsFirst())
    .execute()
}

/** What an operator has said of a product and crop, or else of the product. */
export async function findPlausibleRange(
  db: Db,
  product: string,
  cropCode: string | null,
): Promise<StatedRange | undefined> {
  return selectRanges(db)
    .where('product', '=', product)
    .where((where) => where.or([where('crop_code', 'is', null), where('crop_code', '=', cropCode)]))
    .orderBy('crop_code', (order) => order.asc().nullsLast())
    .limit(1)
    .executeTakeFirst()
}
