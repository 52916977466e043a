import { busy } from '#src/domains/auth/hashing.ts'
import type { HashingLines, Line } from '#src/domains/auth/hashing-lines.ts'
import type { Party } from '#src/lib/fair-line.ts'
import type { ToPrimary, ToWorker } from './messages.ts'

/** Lines that the primary keeps for all workers. */
export interface RemoteLines extends HashingLines {
  /** Takes what the primary answers. */
  hear(message: ToWorker): void
}

/** @param tell asks the primary */
export function createRemoteLines(tell: (message: ToPrimary) => void): RemoteLines {
  const waiting = new Map<number, { resolve(asking: number): void; reject(error: Error): void }>()
  let last = 0

  /** Resolves when the primary says that it is the turn of a ticket. */
  function answerTo(ask: (ticket: number) => ToPrimary): Promise<{ asking: number; leave: () => void }> {
    last++
    const ticket = last
    const answer = new Promise<number>((resolve, reject) => waiting.set(ticket, { resolve, reject }))
    tell(ask(ticket))
    return answer.then((asking) => ({ asking, leave: () => tell({ kind: 'leave', ticket }) }))
  }

  return {
    places: createRemoteLine((party) =>
      answerTo((ticket) => ({ kind: 'enter', line: 'places', party, ticket })),
    ),
    accounts: createRemoteLine((party) =>
      answerTo((ticket) => ({ kind: 'enter', line: 'accounts', party, ticket })),
    ),
    async ask(account) {
      const { asking, leave } = await answerTo((ticket) => ({ kind: 'ask', account, ticket }))
      return { asking, end: leave }
    },
    hear(message) {
      if (message.kind !== 'asking' && message.kind !== 'turn' && message.kind !== 'refused') return
      const one = waiting.get(message.ticket)
      waiting.delete(message.ticket)
      if (message.kind === 'refused') one?.reject(busy())
      else one?.resolve(message.kind === 'asking' ? message.asking : 0)
    },
  }
}

/** One of them, with counts of what this process has there. */
function createRemoteLine(ask: (party: Party) => Promise<{ leave: () => void }>): Line {
  const state = { running: 0, waiting: 0, refused: 0 }

  async function enter(party: Party): Promise<() => void> {
    state.waiting++
    try {
      const { leave } = await ask(party)
      state.running++
      return () => {
        state.running--
        leave()
      }
    } catch (error) {
      state.refused++
      throw error
    } finally {
      state.waiting--
    }
  }

  return {
    enter,
    async run(party, task) {
      const leave = await enter(party)
      return task().finally(leave)
    },
    state: () => state,
  }
}
