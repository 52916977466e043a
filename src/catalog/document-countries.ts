import type { Kysely } from 'kysely'
import { readReference } from '#src/data/reference.ts'
import type { Tables } from '#src/data/tables.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import { cacheLastValue } from '#src/lib/cache.ts'
import { type Entry, listCountryNames } from './reference-queries.ts'

/**
 * Makes what tells the documents which countries there are: without a database those that were last known, or
 * those that a new one begins with.
 */
export function createDocumentCountries(
  db: Kysely<Tables>,
  maxAgeMs: number,
  logFailure: LogFailure,
): () => Promise<Entry[]> {
  return cacheLastValue<Entry[]>('countries of documents', {
    load: () => listCountryNames(db),
    initial: async () => (await readReference()).countries,
    ttlMs: maxAgeMs,
    warn: (error) => logFailure(error, 'the document is served with countries that may be old'),
  })
}
