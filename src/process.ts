import { setFlagsFromString } from 'node:v8'
import { describeDamage, isDatabaseUnavailable } from './data/failures.ts'
import { OperatorError } from './errors.ts'
import type { Announcer } from './lib/announcer.ts'

// While requests wait for the database, V8 would learn that their objects live long, and allocate them in the old
// generation: a sixth of the time went into copying them.
setFlagsFromString('--no-allocation-site-pretenuring')

/** Ends the process with code 1. */
export function failWith(error: unknown, announcer: Announcer): never {
  const damage = describeDamage(error)
  if (error instanceof OperatorError) announcer.fail(error.message)
  else if (damage) announcer.fail(damage)
  else if (isDatabaseUnavailable(error)) announcer.fail(`The database went away: ${error.message}.`)
  else announcer.crash(error)
  process.exit(1)
}
