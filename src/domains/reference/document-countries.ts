import { setTimeout } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Kysely } from 'kysely'
import { readReference } from '#src/database/reference.ts'
import type { Tables } from '#src/database/tables.ts'
import { createFreshValue } from '#src/lib/fresh-value.ts'
import type { Entry } from './lists.ts'
import { listCountryNames } from './queries.ts'

/** For so long a document waits for a database that is silent. */
const WAIT_MS = 1000

/**
 * Makes what tells the documents which countries there are. They are served without a database as well: then
 * with the countries that were last known, or those that a new database begins with. A database that does
 * not answer is asked again when `maxAgeMs` have passed.
 */
export function createDocumentCountries(
  db: Kysely<Tables>,
  maxAgeMs: number,
  log: FastifyBaseLogger,
): () => Promise<Entry[]> {
  let known: Entry[] | undefined

  async function load(): Promise<Entry[]> {
    try {
      known = await Promise.race([listCountryNames(db), silence()])
    } catch (error) {
      log.warn({ err: error }, 'the document is served with countries that may be old')
      known ??= (await readReference()).countries
    }
    return known
  }

  return createFreshValue(load, maxAgeMs)
}

async function silence(): Promise<never> {
  await setTimeout(WAIT_MS, undefined, { ref: false })
  throw new Error(`the database has not answered within ${WAIT_MS} ms`)
}
