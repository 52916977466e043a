import { setTimeout } from 'node:timers/promises'

/** One of several processes of the service, which can be started again at its port. */
export interface Replica {
  port: number
  /** Has it end by SIGTERM; says with which code it did. */
  stop(): Promise<unknown>
  /** Starts it again, and waits until it listens. */
  start(): Promise<void>
}

interface Stop {
  code: unknown
  ms: number
}

/**
 * Restarts one replica after the other.
 *
 * @param settleMs how long there is between two restarts, for balancers to find that the replica is back
 */
export async function restartByTurns(
  replicas: Replica[],
  restarts: number,
  settleMs: number,
): Promise<Stop[]> {
  const stops: Stop[] = []
  for (let restart = 0; restart < restarts; restart++) {
    await setTimeout(settleMs)
    const replica = replicas[restart % replicas.length] as Replica
    const began = performance.now()
    const code = await replica.stop()
    stops.push({ code, ms: performance.now() - began })
    await replica.start()
  }
  await setTimeout(settleMs)
  return stops
}
