import { Command, InvalidArgumentError } from 'commander'
import { someOf } from '#bench/some-of.ts'
import { SCENARIOS } from './scenarios/index.ts'

/** Which databases the service is attacked on. */
export type Kind = 'server' | 'embedded'

export interface Options {
  only: string[]
  on: Kind[]
  url?: URL
}

/** Reads the command line; ends the process where it is not understood. */
export function readOptions(parameters: string[]): Options {
  const names = SCENARIOS.map(({ name }) => name)
  return new Command('npm run abuse --')
    .description('Attack a service, and see what others notice of it. Each attack takes up to 15 seconds.')
    .option('--only <attacks>', `some of: ${names.join(', ')}`, someOf(names), names)
    .option('--on <databases>', 'server, embedded or both', someOf(['server', 'embedded']), [
      'server',
      'embedded',
    ])
    .option('--url <url>', 'a running service of this machine, instead of one for each database', urlOf)
    .parse(parameters, { from: 'user' })
    .opts<Options>()
}

function urlOf(text: string): URL {
  if (!URL.canParse(text)) throw new InvalidArgumentError(`"${text}" is no URL.`)
  return new URL(text)
}
