import { loadConfig } from '#src/config.ts'
import { type Database, openCluster } from '#src/database/client.ts'
import { migrate } from '#src/database/migrate.ts'
import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/caught.ts'

/**
 * Runs a command's work on the configured database, its schema brought up to date first.
 *
 * @throws {OperatorError} when the database cannot be reached
 */
export async function withDatabase<Result>(
  work: (database: Database, applied: string[]) => Promise<Result>,
): Promise<Result> {
  const cluster = await openCluster(loadConfig())
  const database = cluster.connectForMaintenance()
  try {
    const applied = await migrate(database.writer)
    return await work(database, applied)
  } catch (error) {
    throw explained(error)
  } finally {
    await database.close()
    await cluster.close()
  }
}

/** A database that cannot be reached is the operator's to mend, and no stack helps with it. */
function explained(error: unknown): unknown {
  const code = codeOf(error)
  const unreachable = ['ECONNREFUSED', 'ENOTFOUND', 'EHOSTUNREACH', 'ETIMEDOUT', '28P01', '28000', '3D000']
  return code && unreachable.includes(code)
    ? new OperatorError(`The database cannot be reached: ${messageOf(error) || code}.`)
    : error
}
