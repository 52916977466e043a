import { setTimeout } from 'node:timers/promises'
import { keepAsking } from '#bench/load/loops.ts'
import { byTurns, emptyHeard, type UnderWay } from './load/begin.ts'
import { askerOfKnown, createAsking } from './load/callers.ts'
import { keeper } from './load/members.ts'
import type { Plan } from './load/plan.ts'

export interface Traffic extends UnderWay {
  /** How many requests have been answered so far. */
  count(): number
}

/** Clients have the same address: so they take turns on few connections. */
const ADDRESS = '127.2.1.1'

/**
 * Asks from many clients at once, each again when it was answered, over connections that are kept as long as the
 * service says so. An address that refuses a connection has got no request: the next one is asked.
 *
 * @param ports of this machine, which are asked by turns
 * @param pauseMs how long each client waits between an answer and its next question
 */
export function startTraffic(plan: Plan, ports: number[], clients: number, pauseMs = 0): Traffic {
  const heard = emptyHeard()
  const asking = createAsking(byTurns(ports), heard, { address: ADDRESS, passesOn: true })
  const callers = [
    askerOfKnown(asking, 'point', plan, 0),
    askerOfKnown(asking, 'batch', plan, 0),
    askerOfKnown(asking, 'polygon', plan, 0),
    keeper(asking, plan, heard.ledger),
  ]
  const loop = keepAsking(clients, async (client, call) => {
    await callers[(client + call) % callers.length]?.ask()
    if (pauseMs > 0) await setTimeout(pauseMs)
  })
  return {
    count: () => heard.asked.length,
    async stop() {
      await loop.stop()
      return heard
    },
  }
}
