import type { FastifyBaseLogger } from 'fastify'
import type { Kysely } from 'kysely'
import { readReference } from '#src/database/reference.ts'
import type { Tables } from '#src/database/tables.ts'
import { createFreshValue } from '#src/lib/fresh-value.ts'
import type { Entry } from './lists.ts'
import { listCountryNames } from './queries.ts'

/**
 * Makes what tells the documents which countries there are. They are served without a database as well: then
 * with the countries that were last known, or those that a new database begins with.
 */
export function createDocumentCountries(
  db: Kysely<Tables>,
  maxAgeMs: number,
  log: FastifyBaseLogger,
): () => Promise<Entry[]> {
  const current = createFreshValue(() => listCountryNames(db), maxAgeMs)
  let known: Entry[] | undefined
  return async () => {
    try {
      known = await current()
    } catch (error) {
      log.warn({ err: error }, 'the document is served with countries that may be old')
      known ??= (await readReference()).countries
    }
    return known
  }
}
