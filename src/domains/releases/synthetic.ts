import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import { createLastKnown } from '#src/lib/last-known.ts'
import { publishesSynthetic } from './synthetic-queries.ts'

/**
 * Makes what tells the page of the documentation whether synthetic values are published: without a database
 * what was last known, or that none are, since none are answered then.
 */
export function createSyntheticNotice(
  db: Kysely<Tables>,
  maxAgeMs: number,
  logFailure: LogFailure,
): () => Promise<boolean> {
  return createLastKnown<boolean>({
    load: () => publishesSynthetic(db),
    otherwise: () => false,
    maxAgeMs,
    warn: (error) => logFailure(error, 'whether synthetic values are published may be old'),
  })
}
