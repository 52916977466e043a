import { setTimeout } from 'node:timers/promises'
import { publishesSynthetic } from './catalog/release-queries.ts'
import type { Config } from './config.ts'
import type { Cluster, Database } from './data/database.ts'
import { migrate } from './data/migrate.ts'
import { refuseMissingRights } from './data/rights.ts'
import { refuseOlderSchema } from './data/schema-state.ts'
import { createMonthsAhead } from './history/queries.ts'
import { type DemoProgress, readDemoProgress, seedNext } from './ingest/demo/seed.ts'
import { summariseCoverages } from './ingest/pixel-writing.ts'
import type { Announcer } from './lib/announcer.ts'
import { doublingPauses, formatError, pauseAfter } from './lib/promises.ts'

/**
 * Migrates or checks the schema, and publishes the first release of the demo where there is none.
 *
 * @returns whether synthetic values are published, and whether the demo lacks others
 */
export async function prepare(
  config: Config,
  cluster: Cluster,
  say: (message: string) => void,
): Promise<{ synthetic: boolean; isSeeding: boolean }> {
  const database = cluster.connectForMaintenance()
  const { writer } = database
  try {
    if (config.MIGRATE_ON_START) {
      const applied = await migrate(writer, undefined, { progress: say, force: database.kind === 'embedded' })
      const { length: steps } = applied
      if (steps > 0) say(`Database prepared (${steps} ${steps === 1 ? 'step' : 'steps'})`)
    } else {
      await refuseOlderSchema(writer)
    }
    await refuseMissingRights(writer)
    await createMonthsAhead(writer)
    await summariseCoverages(database, (done, of) => say(`summarising rasters: ${done} of ${of}`))
    const isSeeding = config.DEMO_DATA && (await beginDemo(database, say))
    return { synthetic: await publishesSynthetic(writer), isSeeding }
  } finally {
    await database.close()
  }
}

/** @returns whether there is more to do, if only to look that the areas are whole */
async function beginDemo(database: Database, say: (message: string) => void): Promise<boolean> {
  const { loaded, of } = await readDemoProgress(database.writer)
  if (loaded === 0 && of > 0) say(describe(await seedNext(database)))
  return of > 0
}

const describe = ({ loaded, of }: DemoProgress) => `seeding synthetic demo data: release ${loaded} of ${of}`

const PAUSES_MS = doublingPauses(1000, 60_000)

/**
 * Publishes what the demo lacks while requests are answered; what fails is tried again.
 *
 * @param among the connections of requests, where there can be no others
 */
export function seedRest(cluster: Cluster, { say, warn }: Announcer, among?: Database) {
  const stopping = new AbortController()
  const { signal } = stopping
  const database = among ?? cluster.connectForMaintenance()

  async function seed(): Promise<void> {
    for (let failures = 0; !signal.aborted; ) {
      try {
        const { isNew, ...state } = await seedNext(database, signal)
        if (isNew) say(describe(state))
        if (state.loaded === state.of) return
        failures = 0
      } catch (error) {
        if (signal.aborted) return
        failures++
        warn(`demo data could not be loaded, which is tried again: ${formatError(error)}`)
        await setTimeout(pauseAfter(PAUSES_MS, failures), undefined, { signal }).catch(() => {})
      }
    }
  }

  const seeded = seed().finally(() => among ?? database.close())
  return {
    /** Ends after the load under way is taken back. */
    async stop(): Promise<void> {
      stopping.abort(new Error('the service stops'))
      await seeded
    },
  }
}
