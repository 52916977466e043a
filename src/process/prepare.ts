import type { Config } from '#src/config.ts'
import type { Cluster } from '#src/database/client.ts'
import { migrate } from '#src/database/migrate.ts'
import { refuseMissingRights } from '#src/database/rights.ts'
import { refuseOlderSchema } from '#src/database/scripts.ts'
import { createMonthsAhead } from '#src/domains/history/month-queries.ts'
import { publishesSynthetic } from '#src/domains/releases/synthetic-queries.ts'
import { seedDemo } from '#src/ingest/demo/seed.ts'
import { summariseCoverages } from '#src/ingest/summarise.ts'

/**
 * Brings the schema up to date, or sees that it is, and seeds the demo, which may take longer than a request's query.
 *
 * @returns whether synthetic values are published
 */
export async function prepare(
  config: Config,
  cluster: Cluster,
  say: (message: string) => void,
): Promise<boolean> {
  const database = cluster.connectForMaintenance()
  try {
    if (config.MIGRATE_ON_START) {
      const applied = await migrate(database.writer, undefined, { progress: say })
      const { length: steps } = applied
      if (steps > 0) say(`Database prepared (${steps} ${steps === 1 ? 'step' : 'steps'})`)
    } else {
      await refuseOlderSchema(database.writer)
    }
    await refuseMissingRights(database.writer)
    await createMonthsAhead(database.writer)
    await summariseCoverages(database, (done, of) => say(`summarising rasters: ${done} of ${of}`))
    if (config.DEMO_DATA) {
      await seedDemo(database, (done, of) => say(`seeding synthetic demo data: release ${done} of ${of}`))
    }
    return await publishesSynthetic(database.writer)
  } finally {
    await database.close()
  }
}
