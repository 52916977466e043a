import { loadConfig, loadEnvironmentFile, mistypedSettings } from './config.ts'
import { openCluster } from './data/client.ts'
import { refuseMissingSecret } from './http/access-tokens.ts'
import { type Announcer, announcerFor } from './lib/announcer.ts'
import { failWith } from './process.ts'
import type { Running } from './start.ts'

/** npm passes on a Ctrl-C that the terminal has sent us already. */
const SAME_SIGNAL_MS = 300

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
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, stop)

try {
  loadEnvironmentFile()
  // Errors of the settings have the format of the log, too.
  if (process.env.LOG_FORMAT === 'json') announcer = announcerFor('json')
  const config = loadConfig()
  for (const { name, meant } of mistypedSettings()) {
    announcer.warn(`${name} is no setting: did you mean ${meant}?`)
  }
  // A service that cannot start for want of a secret should not have migrated the database.
  refuseMissingSecret(config)
  // The embedded database opens in a thread: the rest loads meanwhile.
  const opening = openCluster(config, announcer.say)
  const loading = config.WORKERS > 1 ? import('./primary.ts') : import('./start.ts')
  const [cluster, { run }] = await Promise.all([opening, loading])
  running = await run(config, cluster, { announcer, seconds: () => (Date.now() - started) / 1000 })
} catch (error) {
  failWith(error, announcer)
}
