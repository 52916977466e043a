import { Command } from 'commander'
import { seedDemo } from '#src/ingest/demo/seed.ts'
import { withDatabase } from './database.ts'
import { progressLine } from './progress.ts'

export const demoCommand = new Command('demo')
  .description('Publish the synthetic demo releases, unless something real is published.')
  .action(() =>
    withDatabase(async (database) => {
      const progress = progressLine('seeding synthetic demo data')
      const count = await seedDemo(database, (done, of) => progress(done / of))
      console.log(
        count === 0 ? 'Nothing to do.' : `Published ${count} synthetic releases. They are not advice.`,
      )
    }),
  )
