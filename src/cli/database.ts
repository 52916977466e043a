import { type Config, loadConfig } from '#src/config.ts'
import { type Database, openCluster } from '#src/data/client.ts'
import { StorageUnavailable } from '#src/data/files/store.ts'
import { migrate } from '#src/data/migrate.ts'
import { explainRights } from '#src/data/rights.ts'
import { refuseOlderSchema } from '#src/data/schema-state.ts'
import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/promises.ts'

/** The schema is migrated first, unless MIGRATE_ON_START leaves that to `agro migrate`. */
export function withDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
  return onDatabase(async (database, config) => {
    if (config.MIGRATE_ON_START) await migrate(database.writer, undefined, { progress: tell })
    else await refuseOlderSchema(database.writer)
    return work(database)
  })
}

/** The schema stays as it is. */
export function lookInDatabase<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
  return onDatabase(async (database) => {
    await refuseOlderSchema(database.writer)
    return work(database)
  })
}

export async function onDatabase<Result>(
  work: (database: Database, config: Config) => Promise<Result>,
): Promise<Result> {
  const config = loadConfig()
  const cluster = await openCluster(config)
  const database = cluster.connectForMaintenance()
  try {
    return await work(database, config).catch((error) => explainRights(database.writer, error))
  } catch (error) {
    throw explained(error)
  } finally {
    await database.close()
    await cluster.close()
  }
}

/** Progress goes to stderr. */
export function tell(message: string): void {
  console.error(message)
}

/** The operator can repair an unreachable database; a stack does not help. */
function explained(error: unknown): unknown {
  if (error instanceof StorageUnavailable) return new OperatorError(`${messageOf(error)}.`)
  const code = codeOf(error)
  const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ETIMEDOUT', '28P01', '28000', '3D000']
  return code && unreachable.includes(code)
    ? new OperatorError(`The database cannot be reached: ${messageOf(error) || code}.`, {
        code: 'DATABASE_UNAVAILABLE',
      })
    : error
}
