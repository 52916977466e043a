import { Command } from 'commander'
import { someOf } from '#bench/some-of.ts'
import type { Kind } from './fault.ts'
import { FAULTS } from './faults/index.ts'

export interface Options {
  only: string[]
  on: Kind[]
}

const KINDS: Kind[] = ['server', 'replica', 'embedded']

/** Reads the command line; ends the process where it is not understood. */
export function readOptions(parameters: string[]): Options {
  const names = [...new Set(FAULTS.map(({ name }) => name))]
  return new Command('npm run chaos --')
    .description('Let faults happen to a service under load, and see what fails, is wrong or is lost.')
    .option('--only <faults>', `some of: ${names.join(', ')}`, someOf(names), names)
    .option('--on <databases>', `some of: ${KINDS.join(', ')}`, someOf(KINDS), KINDS)
    .parse(parameters, { from: 'user' })
    .opts<Options>()
}
