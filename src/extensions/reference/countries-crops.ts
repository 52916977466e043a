import type { Command } from 'commander'
import { ofSeasonless } from '#schemas/product.ts'
import { PRODUCTS } from '#schemas/products/index.ts'
import {
  COUNTRIES,
  type CountryEntry,
  CROPS,
  type CropEntry,
  listCountryEntries,
  listCropEntries,
  type ReferenceList,
} from '#src/catalog/reference-queries.ts'
import { command, group, listCommand, YES_OPTION } from '#src/cli/command.ts'
import { type Consent, confirm, type Output } from '#src/cli/terminal.ts'
import type { Db } from '#src/data/tables.ts'
import * as changes from './change-queries.ts'
import { changeReference } from './change-reference.ts'

interface ReferenceGroup<Row> {
  list: ReferenceList
  name: 'countries' | 'crops'
  description: string
  listing: string
  read: (db: Db) => Promise<Row[]>
  head: string[]
  cells: (row: Row) => string[]
  /** Shown in the help. */
  example: { code: string; name: string; otherName: string }
}

/** Countries and crops have the same commands. */
function referenceCommand<Row>(declared: ReferenceGroup<Row>): Command {
  const { name, description, listing, read, head, cells } = declared
  const list = listCommand(name, listing, read, { none: `There are no ${name}.`, head, cells })
  return group(name, description, [list, ...entryCommands(declared), ...offerCommands(name)])
}

function entryCommands<Row>({ list, name: above, example }: ReferenceGroup<Row>): Command[] {
  const entryName = list.table
  const { code, name, otherName } = example
  const add = command({
    usage: 'add <code> <name>',
    description: `Add a ${entryName}.`,
    examples: [`agro ${above} add ${code} ${name}`],
    run: (_: Output, newCode: string, newName: string) =>
      changeReference(async (trx) => {
        const entry = await changes.addEntry(trx, list, newCode, newName)
        return [entry, `${entry.code} is added as ${entry.name}.`]
      }),
  })
  const rename = command({
    usage: `rename <${entryName}> <name>`,
    description: `Give a ${entryName} another name. It is still found by the one before.`,
    examples: [`agro ${above} rename ${code} ${otherName}`],
    run: (_: Output, named: string, newName: string) =>
      changeReference(async (trx) => {
        const { before, after } = await changes.renameEntry(trx, list, named, newName)
        return [{ before, after }, `${after.code} is called ${after.name} now, and no more ${before.name}.`]
      }),
  })
  const alias = command({
    usage: `alias <${entryName}> <alias...>`,
    description: `Add names by which a ${entryName} is found as well.`,
    options: [['--remove', 'remove them instead']],
    examples: [
      `agro ${above} alias ${code} ${otherName}`,
      `agro ${above} alias --remove ${code} ${otherName}`,
    ],
    run: ({ remove }: Output & { remove?: boolean }, named: string, aliases: string[]) =>
      changeReference(async (trx) => {
        const entry = await (remove ? changes.removeAliases : changes.addAliases)(trx, list, named, aliases)
        return [
          entry,
          `${entry.code} is ${remove ? 'no longer' : 'now also'} found by ${aliases.join(', ')}.`,
        ]
      }),
  })
  const remove = command({
    usage: `remove <${entryName}>`,
    description: `Remove a ${entryName} that nothing refers to.`,
    options: [YES_OPTION],
    examples: [`agro ${above} remove ${code}`],
    async run(consent: Output & Consent, named: string) {
      await confirm(`This removes the ${entryName} ${named} with its names`, consent)
      return changeReference(async (trx) => {
        const entry = await changes.removeEntry(trx, list, named)
        return [entry, `${entry.code} is removed.`]
      })
    },
  })
  return [add, rename, alias, remove]
}

function offerCommands(above: string): Command[] {
  const offer = command({
    usage: 'offer <country> <crop>',
    description: 'Offer a crop in a country: releases of it can be loaded.',
    examples: [`agro ${above} offer ken maize`],
    run: (_: Output, country: string, crop: string) =>
      changeReference(async (trx) => {
        const offered = await changes.offerCrop(trx, country, crop)
        return [offered, `${offered.country.name} offers ${offered.crop.code} now.`]
      }),
  })
  const withdraw = command({
    usage: 'withdraw <country> <crop>',
    description: 'Offer a crop in a country no more; it must have no releases.',
    examples: [`agro ${above} withdraw ken maize`],
    run: (_: Output, country: string, crop: string) =>
      changeReference(async (trx) => {
        const withdrawn = await changes.withdrawCrop(trx, country, crop)
        return [withdrawn, `${withdrawn.country.name} offers ${withdrawn.crop.code} no more.`]
      }),
  })
  return [offer, withdraw]
}

export const countriesCommand = referenceCommand<CountryEntry>({
  list: COUNTRIES,
  name: 'countries',
  description: 'List, add, rename and remove countries, and set the crops of each.',
  listing: 'List all countries, and what there is of them.',
  read: listCountryEntries,
  head: ['CODE', 'NAME', 'CROPS', 'BOUNDARIES', 'ALSO FOUND BY'],
  cells: ({ code, name, crops, levels, aliases }) => [
    code,
    name,
    crops.join(', ') || `none${ofSeasonless(PRODUCTS.list, (names) => `, only ${names}`)}`,
    levels.join(', ') || 'none',
    aliases.join(', '),
  ],
  example: { code: 'tza', name: 'Tanzania', otherName: 'Tanganyika' },
})

export const cropsCommand = referenceCommand<CropEntry>({
  list: CROPS,
  name: 'crops',
  description: 'List, add, rename and remove crops, and set the countries of each.',
  listing: 'List all crops, and which countries offer them.',
  read: listCropEntries,
  head: ['CODE', 'NAME', 'OFFERED BY', 'ALSO FOUND BY'],
  cells: ({ code, name, countries, aliases }) => [
    code,
    name,
    countries.join(', ') || 'none',
    aliases.join(', '),
  ],
  example: { code: 'maize', name: 'Maize', otherName: 'Corn' },
})
