import { listCompositions } from '#src/advice/quantities/queries.ts'
import { command, group, listCommand } from '#src/cli/command.ts'
import type { Output } from '#src/cli/terminal.ts'
import { OperatorError } from '#src/errors.ts'
import { deleteComposition, saveComposition } from './change-queries.ts'
import { changeReference } from './change-reference.ts'

const LONGEST_NAME = 100

const list = listCommand('compositions', 'List the composition of inputs.', listCompositions, {
  none: 'No input has a composition.',
  head: ['INPUT', 'N %', 'P2O5 %', 'K2O %', 'S %'],
  cells: ({ name, n, p2o5, k2o, s }) => [name, ...[n, p2o5, k2o, s].map(String)],
})

const set = command({
  usage: 'set <input> <n> <p2o5> <k2o> [s]',
  description: 'Set the composition of an input, in percent: nitrogen, phosphate, potash and sulphur.',
  examples: ['agro compositions set NPK 15 15 15', 'agro compositions set NPS 19 38 0 7'],
  async run(_: Output, input: string, ...percentages: [string, string, string, string?]) {
    const name = readName(input)
    const [n = 0, p2o5 = 0, k2o = 0, s = 0] = percentages.map((text) => readPercentage(text ?? '0'))
    const total = n + p2o5 + k2o + s
    if (total > 100) throw new OperatorError(`The percentages come to ${total}: they may come to 100.`)
    const composition = { name, n, p2o5, k2o, s }
    return changeReference(async (trx) => {
      await saveComposition(trx, composition)
      // The notation of bags: 19-38-0, sulphur as 7 S.
      return [composition, `${name} is ${n}-${p2o5}-${k2o}${s > 0 ? ` + ${s} S` : ''} now.`]
    })
  },
})

const remove = command({
  usage: 'remove <input>',
  description: 'Remove the composition of an input. Answers no longer show its nutrients.',
  examples: ['agro compositions remove NPK'],
  async run(_: Output, input: string) {
    const name = readName(input)
    return changeReference(async (trx) => {
      if (await deleteComposition(trx, name)) return [{ name }, `The composition of ${name} is removed.`]
      throw new OperatorError(
        `There is no composition of ${name}; \`agro compositions list\` shows those there are.`,
      )
    })
  },
})

export const compositionsCommand = group(
  'compositions',
  'Set the nutrients of fertilizers. Answers show the nutrients of listed inputs.',
  [list, set, remove],
)

function readName(text: string): string {
  const name = text.normalize('NFC').trim()
  if (name !== '' && [...name].length <= LONGEST_NAME && !/[\p{C}\u2028\u2029]/u.test(name)) return name
  throw new OperatorError(
    `The name of an input is one line of 1 to ${LONGEST_NAME} characters; ${JSON.stringify(text)} is not one.`,
  )
}

function readPercentage(text: string): number {
  const percent = text.trim() === '' ? Number.NaN : Number(text)
  if (percent >= 0 && percent <= 100) return percent
  throw new OperatorError(`${JSON.stringify(text)} is not a percentage from 0 to 100.`)
}
