/** npm run nodes: replaces processes of the service behind HAProxy under load, and prints what came of it. */
import { Command } from 'commander'
import { withCleanup } from '#bench/cleanup.ts'
import { someOf } from '#bench/options.ts'
import { startDatabaseServer } from '#bench/postgres.ts'
import { missingPrograms } from '../cluster/members.ts'
import { startLoad } from '../load/load.ts'
import { say } from '../trial.ts'
import { type Setting, tryNodes } from './trial.ts'

const COUNTS = ['2', '3', '4']

const { nodes, workers } = new Command('npm run nodes --')
  .description(
    'Replace processes of the service behind HAProxy under load, and see what fails, is wrong or is lost.',
  )
  .option('--nodes <counts>', `how many there are: some of ${COUNTS.join(', ')}`, someOf(COUNTS), ['2', '4'])
  .option('--workers <number>', 'WORKERS of each', Number, 1)
  .parse()
  .opts<{ nodes: string[]; workers: number }>()

/** Tries one after the other. */
async function run(settings: Setting[]): Promise<boolean> {
  let isWell = true
  for (const setting of settings) {
    const mistakes = await withCleanup(async (cleanup) => {
      const server = await startDatabaseServer(cleanup)
      if (!server) throw new Error('there is no PostgreSQL with PostGIS')
      return tryNodes(cleanup, server, startLoad(cleanup), setting)
    })
    isWell &&= mistakes.length === 0
  }
  return isWell
}

const missing = await missingPrograms(['haproxy'])
if (missing.length > 0) say(`there is no ${missing.join(', ')} here: processes behind HAProxy are left out`)
else process.exitCode = (await run(nodes.map((count) => ({ count: Number(count), workers })))) ? 0 : 1
