import type { App } from '#src/http/app.ts'
import { DAY_MS } from '#src/lib/days.ts'
import { createMonthsAhead } from './month-queries.ts'

/** Makes the partitions of the months to come as long as the service runs, each long before its first item. */
export function keepMonths(app: App): void {
  const createAhead = () =>
    createMonthsAhead(app.database.writer).catch((error) =>
      app.logFailure(error, 'the months of the history to come could not be made yet'),
    )
  let timer: NodeJS.Timeout | undefined
  // Of a worker another process listens, and its server is told so by this event.
  app.server.once('listening', () => {
    timer = setInterval(createAhead, DAY_MS).unref()
    void createAhead()
  })
  app.addHook('onClose', async () => clearInterval(timer))
}
