import { fork } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { type Config, loadConfig, loadEnvironmentFile, mistypedSettings } from './config.ts'
import { beginCluster, openCluster } from './data/client.ts'
import { OperatorError } from './errors.ts'
// Opens the lists of the core, before settings are read.
import './extensions/index.ts'
import { refuseMissingSecret } from './http/access-tokens.ts'
import { type Announcer, announcerFor } from './lib/announcer.ts'
import { failWith } from './process.ts'
import type { Running } from './start.ts'

/** npm passes on a Ctrl-C that the terminal has sent us already. */
const SAME_SIGNAL_MS = 300

const LOOK_FOR_PARENT_EVERY_MS = 500

const started = Date.now()

let announcer: Announcer = announcerFor('text')
let running: Running | undefined
let firstSignalAt: number | undefined

/**
 * Stops the service; before its start, and at a second signal, ends the process at once. Without a listener, PID 1 of a
 * container would not end.
 */
function stop(_signal: string, number: number): void {
  if (!running) process.exit(128 + number)
  if (firstSignalAt === undefined) {
    announcer.say('stopping')
    void running.stop()
  } else if (Date.now() - firstSignalAt > SAME_SIGNAL_MS) {
    process.exit(128 + number)
  }
  firstSignalAt ??= Date.now()
}
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, stop)

// npm that is killed, or ends with its terminal, passes nothing on: the service would hold its port and its folder.
if (process.env.npm_lifecycle_event === 'start') {
  const { ppid } = process
  const look = () => {
    if (process.ppid !== ppid && firstSignalAt === undefined) process.kill(process.pid, 'SIGHUP')
  }
  setInterval(look, LOOK_FOR_PARENT_EVERY_MS).unref()
}

/** The argument of the process that makes a new embedded database. */
const PREPARE = 'prepare'

/**
 * Makes a new embedded database in a process of its own: what the creation takes of memory ends with it. This process ends
 * where that one fails.
 */
async function makeDatabase({ DATABASE_URL, DATA_DIR }: Config): Promise<void> {
  const isMade = existsSync(join(DATA_DIR, 'postgres')) && !existsSync(join(DATA_DIR, 'unfinished'))
  if (DATABASE_URL !== undefined || isMade) return
  const run = fileURLToPath(new URL('../bin/run.mjs', import.meta.url))
  const child = fork(run, [fileURLToPath(import.meta.url), PREPARE])
  process.once('exit', () => child.kill())
  const [code, signal] = await once(child, 'exit')
  if (signal) throw new OperatorError(`The process that makes the embedded database was ended by ${signal}.`)
  if (code !== 0) process.exit(code)
}

async function prepareAndEnd(config: Config): Promise<never> {
  // A folder without its service would stay locked.
  process.once('disconnect', () => process.exit(1))
  // It ends before what it runs often would pay for being compiled well.
  setFlagsFromString('--liftoff-only')
  const { prepare } = await import('./prepare.ts')
  const cluster = await openCluster(config, announcer.say)
  await prepare(config, cluster, announcer.say)
  await cluster.close()
  process.exit(0)
}

try {
  loadEnvironmentFile()
  // Errors of the settings have the format of the log, too.
  if (process.env.LOG_FORMAT === 'json') announcer = announcerFor('json')
  const config = loadConfig()
  if (process.argv[2] === PREPARE) await prepareAndEnd(config)
  for (const { name, meant } of mistypedSettings()) {
    announcer.warn(`${name} is no setting: did you mean ${meant}?`)
  }
  // A service that cannot start for want of a secret should not have migrated the database.
  refuseMissingSecret(config)
  const { cluster, opened } = beginCluster(config, announcer.say, makeDatabase(config))
  const start = { announcer, opened, seconds: () => (Date.now() - started) / 1000 }
  // Other processes and threads open the database: the rest loads meanwhile.
  const { run } = await (config.WORKERS > 1 ? import('./primary.ts') : import('./start.ts'))
  running = await run(config, cluster, start)
} catch (error) {
  failWith(error, announcer)
}
