/** npm run fuzz: asks a running service, or one of its own on an embedded database, thousands of made-up requests. */
import { randomInt } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Command } from 'commander'
import { type Cleanup, cleanUpOnSignals, createCleanup } from '#bench/cleanup.ts'
import { startService, withDatabase } from '#bench/service.ts'
import { fuzz } from './fuzz.ts'
import { failureText, statusesTable } from './report.ts'
import { ADMIN_ACCOUNT, addAdmin, startMails } from './service.ts'

interface Options {
  runs: number
  seed: number
  databaseUrl?: string
}

const options = new Command('npm run fuzz --')
  .description(
    'Ask a service of its own what its document has, nearly has and has not, and judge the answers.',
  )
  .option('--runs <number>', 'how many requests', Number, 50_000)
  .option('--seed <number>', 'what the requests are drawn by', Number, randomInt(2 ** 31))
  .option('--database-url <url>', 'an empty database on a server, instead of the embedded one')
  .parse()
  .opts<Options>()

/** On a machine that has nothing else to do. */
const SLOWEST_MS = 2000

const cleanup = createCleanup()
cleanUpOnSignals(cleanup)
try {
  const mails = await startMails()
  cleanup.add(() => mails.close())
  const where = options.databaseUrl ? { DATABASE_URL: options.databaseUrl } : newFolder(cleanup)
  await withDatabase(where, addAdmin)
  const service = await startService(cleanup, where, { ...mails.settings, DEMO_DATA: 'true' })
  console.error(`fuzz: ${options.runs} requests by seed ${options.seed}`)
  const { runs, seed } = options
  const report = await fuzz({
    port: service.port,
    runs,
    seed,
    slowestMs: SLOWEST_MS,
    plainFirst: true,
    nextToken: mails.nextToken,
    admin: ADMIN_ACCOUNT,
  })
  console.log(statusesTable(report))
  const { legal, illegal, unclear } = report.verdicts
  console.log(
    `\n${legal} legal, ${illegal} illegal, ${unclear} of neither sort; the slowest took ${report.slowestMs.toFixed(0)} ms`,
  )
  if (report.failure) {
    console.error(`\n${failureText(report)}`)
    process.exitCode = 1
  }
} finally {
  await cleanup.run()
}

function newFolder(cleanup: Cleanup): { DATA_DIR: string } {
  const folder = mkdtempSync(join(tmpdir(), 'agro-fuzz-'))
  cleanup.add(() => rmSync(folder, { recursive: true, force: true }))
  return { DATA_DIR: join(folder, 'data') }
}
