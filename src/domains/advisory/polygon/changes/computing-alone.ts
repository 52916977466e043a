import { askUntil } from '#src/database/cancellable.ts'
import type { Database } from '#src/database/client.ts'
import type { Computation } from '../computing.ts'

/** What a command computes with: nobody else waits, and nothing ends it but the command itself. */
export function computingAlone(database: Database): Computation {
  return {
    ask: askUntil(database, new AbortController().signal),
    wait: (something) => something(),
    pause: async () => {},
  }
}
