import { Command } from 'commander'
import { summariseCoverages } from '#src/ingest/summarise.ts'
import { withDatabase } from './database.ts'
import { progressLine } from './progress.ts'

export const migrateCommand = new Command('migrate')
  .description('Bring the database schema up to date. The service does this by itself when it starts.')
  .action(() =>
    withDatabase(async (database, applied) => {
      for (const name of applied) console.log(`applied ${name}`)
      if (applied.length === 0) console.log('The schema is up to date.')
      const progress = progressLine('summarising rasters')
      const count = await summariseCoverages(database, (done, of) => progress(done / of))
      if (count > 0) console.log(`Summarised ${count} rasters that were loaded before there were summaries.`)
    }),
  )
