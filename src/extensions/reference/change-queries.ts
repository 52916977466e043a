import { sql } from 'kysely'
import type { Composition } from '#src/advice/quantities/queries.ts'
import {
  COUNTRIES,
  CROPS,
  findKeys,
  type ReferenceEntry,
  type ReferenceList,
  type StatedRange,
} from '#src/catalog/reference-queries.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import { listSome, OperatorError } from '#src/errors.ts'

/** As long as `admin0` of a request may be. */
const LONGEST_NAME = 100

/** The command of each list, and what a code in it looks like. */
const LISTS: Record<ReferenceList['table'], { command: string; codeForm: RegExp; codeRule: string }> = {
  country: {
    command: 'agro countries',
    codeForm: /^[a-z]{3}$/,
    codeRule: 'three small letters (ISO 3166-1 alpha-3), for example tza',
  },
  crop: {
    command: 'agro crops',
    codeForm: /^[a-z][a-z0-9-]{0,49}$/,
    codeRule:
      'small letters, digits and hyphens, begins with a letter and has at most 50, for example sweet-potato',
  },
}

/** Adds a country or a crop. @throws {OperatorError} for a malformed or taken code or name */
export async function addEntry(
  trx: Trx,
  list: ReferenceList,
  code: string,
  name: string,
): Promise<ReferenceEntry> {
  const { codeForm, codeRule } = LISTS[list.table]
  if (!codeForm.test(code)) {
    throw new OperatorError(`The code of a ${list.table} is ${codeRule}; ${JSON.stringify(code)} is not one.`)
  }
  const entry = { code, name: nameOf(list, name) }
  await lockReference(trx)
  const keys = [code, list.keyOf(entry.name)]
  refuseTaken(await findKeys(trx, list), list, keys)
  await trx.insertInto(list.table).values(entry).execute()
  await insertKeys(trx, list, code, keys)
  return entry
}

/** Gives a country or a crop another name. The one before becomes an alias. */
export async function renameEntry(
  trx: Trx,
  list: ReferenceList,
  named: string,
  newName: string,
): Promise<{ before: ReferenceEntry; after: ReferenceEntry }> {
  const name = nameOf(list, newName)
  const { keys, entry: before } = await lockEntry(trx, list, named)
  const after = { code: before.code, name }
  const others = new Map([...keys].filter(([, owner]) => owner.code !== before.code))
  refuseTaken(others, list, [list.keyOf(name)])
  await trx.updateTable(list.table).set({ name }).where('code', '=', before.code).execute()
  await insertKeys(trx, list, before.code, [list.keyOf(before.name), list.keyOf(name)])
  return { before, after }
}

/** Adds aliases. @throws {OperatorError} for a malformed or used one */
export async function addAliases(
  trx: Trx,
  list: ReferenceList,
  named: string,
  aliases: string[],
): Promise<ReferenceEntry> {
  const { keys, entry } = await lockEntry(trx, list, named)
  const added = aliases.map((alias) => list.keyOf(nameOf(list, alias)))
  refuseTaken(keys, list, added)
  await insertKeys(trx, list, entry.code, added)
  return entry
}

/** @throws {OperatorError} where one of them is no alias of the entry, or its code or name */
export async function removeAliases(
  trx: Trx,
  list: ReferenceList,
  named: string,
  aliases: string[],
): Promise<ReferenceEntry> {
  const { keys, entry } = await lockEntry(trx, list, named)
  const removed = aliases.map(list.keyOf)
  for (const key of removed) {
    if (keys.get(key)?.code !== entry.code) {
      throw new OperatorError(`${entry.code} has no alias ${JSON.stringify(key)}.`)
    }
    if (key === entry.code || key === list.keyOf(entry.name)) {
      throw new OperatorError(
        `${JSON.stringify(key)} is the code or the name of ${entry.code}, which it keeps.`,
      )
    }
  }
  await trx.deleteFrom(list.aliasTable).where('alias', 'in', removed).execute()
  return entry
}

/** @throws {OperatorError} where something still refers to it; the sentence says what */
export async function removeEntry(trx: Trx, list: ReferenceList, named: string): Promise<ReferenceEntry> {
  const { entry } = await lockEntry(trx, list, named)
  const what = await describeReferences(trx, list, entry.code)
  if (what) throw new OperatorError(`${entry.code} cannot be removed while these refer to it: ${what}.`)
  await sql`delete from ${sql.table(list.aliasTable)} where ${sql.ref(list.column)} = ${entry.code}`.execute(
    trx,
  )
  await trx.deleteFrom(list.table).where('code', '=', entry.code).execute()
  return entry
}

interface Offer {
  country: ReferenceEntry
  crop: ReferenceEntry
}

/** @throws {OperatorError} where there is no such country or crop, or it offers the crop already */
export async function offerCrop(trx: Trx, countryNamed: string, cropNamed: string): Promise<Offer> {
  const offer = await findOffer(trx, countryNamed, cropNamed)
  const { country, crop } = offer
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto('country_crop')
    .values({ country_code: country.code, crop_code: crop.code })
    .onConflict((conflict) => conflict.doNothing())
    .executeTakeFirst()
  if (numInsertedOrUpdatedRows !== 0n) return offer
  throw new OperatorError(`${country.name} offers ${crop.code} already.`, { code: 'ALREADY_THERE' })
}

/** @throws {OperatorError} where the country does not offer the crop, or has releases of it */
export async function withdrawCrop(trx: Trx, countryNamed: string, cropNamed: string): Promise<Offer> {
  const offer = await findOffer(trx, countryNamed, cropNamed)
  const { country, crop } = offer
  const releases = await trx
    .selectFrom('release')
    .select('code')
    .where('country_code', '=', country.code)
    .where('crop_code', '=', crop.code)
    .where('status', '<>', 'deleted')
    .orderBy('code')
    .execute()
  if (releases.length > 0) {
    const some = listSome(releases.map(({ code }) => code))
    throw new OperatorError(
      `${country.name} has releases of ${crop.code}, which would go on answering: delete them first (${some}).`,
    )
  }
  const { numDeletedRows } = await trx
    .deleteFrom('country_crop')
    .where('country_code', '=', country.code)
    .where('crop_code', '=', crop.code)
    .executeTakeFirst()
  if (numDeletedRows !== 0n) return offer
  throw new OperatorError(`${country.name} does not offer ${crop.code}.`)
}

async function findOffer(trx: Trx, countryNamed: string, cropNamed: string): Promise<Offer> {
  const { entry: country } = await lockEntry(trx, COUNTRIES, countryNamed)
  const { entry: crop } = await lockEntry(trx, CROPS, cropNamed)
  return { country, crop }
}

/** Operators are few: one at a time may change countries and crops. Readers are not held up. */
async function lockReference(trx: Trx): Promise<void> {
  await sql`lock table country, crop in share row exclusive mode`.execute(trx)
}

/** @param keys those that the entry has already are passed over */
async function insertKeys(trx: Trx, list: ReferenceList, code: string, keys: string[]): Promise<void> {
  await sql`
    insert into ${sql.table(list.aliasTable)} (alias, ${sql.ref(list.column)})
    select distinct key, ${code} from unnest(${keys}::text[]) as key
    on conflict (alias) do nothing`.execute(trx)
}

/** Locks the lists, and finds an entry. @throws {OperatorError} where there is none of that name */
async function lockEntry(trx: Trx, list: ReferenceList, named: string) {
  await lockReference(trx)
  const keys = await findKeys(trx, list)
  const entry = keys.get(list.keyOf(named))
  if (entry) return { keys, entry }
  throw new OperatorError(
    `There is no ${list.table} ${JSON.stringify(named)}; \`${LISTS[list.table].command} list\` shows them.`,
    { code: 'NOT_FOUND' },
  )
}

function refuseTaken(keys: Map<string, ReferenceEntry>, list: ReferenceList, wanted: string[]): void {
  for (const key of wanted) {
    const owner = keys.get(key)
    if (owner) {
      throw new OperatorError(
        `${JSON.stringify(key)} is taken: the ${list.table} ${owner.code} (${owner.name}) is found by it.`,
      )
    }
  }
}

function nameOf(list: ReferenceList, text: string): string {
  const name = text.normalize('NFC').trim()
  if (list.keyOf(name) === '' || [...name].length > LONGEST_NAME || /[\p{C}\u2028\u2029]/u.test(name)) {
    throw new OperatorError(
      `A name is one line of 1 to ${LONGEST_NAME} characters; ${JSON.stringify(text)} is not one.`,
    )
  }
  return name
}

/** That there are many is enough to know: a count of millions takes as long as it takes to read them. */
const MOST_ITEMS = 1000

/** What refers to an entry; empty for nothing. Codes of deleted releases are never given to other data. */
async function describeReferences(trx: Trx, list: ReferenceList, code: string): Promise<string> {
  const isCountry = list.table === 'country'
  const other = sql.ref(isCountry ? 'crop_code' : 'country_code')
  const names = sql`${sql.ref(list.column)} = ${code}`
  const ofSubjects = sql`select id from history_subject where country_code = ${code}`
  const template = sql`select id from answer_template`
  const items = isCountry
    ? sql`template_id in (${template} where subject_id in (${ofSubjects}))`
    : sql`(
        template_id in (${template} where crop_code = ${code})
        or (crop_code = ${code} and template_id in (${template} where pieces is null))
      )`
  const { rows } = await sql<{ offers: string[]; releases: string[]; levels: number[]; items: number }>`
    select
      array(select ${other} from country_crop where ${names} order by ${other}) as offers,
      array(select code from release where ${names} order by code) as releases,
      array(select level from boundary_set where ${isCountry} and country_code = ${code} order by level) as levels,
      (
        select count(*)::integer from (select from history_item where ${items} limit ${MOST_ITEMS}) as item
      ) as items`.execute(trx)
  return rows
    .flatMap(({ offers, releases, levels, items }) => [
      offers.length > 0 && `offers of ${isCountry ? 'crops' : 'countries'} (${listSome(offers)})`,
      releases.length > 0 && `releases, those deleted included (${listSome(releases)})`,
      levels.length > 0 && `boundaries of level ${levels.join(', ')}`,
      items > 0 && itemsText(items),
    ])
    .filter(Boolean)
    .join('; ')
}

function itemsText(items: number): string {
  if (items === 1) return '1 item of histories'
  return `${items < MOST_ITEMS ? items : `${MOST_ITEMS} or more`} items of histories`
}

/** Bounds that are null stay as they were. @returns the range as it is set now */
export async function upsertPlausibleRange(
  trx: Trx,
  { product, cropCode, minimum, maximum, largestFrom, meanTo }: StatedRange,
): Promise<StatedRange> {
  const { rows } = await sql<StatedRange>`
    insert into plausible_range as range (product, crop_code, minimum, maximum, largest_from, mean_to)
    values (${product}, ${cropCode}, ${minimum}, ${maximum}, ${largestFrom}, ${meanTo})
    on conflict (product, crop_code) do update set
      minimum = excluded.minimum,
      maximum = excluded.maximum,
      largest_from = coalesce(excluded.largest_from, range.largest_from),
      mean_to = coalesce(excluded.mean_to, range.mean_to)
    returning product, crop_code as "cropCode", minimum, maximum, largest_from as "largestFrom", mean_to as "meanTo"`.execute(
    trx,
  )
  return rows[0] as StatedRange
}

/** @returns whether there was one */
export async function deletePlausibleRange(
  trx: Trx,
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

/** Adds a composition, or replaces the one of that name, in any case. @returns whether it is new */
export async function saveComposition(db: Db, composition: Composition): Promise<boolean> {
  const removed = await deleteComposition(db, composition.name)
  await db.insertInto('input_composition').values(composition).execute()
  return !removed
}

/** @returns whether it existed */
export async function deleteComposition(db: Db, name: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('input_composition')
    .where(({ eb, fn }) => eb(fn<string>('lower', ['name']), '=', fn<string>('lower', [eb.val(name)])))
    .executeTakeFirst()
  return numDeletedRows > 0n
}
