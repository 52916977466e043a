import { Command } from 'commander'
import type { Kysely, Transaction } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { inTransaction } from '#src/database/transaction.ts'
import { recordOperation } from '#src/domains/audit/queries.ts'
import {
  addAliases,
  addEntry,
  offerCrop,
  removeAliases,
  removeEntry,
  renameEntry,
  withdrawCrop,
} from '#src/domains/reference/changes.ts'
import type { ReferenceList } from '#src/domains/reference/lists.ts'
import { withDatabase } from './database.ts'

interface Output {
  json?: boolean
}

const JSON_OPTION = ['--json', 'answer in JSON, for programs'] as const

/** Prints what a program or else what a person is told. */
function print({ json }: Output, value: unknown, text: string): void {
  console.log(json ? JSON.stringify(value, null, 2) : text)
}

/** The command that lists the entries. */
export function listCommand<Row>(
  description: string,
  list: (db: Kysely<Tables>) => Promise<Row[]>,
  textOf: (rows: Row[]) => string,
): Command {
  return new Command('list')
    .description(description)
    .option(...JSON_OPTION)
    .action((output: Output) =>
      withDatabase(async ({ writer }) => {
        const rows = await list(writer)
        print(output, rows, textOf(rows))
      }),
    )
}

/** The commands that change the entries of a list: the same for countries and crops. */
export function changeCommands(list: ReferenceList, example: string): Command[] {
  const what = list.table
  const add = changing(`add <code> <name>`, `Add a ${what}, for example: ${example}.`)
  add.action((code: string, name: string, output: Output) =>
    change(
      output,
      (trx) => addEntry(trx, list, code, name),
      (entry) => `${entry.code} is added as ${entry.name}.`,
    ),
  )

  const rename = changing(
    `rename <${what}> <name>`,
    `Give a ${what} another name. It is still found by the one before.`,
  )
  rename.action((named: string, name: string, output: Output) =>
    change(
      output,
      (trx) => renameEntry(trx, list, named, name),
      ({ before, after }) => `${after.code} is called ${after.name} now, and no more ${before.name}.`,
    ),
  )

  const alias = changing(
    `alias <${what}> <alias...>`,
    `Add names by which a ${what} is found as well.`,
  ).option('--remove', 'remove them instead')
  alias.action((named: string, aliases: string[], output: Output & { remove?: boolean }) =>
    change(
      output,
      (trx) => (output.remove ? removeAliases : addAliases)(trx, list, named, aliases),
      ({ code }) => `${code} is ${output.remove ? 'no longer' : 'now also'} found by ${aliases.join(', ')}.`,
    ),
  )

  const remove = changing(`remove <${what}>`, `Remove a ${what} that nothing refers to.`)
  remove.action((named: string, output: Output) =>
    change(
      output,
      (trx) => removeEntry(trx, list, named),
      ({ code }) => `${code} is removed.`,
    ),
  )
  return [add, rename, alias, remove]
}

/** The commands that say which country offers which crop. */
export function offerCommands(): Command[] {
  const offer = changing('offer <country> <crop>', 'Offer a crop in a country: releases of it can be loaded.')
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

function changing(usage: string, description: string): Command {
  return new Command(usage.slice(0, usage.indexOf(' ')))
    .arguments(usage.slice(usage.indexOf(' ') + 1))
    .description(description)
    .option(...JSON_OPTION)
}

/** Does one change in a transaction of its own, and says what has been done. */
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
