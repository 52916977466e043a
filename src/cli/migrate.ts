import { Command } from 'commander'
import { withDatabase } from './database.ts'

export const migrateCommand = new Command('migrate')
  .description('Bring the database schema up to date. The service does this by itself when it starts.')
  .action(() =>
    withDatabase(async (_, applied) => {
      for (const name of applied) console.log(`applied ${name}`)
      if (applied.length === 0) console.log('The schema is up to date.')
    }),
  )
