/** Replaces a version of the service that was released by this one under load, and counts what fails meanwhile. */
import { execFile } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Command } from 'commander'
import { type Cleanup, temporaryFolder, withCleanup } from '#bench/cleanup.ts'
import { openDatabaseServer } from '#bench/postgres.ts'
import type { Server } from '#bench/processes.ts'
import { startService } from '#bench/service.ts'
import { OperatorError } from '#src/errors.ts'
import { readErrorCode } from '#src/lib/promises.ts'
import { tryCrossings } from './crossings.ts'
import { beginLoad, byTurns } from './load/begin.ts'
import { learnAnswers, planFor } from './load/load.ts'
import { judgePhases, type Phase } from './phases.ts'

interface Options {
  from: string
  seconds: number
}

/** What a balancer needs that asks for readiness once a second, to find that a process stops. */
const SETTINGS = { DEMO_DATA: 'true', ACCESS_TOKEN_MINUTES: '60', SHUTDOWN_DELAY_MS: '2000' }

const NPM_CI = ['ci', '--omit=dev', '--no-audit', '--no-fund', '--loglevel=error']

const { from, seconds } = new Command('chaos/upgrade.ts')
  .description('Replace a version of the service that was released by this one, under load.')
  .requiredOption('--from <tag>', 'the version before, v1.1.0 or later')
  .option('--seconds <number>', 'how long each step is under load', Number, 5)
  .parse()
  .opts<Options>()

try {
  process.exitCode = (await withCleanup(run)) ? 0 : 1
} catch (error) {
  if (!(error instanceof OperatorError)) throw error
  console.error(`chaos: ${error.message}`)
  process.exitCode = 1
}

async function run(cleanup: Cleanup): Promise<boolean> {
  const folder = await checkOut(cleanup, from)
  const server = await openDatabaseServer(cleanup)
  if (!server) throw new OperatorError('There is no PostgreSQL with PostGIS here; set BENCH_DATABASE_URL.')
  const where = { DATABASE_URL: await server.createDatabase('upgrade') }
  const old = await startService(cleanup, where, SETTINGS, folder)
  const known = await learnAnswers({ service: old })
  const plan = await planFor(old.port, known)

  const phases: Phase[] = []
  const begin = (name: string) => phases.push({ name, from: Date.now() })
  const ports = [old.port]
  begin(`${from} alone`)
  const load = beginLoad(plan, byTurns(ports))
  await setTimeout(seconds * 1000)
  begin('the schema is brought up to date')
  await migrate(where.DATABASE_URL)
  begin(`${from} on the newer schema`)
  await setTimeout(seconds * 1000)
  begin('this version starts')
  const present = await startService(cleanup, where, { ...SETTINGS, MIGRATE_ON_START: 'false' })
  begin('both, by turns')
  ports.push(present.port)
  const wrong = [
    ...(await tryCrossings(old.port, present.port, known)),
    ...(await tryCrossings(present.port, old.port, known)),
  ]
  await setTimeout(seconds * 1000)
  begin(`${from} stops`)
  const code = await stopBehindBalancer(old, ports)
  begin('this version alone')
  await setTimeout(seconds * 1000)
  const heard = await load.stop()
  if (code !== 0) wrong.push(`${from} ended with the code ${code}`)
  const mistakes = [...(await judgePhases(phases, { ...plan, port: present.port }, heard)), ...wrong]
  for (const mistake of mistakes) console.log(`FAILED: ${mistake}`)
  return mistakes.length === 0
}

/** Brings the schema up to date as an operator does, with the version before still running. */
async function migrate(url: string): Promise<void> {
  await promisify(execFile)(process.execPath, ['bin/run.mjs', 'src/cli/agro.ts', 'migrate'], {
    env: { ...process.env, DATABASE_URL: url },
  })
}

/**
 * Has a process end, and sends nothing to it any more once its readiness says so, as a balancer does.
 *
 * @returns the code that it has ended with
 */
async function stopBehindBalancer(server: Server, ports: number[]): Promise<number | null> {
  const stopped = server.stop()
  while ((await fetch(`http://127.0.0.1:${server.port}/health/ready`)).ok) await setTimeout(100)
  ports.splice(ports.indexOf(server.port), 1)
  await stopped
  return server.ended
}

/**
 * Puts a version that was tagged into a folder of its own, with its packages.
 *
 * @returns the folder, which is removed at the end
 * @throws {OperatorError} where there is no such tag, no git, or a package cannot be had
 */
async function checkOut(cleanup: Cleanup, tag: string): Promise<string> {
  const parent = temporaryFolder(cleanup, 'chaos-version')
  const [archive, folder] = [join(parent, 'archive.tar'), join(parent, 'version')]
  mkdirSync(folder)
  await runIn('git', ['archive', `--output=${archive}`, `refs/tags/${tag}`], '.', `${tag} cannot be had`)
  await runIn('tar', ['-xf', archive], folder, `${tag} cannot be unpacked`)
  await runIn('npm', NPM_CI, folder, `the packages of ${tag} cannot be installed`)
  return folder
}

async function runIn(program: string, parameters: string[], cwd: string, failure: string): Promise<void> {
  try {
    await promisify(execFile)(program, parameters, { cwd })
  } catch (error) {
    const { stderr } = error as { stderr?: string }
    const reason = readErrorCode(error) === 'ENOENT' ? `there is no ${program} here` : stderr?.trim()
    throw new OperatorError(`${failure}: ${reason}.`)
  }
}
