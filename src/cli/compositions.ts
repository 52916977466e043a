import { Command } from 'commander'
import type { Transaction } from 'kysely'
import {
  type Composition,
  deleteComposition,
  listCompositions,
  saveComposition,
} from '#src/advice/quantities/queries.ts'
import { recordOperation } from '#src/data/audit-queries.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { lookInDatabase, withDatabase } from './database.ts'
import { table } from './table.ts'
import { JSON_OPTION, type Output, print, withExamples } from './terminal.ts'

const LONGEST_NAME = 100

export const compositionsCommand = new Command('compositions').description(
  'Set the nutrients of fertilizers. Answers show the nutrients of listed inputs.',
)

const list = compositionsCommand
  .command('list')
  .description('List the composition of inputs.')
  .option(...JSON_OPTION)
  .action((output: Output) =>
    lookInDatabase(async ({ writer }) => {
      const compositions = await listCompositions(writer)
      print(output, compositions, compositionsText(compositions))
    }),
  )
withExamples(list, 'agro compositions list', 'agro compositions list --json')

const set = compositionsCommand
  .command('set <input> <n> <p2o5> <k2o> [s]')
  .description('Set the composition of an input, in percent: nitrogen, phosphate, potash and sulphur.')
  .option(...JSON_OPTION)
  .action((named: string, n: string, p2o5: string, k2o: string, s: string | undefined, output: Output) => {
    const composition = {
      name: nameOf(named),
      n: percentOf(n),
      p2o5: percentOf(p2o5),
      k2o: percentOf(k2o),
      s: percentOf(s ?? '0'),
    }
    const total = composition.n + composition.p2o5 + composition.k2o + composition.s
    if (total > 100) throw new OperatorError(`The percentages come to ${total}: they may come to 100.`)
    const text = `${composition.name} is ${formulaOf(composition)} now.`
    return change(output, composition, text, async (trx) => void (await saveComposition(trx, composition)))
  })
withExamples(set, 'agro compositions set NPK 15 15 15', 'agro compositions set NPS 19 38 0 7')

const remove = compositionsCommand
  .command('remove <input>')
  .description('Remove the composition of an input. Answers no longer show its nutrients.')
  .option(...JSON_OPTION)
  .action((named: string, output: Output) => {
    const name = nameOf(named)
    return change(output, { name }, `The composition of ${name} is removed.`, async (trx) => {
      if (await deleteComposition(trx, name)) return
      throw new OperatorError(
        `Nothing is known of the composition of ${name}; \`agro compositions list\` shows what is.`,
      )
    })
  })
withExamples(remove, 'agro compositions remove NPK')

/** The notation of bags: 19-38-0, sulphur as 7 S. */
function formulaOf({ n, p2o5, k2o, s }: Composition): string {
  return `${n}-${p2o5}-${k2o}${s > 0 ? ` + ${s} S` : ''}`
}

function compositionsText(compositions: Composition[]): string {
  if (compositions.length === 0) return 'Nothing is known of the composition of any input.'
  const rows = compositions.map(({ name, n, p2o5, k2o, s }) => [name, ...[n, p2o5, k2o, s].map(String)])
  return table(['INPUT', 'N %', 'P2O5 %', 'K2O %', 'S %'], rows)
}

function nameOf(text: string): string {
  const name = text.normalize('NFC').trim()
  if (name !== '' && [...name].length <= LONGEST_NAME && !/[\p{C}\u2028\u2029]/u.test(name)) return name
  throw new OperatorError(
    `The name of an input is one line of 1 to ${LONGEST_NAME} characters; ${JSON.stringify(text)} is not one.`,
  )
}

function percentOf(text: string): number {
  const percent = text.trim() === '' ? Number.NaN : Number(text)
  if (percent >= 0 && percent <= 100) return percent
  throw new OperatorError(`${JSON.stringify(text)} is not a percentage from 0 to 100.`)
}

function change(
  output: Output,
  result: object,
  text: string,
  work: (trx: Transaction<Tables>) => Promise<void>,
): Promise<void> {
  return withDatabase(async ({ writer }) => {
    await inTransaction(writer, async (trx) => {
      await work(trx)
      await recordOperation(trx, { kind: 'reference_changed', detail: { change: text } })
    })
    print(output, result, text)
  })
}
