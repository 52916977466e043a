import type { App } from './app.ts'

/** What a crash of the process may lose of what is counted in memory, where nothing else is said. */
const FLUSH_MS = 10_000

/**
 * Has what is counted in memory added to the database now and then, and when the service closes; where
 * that fails, it waits for the next time.
 *
 * @param flush is told whether this is the last time, when the service has to end soon
 * @param sorry what is logged then
 */
export function flushRegularly(
  app: App,
  flush: (last: boolean) => Promise<void>,
  sorry: string,
  everyMs = FLUSH_MS,
): void {
  const tryFlush = (last: boolean) => flush(last).catch((error) => app.logFailure(error, sorry))
  const timer = setInterval(tryFlush, everyMs, false).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await tryFlush(true)
  })
}
