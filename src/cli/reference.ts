import { Command } from 'commander'
import type { Kysely, Transaction } from 'kysely'
import { ofSeasonless } from '#schemas/product.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import {
  addAliases,
  addEntry,
  offerCrop,
  removeAliases,
  removeEntry,
  renameEntry,
  withdrawCrop,
} from '#src/catalog/reference-changes.ts'
import {
  COUNTRIES,
  type CountryEntry,
  CROPS,
  type CropEntry,
  listCountryEntries,
  listCropEntries,
  type ReferenceList,
} from '#src/catalog/reference-queries.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { table } from './table.ts'
import {
  type Consent,
  confirm,
  JSON_OPTION,
  type Output,
  print,
  withExamples,
  YES_OPTION,
} from './terminal.ts'

export interface ReferenceGroup {
  list: ReferenceList
  command: 'countries' | 'crops'
  /** Shown in the help. */
  example: { code: string; name: string; otherName: string }
}

export function listCommand<Row>(
  { command }: ReferenceGroup,
  description: string,
  list: (db: Kysely<Tables>) => Promise<Row[]>,
  textOf: (rows: Row[]) => string,
): Command {
  const listing = new Command('list')
    .description(description)
    .option(...JSON_OPTION)
    .action((output: Output) =>
      lookInDatabase(async ({ writer }) => {
        const rows = await list(writer)
        print(output, rows, textOf(rows))
      }),
    )
  return withExamples(listing, `agro ${command} list`, `agro ${command} list --json`)
}

/** Countries and crops have the same commands. */
export function changeCommands({ list, command, example }: ReferenceGroup): Command[] {
  const what = list.table
  const { code, name, otherName } = example
  const add = changing(`add <code> <name>`, `Add a ${what}.`, `agro ${command} add ${code} ${name}`)
  add.action((newCode: string, newName: string, output: Output) =>
    change(
      output,
      (trx) => addEntry(trx, list, newCode, newName),
      (entry) => `${entry.code} is added as ${entry.name}.`,
    ),
  )

  const rename = changing(
    `rename <${what}> <name>`,
    `Give a ${what} another name. It is still found by the one before.`,
    `agro ${command} rename ${code} ${otherName}`,
  )
  rename.action((named: string, newName: string, output: Output) =>
    change(
      output,
      (trx) => renameEntry(trx, list, named, newName),
      ({ before, after }) => `${after.code} is called ${after.name} now, and no more ${before.name}.`,
    ),
  )

  const alias = changing(
    `alias <${what}> <alias...>`,
    `Add names by which a ${what} is found as well.`,
    `agro ${command} alias ${code} ${otherName}`,
    `agro ${command} alias --remove ${code} ${otherName}`,
  ).option('--remove', 'remove them instead')
  alias.action((named: string, aliases: string[], output: Output & { remove?: boolean }) =>
    change(
      output,
      (trx) => (output.remove ? removeAliases : addAliases)(trx, list, named, aliases),
      (entry) =>
        `${entry.code} is ${output.remove ? 'no longer' : 'now also'} found by ${aliases.join(', ')}.`,
    ),
  )

  const remove = changing(
    `remove <${what}>`,
    `Remove a ${what} that nothing refers to.`,
    `agro ${command} remove ${code}`,
  ).option(...YES_OPTION)
  remove.action(async (named: string, output: Output & Consent) => {
    await confirm(`This removes the ${what} ${named} with its names`, output)
    await change(
      output,
      (trx) => removeEntry(trx, list, named),
      (entry) => `${entry.code} is removed.`,
    )
  })
  return [add, rename, alias, remove]
}

export function offerCommands({ command }: ReferenceGroup): Command[] {
  const offer = changing(
    'offer <country> <crop>',
    'Offer a crop in a country: releases of it can be loaded.',
    `agro ${command} offer ken maize`,
  )
  offer.action((country: string, crop: string, output: Output) =>
    change(
      output,
      (trx) => offerCrop(trx, country, crop),
      (made) => `${made.country.name} offers ${made.crop.code} now.`,
    ),
  )
  const withdraw = changing(
    'withdraw <country> <crop>',
    'Offer a crop in a country no more; it must have no releases.',
    `agro ${command} withdraw ken maize`,
  )
  withdraw.action((country: string, crop: string, output: Output) =>
    change(
      output,
      (trx) => withdrawCrop(trx, country, crop),
      (made) => `${made.country.name} offers ${made.crop.code} no more.`,
    ),
  )
  return [offer, withdraw]
}

function changing(usage: string, description: string, ...examples: string[]): Command {
  const command = new Command(usage.slice(0, usage.indexOf(' ')))
    .arguments(usage.slice(usage.indexOf(' ') + 1))
    .description(description)
    .option(...JSON_OPTION)
  return withExamples(command, ...examples)
}

function change<Result>(
  output: Output,
  work: (trx: Transaction<Tables>) => Promise<Result>,
  textOf: (result: Result) => string,
): Promise<void> {
  return withDatabase(async ({ writer }) => {
    const result = await inTransaction(writer, async (trx) => {
      const done = await work(trx)
      await recordOperation(trx, { kind: 'reference_changed', detail: { change: textOf(done) } })
      return done
    })
    print(output, result, textOf(result))
  })
}

export const countriesCommand = new Command('countries').description(
  'List, add, rename and remove countries, and set the crops of each.',
)

const COUNTRY: ReferenceGroup = {
  list: COUNTRIES,
  command: 'countries',
  example: { code: 'tza', name: 'Tanzania', otherName: 'Tanganyika' },
}
const COUNTRY_COMMANDS = [
  listCommand(COUNTRY, 'List all countries, and what there is of them.', listCountryEntries, countriesText),
  ...changeCommands(COUNTRY),
  ...offerCommands(COUNTRY),
]
for (const command of COUNTRY_COMMANDS) countriesCommand.addCommand(command)

function countriesText(countries: CountryEntry[]): string {
  if (countries.length === 0) return 'There are no countries.'
  const rows = countries.map(({ code, name, crops, levels, aliases }) => [
    code,
    name,
    crops.join(', ') || `none${ofSeasonless(PRODUCTS.list, (names) => `, only ${names}`)}`,
    levels.join(', ') || 'none',
    aliases.join(', '),
  ])
  return table(['CODE', 'NAME', 'CROPS', 'BOUNDARIES', 'ALSO FOUND BY'], rows)
}

export const cropsCommand = new Command('crops').description(
  'List, add, rename and remove crops, and set the countries of each.',
)

const CROP: ReferenceGroup = {
  list: CROPS,
  command: 'crops',
  example: { code: 'maize', name: 'Maize', otherName: 'Corn' },
}
const CROP_COMMANDS = [
  listCommand(CROP, 'List all crops, and which countries offer them.', listCropEntries, cropsText),
  ...changeCommands(CROP),
  ...offerCommands(CROP),
]
for (const command of CROP_COMMANDS) cropsCommand.addCommand(command)

function cropsText(crops: CropEntry[]): string {
  if (crops.length === 0) return 'There are no crops.'
  const rows = crops.map(({ code, name, countries, aliases }) => [
    code,
    name,
    countries.join(', ') || 'none',
    aliases.join(', '),
  ])
  return table(['CODE', 'NAME', 'OFFERED BY', 'ALSO FOUND BY'], rows)
}
