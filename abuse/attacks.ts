import type { Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { Answers } from '#bench/load/answers.ts'
import { ask, type Client, type Sent } from '#bench/load/client.ts'
import { open } from '#bench/load/connection.ts'
import { keepAsking } from '#bench/load/loops.ts'
import type { Attack, Figure, Memory, Target } from './scenario.ts'

/** Asks over some connections, over and over, each as soon as it has its answer. */
export function flood(
  clients: Client[],
  connections: number,
  next: () => Sent,
): Attack & { answers: Answers } {
  const answers = new Answers()
  const loop = keepAsking(connections, async (index) => {
    const { status } = await ask(clients[index % clients.length] as Client, next())
    answers.count(status)
    // Whoever is cut off at once would do nothing else than connect again.
    if (status === 0) await setTimeout(RECONNECT_MS)
  })
  return {
    answers,
    async stop() {
      await Promise.race([loop.stop(), setTimeout(LONGEST_STOP_MS, undefined, { ref: false })])
      return []
    },
  }
}

const RECONNECT_MS = 500
const LONGEST_STOP_MS = 3000

/**
 * Floods a service without a token, and counts requests that were none of what is offered: who is told so at once attacks
 * nobody, and the figures would say nothing.
 *
 * @param ahead so many are answered one after the other before
 */
export async function floodWithoutToken(
  { newcomer }: Target,
  connections: number,
  next: () => Sent,
  ahead = 0,
): Promise<Attack> {
  const anybody = { ...(await newcomer()), token: undefined }
  for (let asked = 0; asked < ahead; asked++) await ask(anybody, next())
  const { answers, stop } = flood([anybody], connections, next)
  return {
    async stop() {
      await stop()
      const value = answers.countOf((status) => status >= 400 && status <= 499 && status !== 429)
      return [{ what: 'requests of the attacker that were refused as wrong', value, unit: '', limit: 0 }]
    },
  }
}

/** Measures what the memory of a service has grown by; it may have done so by so many MiB. */
export async function watchMemory({ memory }: Target, limits: Memory) {
  const before = await memory?.()
  return async (): Promise<Figure[]> => {
    const after = await memory?.()
    if (!before || !after) return []
    const grown = (sort: keyof Memory, what: string): Figure => ({
      what,
      value: Math.max(0, after[sort] - before[sort]),
      unit: ' MiB',
      limit: limits[sort],
    })
    return [grown('held', 'memory that is held'), grown('resident', 'growth of the process')]
  }
}

/** How connections are held. */
export interface Held {
  connections: number
  /** What is sent over each. */
  bytes: Buffer
  /** Whether answers are read to their end; who does not read them does not see either that they were cut off. */
  reads: boolean
}

/**
 * Opens connections, sends the same over each, and does nothing more; what the service closes is opened again.
 *
 * @param figuresOf what it came to, asked while they are open
 */
export async function hold(
  client: Client,
  { connections, bytes, reads }: Held,
  figuresOf: () => Promise<Figure[]> = async () => [],
): Promise<Attack> {
  let stopped = false
  const sockets = new Set<Socket>()
  const openOne = async (): Promise<void> => {
    const socket = await open(client, bytes, reads).catch(() => undefined)
    if (!socket) return
    sockets.add(socket)
    socket.once('close', async () => {
      sockets.delete(socket)
      await setTimeout(RECONNECT_MS, undefined, { ref: false })
      if (!stopped) await openOne()
    })
  }
  await Promise.all(Array.from({ length: connections }, openOne))
  return {
    async stop() {
      const figures = await figuresOf()
      stopped = true
      for (const socket of sockets) socket.destroy()
      return figures
    },
  }
}
