import { setTimeout } from 'node:timers/promises'
import { ask, type Sent } from '#bench/load/client.ts'
import { keepAsking } from '#bench/load/loops.ts'

/** What is asked, and how a right answer is told from a wrong one. */
export interface Question extends Sent {
  name: string
  token?: string | undefined
  isRight(status: number, text: string): boolean
}

/** A request that was sent and not answered rightly. */
export interface Failure {
  question: string
  /** Since the traffic began. */
  atMs: number
  reason: string
}

export interface Tally {
  /** Right answers by question. */
  right: Map<string, number>
  failures: Failure[]
}

export interface Traffic {
  /** How many requests have been answered rightly so far. */
  count(): number
  /** Waits for the answers that are under way. */
  stop(): Promise<Tally>
}

/** Longer than the service may take for anything that is asked here. */
const ANSWER_MS = 15_000

/** Before an address that refuses a connection is asked again. */
const REFUSED_MS = 20

/**
 * Asks from many clients at once, each again when it was answered, over connections that are kept as long as the
 * service says so. An address that refuses a connection has got no request: the next one is asked.
 *
 * @param ports of this machine, which are asked by turns
 * @param pauseMs how long each client waits between an answer and its next question
 */
export function startTraffic(ports: number[], questions: Question[], clients: number, pauseMs = 0): Traffic {
  const tally: Tally = { right: new Map(), failures: [] }
  const began = performance.now()
  let turn = 0
  let count = 0

  async function askFor({ name, token, isRight, ...sent }: Question): Promise<void> {
    const port = ports[turn++ % ports.length] as number
    const { status, body, failure } = await ask({ port, token }, sent, ANSWER_MS)
    if (failure === 'ECONNREFUSED') {
      await setTimeout(REFUSED_MS)
      return askFor({ name, token, isRight, ...sent })
    }
    if (failure === undefined && isRight(status, body)) {
      count++
      tally.right.set(name, (tally.right.get(name) ?? 0) + 1)
    } else {
      const reason = failure ?? (status === 200 ? 'a wrong answer' : `status ${status}`)
      tally.failures.push({ question: name, atMs: performance.now() - began, reason })
    }
  }

  const asking = keepAsking(clients, async (client, call) => {
    await askFor(questions[(client + call) % questions.length] as Question)
    if (pauseMs > 0) await setTimeout(pauseMs)
  })
  return {
    count: () => count,
    async stop() {
      await asking.stop()
      return tally
    },
  }
}
