/**
 * The load generator: a process of its own that the bench tells over IPC what to send. All requests are
 * written out before, so that while it measures it only sends, receives and counts.
 */
import { Answers } from './answers.ts'
import { written } from './client.ts'
import { type Connection, openConnection } from './connection.ts'
import type { Command, LoadResult, Order, Run } from './generator.ts'
import { randomNumbers, uniformPlaces, zipfPlaces } from './random.ts'

/** Requests are drawn in an order that repeats after so many. */
const ORDER_LENGTH = 1 << 20
/** After the measured time, requests under way are waited for; a server that takes longer is broken. */
const DRAIN_MS = 20_000
/** How long sending each request of a list may take. */
const LONGEST_LIST_MS = 300_000

const requests = new Map<string, Buffer[]>()
const orders = new Map<string, Uint32Array>()

function requestsOf(list: string): Buffer[] {
  const found = requests.get(list)
  if (!found) throw new Error(`no requests named ${list}`)
  return found
}

function orderOf(list: string, order: Order): Uint32Array {
  const key = `${list} ${order}`
  const kept = orders.get(key)
  if (kept) return kept
  const count = requestsOf(list).length
  const random = randomNumbers(ORDER_LENGTH)
  let next = 0
  const draw =
    order === 'uniform'
      ? uniformPlaces(count, random)
      : order === 'zipf'
        ? zipfPlaces(count, random)
        : () => next++ % count
  const made = Uint32Array.from({ length: order === 'once' ? count : ORDER_LENGTH }, draw)
  orders.set(key, made)
  return made
}

function openAll(
  { port, connections }: Run,
  answered: (index: number, status: number) => void,
  broken: (error: Error) => void,
): Promise<Connection[]> {
  const open = (index: number) =>
    new Promise<Connection>((resolve, reject) => {
      const failed = (error: Error) => {
        reject(error)
        broken(error)
      }
      openConnection(port, resolve, (status) => answered(index, status), failed)
    })
  return Promise.all(Array.from({ length: connections }, (_, index) => open(index)))
}

async function run(task: Run): Promise<LoadResult> {
  const list = requestsOf(task.list)
  const order = orderOf(task.list, task.order)
  const once = task.order === 'once'
  const answers = new Answers()
  const sentAt = new Float64Array(task.connections)
  const start = { at: 0, cpu: process.cpuUsage() }
  let next = Math.floor(((task.skip ?? 0) * order.length) % order.length)
  let left = once ? order.length : Number.POSITIVE_INFINITY
  let underWay = 0
  let lastAnswer = 0
  let until = Number.POSITIVE_INFINITY
  let finished: (error?: Error) => void = () => {}

  const answered = (index: number, status: number): void => {
    const now = performance.now()
    underWay--
    answers.count(status, now <= until ? now - (sentAt[index] as number) : undefined)
    if (now <= until) lastAnswer = now
    send(index, now)
  }
  const connections = await openAll(task, answered, (error) => finished(error))

  function send(index: number, now: number): void {
    if (now > until || left === 0) {
      if (underWay === 0) finished()
      return
    }
    left--
    underWay++
    sentAt[index] = now
    connections[index]?.send(list[order[next] as number] as Buffer)
    next = next + 1 === order.length ? 0 : next + 1
  }

  await new Promise<void>((resolve, reject) => {
    const timeBudget = (once ? LONGEST_LIST_MS : task.seconds * 1000) + DRAIN_MS
    const watchdog = setTimeout(() => finished(new Error('requests were not answered in time')), timeBudget)
    finished = (error) => {
      clearTimeout(watchdog)
      if (error) reject(error)
      else resolve()
    }
    start.at = performance.now()
    if (!once) until = start.at + task.seconds * 1000
    for (let index = 0; index < connections.length; index++) send(index, start.at)
  }).finally(() => {
    for (const connection of connections) connection.close()
  })
  const seconds = once ? (lastAnswer - start.at) / 1000 : task.seconds
  const cpu = process.cpuUsage(start.cpu)
  return {
    ...answers.summary(),
    rate: answers.latencies.count / seconds,
    generatorLoad: (cpu.user + cpu.system) / 1e6 / ((performance.now() - start.at) / 1000),
  }
}

process.on('message', async (command: Command) => {
  try {
    if (command.kind === 'requests') {
      const { list, paths, bodies, token } = command
      requests.set(
        list,
        bodies.flatMap((body) => paths.map((path) => written({ token }, { path, body }))),
      )
      for (const key of orders.keys()) if (key.startsWith(`${list} `)) orders.delete(key)
      process.send?.({})
    } else process.send?.({ result: await run(command) })
  } catch (error) {
    process.send?.({ error: (error as Error).message })
  }
})
process.on('disconnect', () => process.exit())
