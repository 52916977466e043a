import { setFlagsFromString } from 'node:v8'
import { describeDamage, isDatabaseUnavailable } from './data/failures.ts'
import { OperatorError } from './errors.ts'
import type { Announcer } from './lib/announcer.ts'

// While requests wait for the database, V8 would learn that what they are made of lives long, and from then
// on put it where it is collected once a second instead of a hundred times: each dead request there keeps
// others alive, and a sixth of the time went into copying them.
setFlagsFromString('--no-allocation-site-pretenuring')

/** Says why a process cannot go on, and ends it with code 1. */
export function failWith(error: unknown, announcer: Announcer): never {
  const damage = describeDamage(error)
  if (error instanceof OperatorError) announcer.fail(error.message)
  else if (damage) announcer.fail(damage)
  else if (isDatabaseUnavailable(error)) announcer.fail(`The database went away: ${error.message}.`)
  else announcer.crash(error)
  process.exit(1)
}
