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
  /** Loads equal data again. */
  force?: boolean
  leniency: Leniency
}

export interface Ingestion {
  code: string
  loaded: boolean
  /** Undefined without a load. */
  tiles: number | undefined
  published: boolean
  /** Before this call. */
  publishedBefore: boolean
  replaced: string | undefined
  findings: Finding[]
}

/** Equal data are published, not loaded again. Parallel ingests of them wait. */
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
    // The transaction may have waited.
    signal.throwIfAborted()
    return publishing
  })
}
