import { setTimeout } from 'node:timers/promises'
import { ask, isSuccess, type Reply, type Sent } from '#bench/load/client.ts'
import type { Asked, Heard, Known, Plan, What } from './plan.ts'

/** Somebody who asks at fixed times, whether or not earlier ones have been answered. */
export interface Caller {
  everyMs: number
  ask(): Promise<void>
}

export const callerOf = (everyMs: number, ask: Caller['ask']): Caller => ({ everyMs, ask })

/** A request without an answer by then has none. Longer than the service may take for anything. */
const GIVEN_UP_MS = 15_000

/** Before an address that refuses a connection is asked again. */
const REFUSED_MS = 20

/**
 * Asks, keeps a record of it, and looks at what comes with a 2xx.
 *
 * @param nextPort gives the port that the next request goes to
 * @param address of everybody, instead of one for each thing that is asked for
 * @param passesOn whether what a port refuses a connection for, which it has not got, goes to the next port
 */
export function createAsking(
  nextPort: () => number,
  heard: Heard,
  { address: ofAll, passesOn = false }: { address?: string; passesOn?: boolean } = {},
) {
  /**
   * @param check says what is wrong with a success, or of which release it is
   * @returns the answer, where it is a success
   */
  return async function asking(
    what: What,
    sent: Sent,
    token: string | undefined,
    check: (reply: Reply) => Pick<Asked, 'wrong' | 'release'> = () => ({}),
    address = ofAll ?? ADDRESSES[what],
  ): Promise<Reply> {
    const at = Date.now()
    let reply = await ask({ port: nextPort(), address, token }, sent, GIVEN_UP_MS)
    while (passesOn && reply.failure === 'ECONNREFUSED') {
      await setTimeout(REFUSED_MS)
      reply = await ask({ port: nextPort(), address, token }, sent, GIVEN_UP_MS)
    }
    const { status, headers, ms } = reply
    const outcome = isSuccess(reply) ? check(reply) : {}
    const retryAfter = headers['retry-after'] !== undefined
    const byService = headers['x-request-id'] !== undefined
    heard.asked.push({ what, at, ms, status, retryAfter, byService, ...outcome })
    return reply
  }
}
export type Asking = ReturnType<typeof createAsking>

/** Networks take turns: who asks for one thing is not kept waiting by who asks for another. */
const ADDRESSES: Record<What, string> = {
  point: '127.2.0.1',
  'point from the database': '127.2.0.2',
  'kept point': '127.2.0.3',
  batch: '127.2.0.4',
  polygon: '127.2.0.5',
  catalog: '127.2.0.6',
  history: '127.2.0.7',
  feedback: '127.2.0.8',
  deletion: '127.2.0.9',
  login: '127.2.0.10',
  refresh: '127.2.0.11',
  registration: '127.2.0.12',
  key: '127.2.0.13',
  pack: '127.2.0.14',
  map: '127.2.0.15',
  'saved fields': '127.2.0.16',
}

/** Asks for what is known by turns. */
export function askerOfKnown(
  asking: Asking,
  what: keyof Plan['known'],
  { known, account }: Plan,
  everyMs: number,
): Caller {
  let turn = 0
  const token = what === 'polygon' ? account.access_token : undefined
  return callerOf(everyMs, async () => {
    const { path, method, body, answers } = known[what][turn++ % known[what].length] as Known
    await asking(what, { method, path, body }, token, ({ body: text }) => compare(comparable(text), answers))
  })
}

/** Which release a right answer is of. */
export function compare(text: string, answers: Record<string, string>): Pick<Asked, 'wrong' | 'release'> {
  for (const [release, answer] of Object.entries(answers)) if (answer === text) return { release }
  return { wrong: text.slice(0, 1000) }
}

/** An answer without what differs each time that it is kept or published. */
export function comparable(text: string): string {
  return text.replace(/,"(history_id|published_at)":"[^"]*"/g, '')
}
