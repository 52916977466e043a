import type { Database } from '#src/database/client.ts'
import type { App } from '#src/http/app.ts'

/** What clients are given time for after SHUTDOWN_DELAY_MS. */
const PATIENCE = { idleMs: 1000, busyMs: 5000 }

/** All that comes after SHUTDOWN_DELAY_MS: that, mails that wait, counts that the database is given, its own end. */
export const CLOSE_TIMEOUT_MS = 10_000

/**
 * Ends this process in order: requests under way are answered; then what is in memory is given to the database, and
 * that is closed. Where that takes too long it ends without, with code 1.
 *
 * @param say tells what was given up
 */
export async function endInOrder(
  app: App,
  database: Pick<Database, 'close'>,
  say: (message: string) => void,
): Promise<never> {
  AbortSignal.timeout(CLOSE_TIMEOUT_MS).addEventListener('abort', () => {
    say('the database takes too long to close: ending without')
    process.exit(1)
  })
  const givenUp = await app.endConnections(PATIENCE)
  if (givenUp > 0) say(`requests that took too long were given up: ${givenUp}`)
  await app.close()
  await database.close()
  process.exit(0)
}
