import { Command, InvalidArgumentError } from 'commander'

export const SECTIONS = [
  'points',
  'answers',
  'calls',
  'workers',
  'publication',
  'batch',
  'polygons',
  'bulk',
  'fields',
  'memory',
  'growth',
  'history',
  'loads',
  'startup',
  'embedded',
] as const
export type Section = (typeof SECTIONS)[number]

export interface Options {
  quick: boolean
  only: Section[]
  report: boolean
  redraw: boolean
  strict: boolean
  /** How many items the large history has. */
  rows: number
}

/** What a quick run leaves out where it is not asked for: it needs data that fill the memory, or time to load more. */
const LEFT_OUT: Section[] = ['publication', 'bulk', 'fields', 'memory', 'growth', 'history', 'loads']

/** Of a history, where nothing else is said. */
const ROWS = 20_000_000
const QUICK_ROWS = 200_000

/** Reads the command line; ends the process where it is not understood. */
export function readOptions(parameters: string[]): Options {
  const command = new Command('npm run bench --')
    .description('Measure the service beside a bare Fastify route and one query a request.')
    .option(
      '--quick',
      `shorter and fewer rounds, with a tenth of the pixels, without ${LEFT_OUT.join(', ')}: four minutes`,
      false,
    )
    .option('--only <sections>', `some of: ${SECTIONS.join(', ')}`, someOf([...SECTIONS]))
    .option(
      '--rows <number>',
      `how many items the large history has (default: ${ROWS}, ${QUICK_ROWS} in a quick run)`,
      positiveInteger,
    )
    .option('--report', 'write docs/performance.md from the figures', false)
    .option('--redraw', 'write that page anew from the results it was made from; measure nothing', false)
    .option(
      '--strict',
      'fail where a limit is missed, not only on errors and wrong answers; goals fail nothing',
      false,
    )
  const given = command
    .parse(parameters, { from: 'user' })
    .opts<Omit<Options, 'only' | 'rows'> & Partial<Options>>()
  const usual = SECTIONS.filter((section) => !given.quick || !LEFT_OUT.includes(section))
  return { rows: given.quick ? QUICK_ROWS : ROWS, only: usual, ...given }
}

export function positiveInteger(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It must be a positive integer.')
  return Number(text)
}

/**
 * Reads an option that lists some of the names that there are, with commas between them.
 *
 * @throws {InvalidArgumentError} names what there is not
 */
export function someOf(names: string[]): (list: string) => string[] {
  return (list) => {
    const chosen = list.split(',').map((name) => name.trim())
    const unknown = chosen.find((name) => !names.includes(name))
    if (unknown !== undefined) throw new InvalidArgumentError(`There is no "${unknown}".`)
    return chosen
  }
}
