import type { Server } from 'node:net'
import { setImmediate } from 'node:timers/promises'

/** Turns of the loop without another connection: the first may have been half over. */
const QUIET_TURNS = 2

/** Where connections are made faster than they are accepted, there is no end to wait for. */
const MOST_TURNS = 1000

/**
 * Resolves when the connections that the kernel has let in are accepted. Node accepts one a turn of its loop (libuv
 * 1.45 and later), and what waits when a server listens no more is reset.
 */
export async function acceptWaiting(server: Server): Promise<void> {
  let quietTurns = 0
  const heard = () => {
    quietTurns = -1
  }
  server.on('connection', heard).on('drop', heard)
  for (let turn = 0; turn < MOST_TURNS && quietTurns < QUIET_TURNS; turn++) {
    await setImmediate()
    quietTurns++
  }
  server.off('connection', heard).off('drop', heard)
}
