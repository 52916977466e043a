import { Command } from 'commander'
import { seedDemo } from '#src/ingest/demo/seed.ts'
import { withDatabase } from './database.ts'
import { JSON_OPTION, type Output, print, withExamples } from './output.ts'
import { progressLine } from './progress.ts'

export const demoCommand = new Command('demo')
  .description('Publish the synthetic demo releases, unless something real is published.')
  .option(...JSON_OPTION)
  .action((output: Output) =>
    withDatabase(async (database) => {
      const progress = progressLine('seeding synthetic demo data')
      const published = await seedDemo(database, (done, of) => progress(done / of))
      print(
        output,
        { published },
        published === 0
          ? 'Nothing to do.'
          : `Published ${published} synthetic releases. They are not advice.`,
      )
    }),
  )
withExamples(demoCommand, 'agro demo')
