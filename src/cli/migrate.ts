import { Command } from 'commander'
import { migrate } from '#src/database/migrate.ts'
import { createMonthsAhead } from '#src/domains/history/month-queries.ts'
import { summariseCoverages } from '#src/ingest/summarise.ts'
import { onDatabase, tell } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { progressLine } from './progress.ts'

export const migrateCommand = new Command('migrate')
  .description(
    'Bring the database schema up to date. The service does this by itself when it starts, unless MIGRATE_ON_START is false.',
  )
  .option(...JSON_OPTION)
  .action((output: Output) =>
    onDatabase(async (database) => {
      const applied = await migrate(database.writer, undefined, { progress: tell })
      await createMonthsAhead(database.writer)
      const progress = progressLine('summarising rasters')
      const summarised = await summariseCoverages(database, (done, of) => progress(done / of))
      const lines = applied.map((name) => `applied ${name}`)
      if (applied.length === 0) lines.push('The schema is up to date.')
      if (summarised > 0) {
        lines.push(`Summarised ${summarised} rasters that were loaded before there were summaries.`)
      }
      print(output, { applied, summarised }, lines.join('\n'))
    }),
  )
withExamples(migrateCommand, 'agro migrate')
