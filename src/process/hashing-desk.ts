import type { HashingLines } from '#src/domains/auth/hashing-lines.ts'
import type { ToPrimary, ToWorker } from './messages.ts'

/** Lets a worker stand in lines that this process keeps for all of them. */
export interface HashingDesk {
  /** Takes what a worker says of it; anything else is not for the desk. */
  hear(message: ToPrimary): void
  /** Gives back what it holds: it has ended. */
  close(): void
}

/** @param tell answers the worker */
export function createHashingDesk(
  { places, accounts, ask }: HashingLines,
  tell: (message: ToWorker) => void,
): HashingDesk {
  const lines = { places, accounts }
  /** What gives each of its turns back, or takes it out of the line. */
  const held = new Map<number, () => void>()
  /** What a worker has said may be read after its end is known. */
  let isClosed = false

  async function enter(ticket: number, turn: (signal: AbortSignal) => Promise<() => void>): Promise<void> {
    const controller = new AbortController()
    held.set(ticket, () => controller.abort())
    try {
      const leave = await turn(controller.signal)
      if (controller.signal.aborted) return leave()
      held.set(ticket, leave)
      tell({ kind: 'turn', ticket })
    } catch {
      if (held.delete(ticket)) tell({ kind: 'refused', ticket })
    }
  }

  function leave(ticket: number): void {
    const giveBack = held.get(ticket)
    held.delete(ticket)
    giveBack?.()
  }

  return {
    hear(message) {
      if (isClosed) return
      if (message.kind === 'enter') {
        const { ticket, line, party } = message
        void enter(ticket, (signal) => lines[line].enter(party, signal))
      } else if (message.kind === 'ask') {
        const { ticket, account } = message
        void ask(account).then(({ asking, end }) => {
          if (isClosed) return end()
          held.set(ticket, end)
          tell({ kind: 'asking', ticket, asking })
        })
      } else if (message.kind === 'leave') {
        leave(message.ticket)
      }
    },
    close() {
      isClosed = true
      for (const ticket of [...held.keys()]) leave(ticket)
    },
  }
}
