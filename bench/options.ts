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
  'memory',
  'growth',
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
}

/** What a quick run leaves out where it is not asked for: loading it takes a minute. */
const SLOW_SECTION: Section = 'growth'

/** Reads the command line; ends the process where it is not understood. */
export function readOptions(parameters: string[]): Options {
  const command = new Command('npm run bench --')
    .description('Measure the service beside a bare Fastify route and one query a request.')
    .option('--quick', `shorter and fewer rounds, without ${SLOW_SECTION}: a few minutes`, false)
    .option('--only <sections>', `some of: ${SECTIONS.join(', ')}`, sectionsOf)
    .option('--report', 'write docs/performance.md and its charts from the figures', false)
    .option('--redraw', 'write that page anew from the results it was made from; measure nothing', false)
    .option(
      '--strict',
      'fail where a limit is missed, not only on errors and wrong answers; goals fail nothing',
      false,
    )
  const given = command.parse(parameters, { from: 'user' }).opts<Omit<Options, 'only'> & Partial<Options>>()
  const usual = SECTIONS.filter((section) => !given.quick || section !== SLOW_SECTION)
  return { ...given, only: given.only ?? usual }
}

function sectionsOf(list: string): Section[] {
  const names = list.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !SECTIONS.includes(name as Section))
  if (unknown !== undefined) throw new InvalidArgumentError(`There is no section "${unknown}".`)
  return names as Section[]
}
