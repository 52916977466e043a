import type { Kysely } from 'kysely'
import type { Database } from '#src/data/client.ts'
import type { Finding } from '#src/data/rights.ts'
import { inTransaction } from '#src/data/sql.ts'
import type { Tables } from '#src/data/tables.ts'
import type { Leniency } from './checks/judgement.ts'
import { type LoadOptions, loadAlone, whileLoading } from './load.ts'
import { findLoaded, refuseShortStatements } from './load-queries.ts'
import { type Publishing, publishChecked } from './publish.ts'
import type { ReleaseSource } from './source.ts'

interface IngestOptions extends LoadOptions {
  /** Loads the data though they are loaded already. */
  force?: boolean
  /** What is allowed to a release that is loaded already. */
  leniency: Leniency
}

export interface Ingestion {
  code: string
  /** Whether it was loaded now: the same data may be there already. */
  loaded: boolean
  /** Undefined where it was not loaded now. */
  tiles: number | undefined
  /** Whether it is published now. */
  published: boolean
  /** Whether it was before. */
  publishedBefore: boolean
  /** The code of the release it took the place of. */
  replaced: string | undefined
  /** What the checks have found; nothing where there was nothing to do. */
  findings: Finding[]
}

/**
 * Loads a release and publishes it, or publishes the one that has the same data, which is checked again. Who ingests
 * the same data meanwhile waits, and finds them.
 *
 * @throws {OperatorError} where statements are ended that take long
 */
export async function ingestRelease(
  database: Database,
  source: ReleaseSource,
  options: IngestOptions,
): Promise<Ingestion> {
  const { writer } = database
  const { publish = true, force = false, leniency } = options
  await refuseShortStatements(writer)
  return whileLoading(
    database,
    source.description,
    async (signal) => {
      const before = force ? undefined : await findLoaded(writer, source.description)
      if (!before) {
        const loaded = await loadAlone(database, source, signal, options)
        return { ...loaded, loaded: true, publishedBefore: false }
      }
      const { code, published } = before
      const same = { loaded: false, tiles: undefined, publishedBefore: published }
      if (published || !publish) return { ...same, code, published, replaced: undefined, findings: [] }
      return { ...same, ...(await publishUnlessEnded(writer, code, leniency, signal)) }
    },
    options,
  )
}

function publishUnlessEnded(
  db: Kysely<Tables>,
  code: string,
  leniency: Leniency,
  signal: AbortSignal,
): Promise<Publishing> {
  return inTransaction(db, async (trx) => {
    const publishing = await publishChecked(trx, code, leniency)
    // It may have waited for others.
    signal.throwIfAborted()
    return publishing
  })
}
