import { type Kysely, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { nameKey, wordKey } from '#src/lib/names.ts'

/** A list that operators keep: its tables, and how they speak of it. */
export interface ReferenceList {
  table: 'country' | 'crop'
  aliasTable: 'country_alias' | 'crop_alias'
  /** Names the entry, in the table of its aliases and wherever else it is referred to. */
  column: 'country_code' | 'crop_code'
  /** The command that changes it. */
  command: string
  codeForm: RegExp
  codeRule: string
  /** What a code, a name or an alias is looked up by. */
  keyOf(name: string): string
}

export const COUNTRIES: ReferenceList = {
  table: 'country',
  aliasTable: 'country_alias',
  column: 'country_code',
  command: 'agro countries',
  codeForm: /^[a-z]{3}$/,
  codeRule: 'three small letters (ISO 3166-1 alpha-3), for example tza',
  keyOf: nameKey,
}

export const CROPS: ReferenceList = {
  table: 'crop',
  aliasTable: 'crop_alias',
  column: 'crop_code',
  command: 'agro crops',
  codeForm: /^[a-z][a-z0-9-]{0,49}$/,
  codeRule:
    'small letters, digits and hyphens, begins with a letter and has at most 50, for example sweet-potato',
  keyOf: wordKey,
}

/** What an entry of either list has. */
export interface ReferenceEntry {
  code: string
  name: string
}

/** West, south, east and north, decimal degrees. */
type Extent = [west: number, south: number, east: number, north: number]

/** Where a country lies, as far as that is known. */
export interface CountryExtent extends ReferenceEntry {
  /** The extent of its outline, or else the stated one; null without both. */
  extent: Extent | null
  stated: Extent | null
}

/** The countries in the order of their codes. */
export async function listCountryExtents(db: Kysely<Tables>): Promise<CountryExtent[]> {
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
export async function listCountryNames(db: Kysely<Tables>): Promise<ReferenceEntry[]> {
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

export async function listCountryEntries(db: Kysely<Tables>): Promise<CountryEntry[]> {
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

export async function listCropEntries(db: Kysely<Tables>): Promise<CropEntry[]> {
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
export async function findKeys(
  db: Kysely<Tables>,
  list: ReferenceList,
): Promise<Map<string, ReferenceEntry>> {
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

/** The countries by what each is found by: code, name and aliases, as `nameKey` gives them. */
export function findCountryKeys(db: Kysely<Tables>): Promise<Map<string, ReferenceEntry>> {
  return findKeys(db, COUNTRIES)
}

/** Operators are few: one at a time may change countries and crops. Readers are not held up. */
export async function lockReference(trx: Transaction<Tables>): Promise<void> {
  await sql`lock table country, crop in share row exclusive mode`.execute(trx)
}

export async function insertEntry(
  trx: Transaction<Tables>,
  list: ReferenceList,
  { code, name }: ReferenceEntry,
): Promise<void> {
  await trx.insertInto(list.table).values({ code, name }).execute()
}

export async function updateName(
  trx: Transaction<Tables>,
  list: ReferenceList,
  { code, name }: ReferenceEntry,
): Promise<void> {
  await trx.updateTable(list.table).set({ name }).where('code', '=', code).execute()
}

/** @param keys those that the entry has already are passed over */
export async function insertKeys(
  trx: Transaction<Tables>,
  list: ReferenceList,
  code: string,
  keys: string[],
): Promise<void> {
  await sql`
    insert into ${sql.table(list.aliasTable)} (alias, ${sql.ref(list.column)})
    select distinct key, ${code} from unnest(${keys}::text[]) as key
    on conflict (alias) do nothing`.execute(trx)
}

export async function deleteReferenceKeys(
  trx: Transaction<Tables>,
  list: ReferenceList,
  keys: string[],
): Promise<void> {
  await trx.deleteFrom(list.aliasTable).where('alias', 'in', keys).execute()
}

export async function deleteEntry(
  trx: Transaction<Tables>,
  list: ReferenceList,
  code: string,
): Promise<void> {
  await sql`delete from ${sql.table(list.aliasTable)} where ${sql.ref(list.column)} = ${code}`.execute(trx)
  await trx.deleteFrom(list.table).where('code', '=', code).execute()
}

/** What of the database names an entry. */
export interface References {
  /** The other codes of the offers it is part of. */
  offers: string[]
  /** Codes of releases, those of deleted ones included, which are never given to other data. */
  releases: string[]
  /** Levels of boundaries, of a country. */
  levels: number[]
  /** Items of histories, as far as {@link MOST_ITEMS} are counted. */
  historyItems: number
}

/** That there are many is enough to know: a count of millions takes as long as it takes to read them. */
export const MOST_ITEMS = 1000

export async function findReferences(
  db: Kysely<Tables>,
  list: ReferenceList,
  code: string,
): Promise<References> {
  const other = sql.ref(list.table === 'country' ? 'crop_code' : 'country_code')
  const levels =
    list.table === 'country'
      ? sql`array(select level from boundary_set where country_code = ${code} order by level)`
      : sql`'{}'::integer[]`
  const names = sql`${sql.ref(list.column)} = ${code}`
  const { rows } = await sql<Omit<References, 'historyItems'>>`
    select
      array(select ${other} from country_crop where ${names} order by ${other}) as offers,
      array(select code from release where ${names} order by code) as releases,
      ${levels} as levels`.execute(db)
  const historyItems = await countItemsNaming(db, list.column, code, MOST_ITEMS)
  return { ...(rows[0] as Omit<References, 'historyItems'>), historyItems }
}

/** @returns whether it was not offered before */
export async function insertOffer(
  trx: Transaction<Tables>,
  countryCode: string,
  cropCode: string,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('country_crop')
    .values({ country_code: countryCode, crop_code: cropCode })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  return numInsertedOrUpdatedRows !== 0n
}

/** @returns whether it was offered before */
export async function deleteOffer(
  trx: Transaction<Tables>,
  countryCode: string,
  cropCode: string,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('country_crop')
    .where('country_code', '=', countryCode)
    .where('crop_code', '=', cropCode)
    .executeTakeFirst()
  return numDeletedRows !== 0n
}

/** The codes of the releases of a crop in a country that have their data. */
export async function listCropReleases(
  db: Kysely<Tables>,
  countryCode: string,
  cropCode: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('release')
    .select('code')
    .where('country_code', '=', countryCode)
    .where('crop_code', '=', cropCode)
    .where('status', '<>', 'deleted')
    .orderBy('code')
    .execute()
  return rows.map(({ code }) => code)
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

/** What a crop may be called by, in lower case, and the code that it stands for. */
export interface CropAlias {
  alias: string
  code: string
}

export async function listCropAliases(db: Kysely<Tables>): Promise<CropAlias[]> {
  return db.selectFrom('crop_alias').select(['alias', 'crop_code as code']).orderBy('alias').execute()
}

/**
 * Counts the items of all histories that name a country or a crop.
 *
 * @param most so many are counted; where there are none of what a template names, no item is looked at
 */
async function countItemsNaming(
  db: Kysely<Tables>,
  column: 'country_code' | 'crop_code',
  code: string,
  most: number,
): Promise<number> {
  const template = sql`select id from answer_template`
  const ofTemplates =
    column === 'country_code'
      ? sql`template_id in (
          ${template} where subject_id in (select id from history_subject where country_code = ${code})
        )`
      : sql`(
          template_id in (${template} where crop_code = ${code})
          or (crop_code = ${code} and template_id in (${template} where pieces is null))
        )`
  const { rows } = await sql<{ items: number }>`
    select count(*) as items from (
      select from history_item where ${ofTemplates} limit ${most}
    ) as item`.execute(db)
  return rows[0]?.items ?? 0
}

/** Between which values of a product are plausible, as an operator has said: for a crop, or for all that are not named. */
export interface StatedRange {
  product: string
  /** Null for all crops that have no range of their own. */
  cropCode: string | null
  /** In the product's unit. */
  minimum: number
  maximum: number
}

const selectRanges = (db: Kysely<Tables>) =>
  db.selectFrom('plausible_range').select(['product', 'crop_code as cropCode', 'minimum', 'maximum'])

/** All that operators have said, by product and crop. */
export async function listPlausibleRanges(db: Kysely<Tables>): Promise<StatedRange[]> {
  return selectRanges(db)
    .orderBy('product')
    .orderBy('crop_code', (order) => order.asc().nullsFirst())
    .execute()
}

/** What an operator has said of a product and crop, or else of the product. */
export async function findPlausibleRange(
  db: Kysely<Tables>,
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

export async function upsertPlausibleRange(
  trx: Transaction<Tables>,
  { product, cropCode, minimum, maximum }: StatedRange,
): Promise<void> {
  await sql`
    insert into plausible_range (product, crop_code, minimum, maximum)
    values (${product}, ${cropCode}, ${minimum}, ${maximum})
    on conflict (product, crop_code) do update set minimum = excluded.minimum, maximum = excluded.maximum`.execute(
    trx,
  )
}

/** @returns whether there was one */
export async function deletePlausibleRange(
  trx: Transaction<Tables>,
  product: string,
  cropCode: string | null,
): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('plausible_range')
    .where('product', '=', product)
    .where('crop_code', 'is not distinct from', cropCode)
    .executeTakeFirst()
  return numDeletedRows !== 0n
}
