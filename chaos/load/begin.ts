import { askEvery } from '#bench/load/loops.ts'
import { askerOfKnown, createAsking } from './callers.ts'
import {
  deleter,
  historyReader,
  keeper,
  keyHolder,
  loginCaller,
  rater,
  refresher,
  registrar,
} from './members.ts'
import type { Heard, Plan } from './plan.ts'
import { fieldOwner, mapVisitor, packTaker } from './visitors.ts'

/** A load that is under way. */
export interface UnderWay {
  /** Waits for the answers that are under way. */
  stop(): Promise<Heard>
}

/** Gives one of some ports after the other; the list may change meanwhile. */
export function byTurns(ports: readonly number[]): () => number {
  let turn = 0
  return () => ports[turn++ % ports.length] as number
}

/** What was heard before the first answer. */
export const emptyHeard = (): Heard => ({
  asked: [],
  ledger: {
    named: [],
    kept: [],
    deleted: [],
    deleting: [],
    rated: [],
    registered: [],
    keys: [],
    endedKeys: [],
  },
})

/**
 * Asks at fixed times for everything that a plan has.
 *
 * @param nextPort gives the port that the next request goes to, where not all go to those of the plan
 * @param slowness how many times as long as usual is waited before the next of each
 */
export function beginLoad(
  plan: Plan,
  nextPort = byTurns([plan.port, ...(plan.otherPorts ?? [])]),
  slowness = 1,
): UnderWay {
  const heard = emptyHeard()
  const { ledger } = heard
  const asking = createAsking(nextPort, heard)
  const callers = [
    askerOfKnown(asking, 'point', plan, 20),
    askerOfKnown(asking, 'point from the database', plan, 50),
    askerOfKnown(asking, 'batch', plan, 300),
    askerOfKnown(asking, 'polygon', plan, 500),
    askerOfKnown(asking, 'catalog', plan, 300),
    keeper(asking, plan, ledger),
    historyReader(asking, plan, ledger),
    rater(asking, plan, ledger),
    deleter(asking, plan, ledger),
    loginCaller(asking, plan),
    refresher(asking, plan),
    registrar(asking, ledger),
    keyHolder(asking, plan, ledger),
    ...(plan.districts
      ? [packTaker(asking, plan.districts), mapVisitor(asking), fieldOwner(asking, plan)]
      : []),
  ]
  const loops = callers.map(({ everyMs, ask }) => askEvery(everyMs * slowness, ask))
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()))
      return heard
    },
  }
}
