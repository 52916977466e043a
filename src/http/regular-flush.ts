import type { App } from './app.ts'

/** What a crash of the process may lose of what is counted in memory, where nothing else is said. */
const FLUSH_MS = 10_000

/**
 * Has what is counted in memory added to the database now and then, and when the service closes; where
 * that fails, it waits for the next time.
 *
 * @param sorry what is logged then
 */
export function flushRegularly(
  app: App,
  flush: () => Promise<void>,
  sorry: string,
  everyMs = FLUSH_MS,
): void {
  const tryFlush = () => flush().catch((error) => app.logFailure(error, sorry))
  const timer = setInterval(tryFlush, everyMs).unref()
  app.addHook('onClose', async () => {
    clearInterval(timer)
    await tryFlush()
  })
}
