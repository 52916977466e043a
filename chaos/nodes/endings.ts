import { setTimeout } from 'node:timers/promises'
import { ask, isSuccess, type Sent } from '#bench/load/client.ts'
import { client, planFor } from '../load/load.ts'
import type { Plan } from '../load/plan.ts'
import type { Nodes } from './nodes.ts'

/** For so long an ended session may be taken for a living one, by a process that remembers it. */
const LONGEST_MS = 5000
const GIVEN_UP_MS = 10_000
const EVERY_MS = 50

/** Over connections of several addresses, which get to several workers of a process. */
const ADDRESSES = ['127.3.1.1', '127.3.1.2', '127.3.1.3', '127.3.1.4']

export interface Endings {
  /** How long after its end a session or a key was of use for the last time. */
  longestMs: number
  mistakes: string[]
}

/** Ends a session and a key that all processes remember, and asks all of them until they are refused. */
export async function tryEndings(nodes: Nodes, known: Plan['known']): Promise<Endings> {
  const { port } = nodes
  const { account } = await planFor(port, known)
  const made = await ask(client(port, account.access_token), { path: '/auth/keys', body: '{"name":"ended"}' })
  const { id, key } = JSON.parse(made.body)
  const endings: Endings = { longestMs: 0, mistakes: [] }

  async function end(what: string, token: string, use: string, sent: Sent): Promise<void> {
    const asked = nodes.ports.flatMap((one) => ADDRESSES.map((address) => ({ port: one, address })))
    const statusAt = async (where: (typeof asked)[number]) =>
      (await ask({ ...client(where.port, token), ...where }, { method: 'GET', path: use })).status
    for (const where of asked) {
      const status = await statusAt(where)
      if (status !== 200) endings.mistakes.push(`a ${what} was answered ${status} before its end`)
    }
    const reply = await ask(client(port, account.access_token), sent)
    if (!isSuccess(reply)) endings.mistakes.push(`the end of a ${what} was answered ${reply.status}`)
    const ended = performance.now()
    const uses = await Promise.all(asked.map((where) => lastUse(() => statusAt(where), ended)))
    const longest = Math.max(...uses)
    endings.longestMs = Math.max(endings.longestMs, longest)
    if (longest > LONGEST_MS)
      endings.mistakes.push(`a ${what} was of use ${Math.round(longest)} ms after its end`)
  }

  await end('key', key, '/history/my?limit=1', { method: 'DELETE', path: `/auth/keys/${id}` })
  await end('session', account.access_token, '/user/profile', { path: '/auth/logout' })
  return endings
}

/** @returns when something was asked for the last time that was not refused, in milliseconds after a moment */
async function lastUse(status: () => Promise<number>, ended: number): Promise<number> {
  let last = 0
  for (;;) {
    const at = performance.now() - ended
    if ((await status()) === 401) return last
    last = at
    if (at > GIVEN_UP_MS) return last
    await setTimeout(EVERY_MS)
  }
}
