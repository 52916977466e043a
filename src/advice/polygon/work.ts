import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { createClientSignal } from '#src/http/plugins/time-budget.ts'
import { type Pause, sharedWork } from '#src/lib/limiter.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Advisors } from './advisors.ts'
import { computeInBackground } from './background.ts'
import type { Waiting } from './tiles.ts'

/** How work on many polygons waits: for a request, or in the background. */
export interface PolygonWork {
  wait: Wait
  /** Waits for a connection to the database, too. The queue may refuse a request. */
  waitForPermit: Wait
  /** The same for an answer that has begun: each piece has the time of a request. */
  goOnWithPermit: Wait
  /** Writes beside the work. */
  note(write: () => Promise<void>): Promise<void>
  /** Computes; each computation has a deadline of its own. */
  advise<Found>(advise: (waiting: Waiting) => Promise<Found>): Promise<Found>
  pause: Pause
}

export function createRequestWork(exchange: Exchange, { adviseWithTimeout }: Advisors): PolygonWork {
  const { request, reply } = exchange
  const { server } = request
  const gone = createClientSignal(reply)
  return {
    wait: (step) => exchange.wait(step),
    waitForPermit: (step) => exchange.withDatabasePermit(step),
    goOnWithPermit(step) {
      exchange.renewDeadline()
      return request.server.goOnWithPermit(exchange, step)
    },
    note: (write) => server.noteWithPermit(request, write),
    advise: (advise) => adviseWithTimeout(exchange, advise, true),
    pause: () => exchange.nextSlice(gone),
  }
}

/** @param name of the work, whose computations take turns with the clients @param closing ends the work */
export function createBackgroundWork(app: App, name: string, closing: AbortSignal): PolygonWork {
  const clientKey = sharedWork(name)
  const wait: Wait = (step) => step()
  return {
    ...{ wait, waitForPermit: wait, goOnWithPermit: wait },
    note: (write) => write(),
    advise: (advise) =>
      computeInBackground(app, clientKey, closing, (computation) =>
        advise({ wait, waitForPermit: wait, compute: (task) => task(computation) }),
      ),
    pause: () => app.slices.next(clientKey, closing),
  }
}
