import type { FastifyReply, FastifyRequest } from 'fastify'
import type { App } from '#src/http/app.ts'
import { createClientSignal, renewTimeBudget, withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { type Pause, sharedWork } from '#src/lib/limiter.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import type { Advisors } from '../polygon/advisors.ts'
import { computeInBackground } from '../polygon/background.ts'
import type { Waiting } from '../polygon/computing.ts'

/** How work on many polygons waits: for a request, or in the background. */
export interface PolygonWork {
  wait: Wait
  /** Waits for a connection to the database, too. The queue may refuse a request. */
  waitInTurn: Wait
  /** The same for an answer that has begun: each piece has the time of a request. */
  goOnInTurn: Wait
  /** Writes beside the work. */
  note(write: () => Promise<void>): Promise<void>
  /** Computes; each computation has a deadline of its own. */
  advise<Found>(advise: (waiting: Waiting) => Promise<Found>): Promise<Found>
  pause: Pause
}

export function createRequestWork(
  request: FastifyRequest,
  reply: FastifyReply,
  { adviseWithTimeout }: Advisors,
): PolygonWork {
  const { server } = request
  const gone = createClientSignal(reply)
  return {
    wait: (step) => withTimeout(request, reply, step),
    waitInTurn: (step) => server.inTurn(request, reply, step),
    goOnInTurn(step) {
      renewTimeBudget(request)
      return server.goOnInTurn(request, reply, step)
    },
    note: (write) => server.noteInTurn(request, write),
    advise: (advise) => adviseWithTimeout(request, reply, advise, true),
    pause: () => server.turns.next(clientKeyOf(request), gone),
  }
}

/** @param name of the work, whose computations take turns with the clients @param closing ends the work */
export function createBackgroundWork(app: App, name: string, closing: AbortSignal): PolygonWork {
  const clientKey = sharedWork(name)
  const wait: Wait = (step) => step()
  return {
    ...{ wait, waitInTurn: wait, goOnInTurn: wait },
    note: (write) => write(),
    advise: (advise) =>
      computeInBackground(app, clientKey, closing, (computation) =>
        advise({ wait, waitInTurn: wait, compute: (task) => task(computation) }),
      ),
    pause: () => app.turns.next(clientKey, closing),
  }
}
