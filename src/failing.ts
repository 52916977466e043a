import { damageOf, isDatabaseUnavailable } from './data/failures.ts'
import { OperatorError } from './errors.ts'
import type { Announcer } from './lib/announcer.ts'

/** Says why a process cannot go on, and ends it with code 1. */
export function failWith(error: unknown, announcer: Announcer): never {
  const damage = damageOf(error)
  if (error instanceof OperatorError) announcer.fail(error.message)
  else if (damage) announcer.fail(damage)
  else if (isDatabaseUnavailable(error)) announcer.fail(`The database went away: ${error.message}.`)
  else announcer.crash(error)
  process.exit(1)
}
