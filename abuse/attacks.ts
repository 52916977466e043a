import type { Socket } from 'node:net'
import { ask, type Client, keepAsking, open, type Sent } from '#bench/load/client.ts'
import type { Attack, Figure, Memory, Target } from './scenario.ts'

/** Asks over some connections, over and over, each as soon as it has its answer. */
export function flood(
  clients: Client[],
  connections: number,
  next: () => Sent,
): Attack & { answers: Record<number, number> } {
  const answers: Record<number, number> = {}
  const loops = keepAsking(connections, async (index) => {
    const { status } = await ask(clients[index % clients.length] as Client, next())
    answers[status] = (answers[status] ?? 0) + 1
    // Whoever is cut off at once would do nothing else than connect again.
    if (status === 0) await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
  })
  return {
    answers,
    async stop() {
      await Promise.race([
        loops.stop(),
        new Promise((resolve) => setTimeout(resolve, LONGEST_STOP_MS).unref()),
      ])
      return []
    },
  }
}

const RECONNECT_MS = 500
const LONGEST_STOP_MS = 3000

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
    socket.once('close', () => {
      sockets.delete(socket)
      if (!stopped) setTimeout(() => void (stopped || openOne()), RECONNECT_MS).unref()
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
