import type { Worker } from 'node:cluster'
import cluster from 'node:cluster'
import type { Socket } from 'node:net'
import type { MetricObject } from 'prom-client'
import type { Config } from './config.ts'
import { formatError } from './lib/promises.ts'
import { doublingPauses, type Pauses, pauseAfter } from './lib/retry.ts'

export type ToWorker =
  /** The settings of a worker; its successor has the same number. */
  | { kind: 'start'; config: Config; worker: number }
  /** A connection comes with it. */
  | { kind: 'connection' }
  /** Readiness turns to 503, and answers end their connections. */
  | { kind: 'drain' }
  /** No more connections come. */
  | { kind: 'end' }
  | { kind: 'scrape' }
  | { kind: 'ping' }

export type ToPrimary =
  /** The worker waits for its start. */
  | { kind: 'loaded' }
  /** The worker answers requests. */
  | { kind: 'ready' }
  | { kind: 'pong' }
  | { kind: 'metrics'; metrics: MetricObject[] }

export interface Member {
  readonly number: number
  isReady: boolean
  /** Beats since the last ping without an answer. */
  beats: number
  tell(message: ToWorker): void
  take(socket: Socket): void
  kill(): void
  ended: Promise<End>
}

export interface End {
  /** The exit code, or 1 after a signal or without a process. */
  code: number
  why: string
}

/** @param returned takes back a connection that has not left this process */
function createMember(worker: Worker, number: number, returned: (socket: Socket) => void): Member {
  const leaving = new Set<Socket>()
  const member: Member = {
    number,
    isReady: false,
    beats: 0,
    // A worker that is about to end gets no message.
    tell: (message) => void (worker.isConnected() && worker.send(message, () => {})),
    take(socket) {
      leaving.add(socket)
      // Node sends one connection after another, and later messages after them. A connection that Node closes by itself
      // would stay for ever with a worker that ends before it answers.
      worker.send({ kind: 'connection' }, socket, { keepOpen: true }, (error) => {
        if (!error && leaving.delete(socket)) socket.destroy()
      })
    },
    kill: () => void worker.process.kill('SIGKILL'),
    ended: endOf(worker),
  }
  void member.ended.then(() => {
    member.isReady = false
    for (const socket of leaving) returned(socket)
  })
  return member
}

function endOf(worker: Worker): Promise<End> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) =>
      resolve({ code: code ?? 1, why: signal ?? `code ${code}` }),
    )
    // Node also says it of a process that could not be killed: its exit is still to come.
    worker.on('error', ({ message }) => {
      if (worker.process.pid === undefined) resolve({ code: 1, why: message })
    })
  })
}

/** The pauses before a worker is replaced: longer after predecessors that ended soon. */
const PAUSES_MS: Pauses = [0, ...doublingPauses(500, 30_000)]

/** A worker of this age has not ended soon. */
const STEADY_MS = 60_000

/**
 * Pings: missed ones count by beats of this process, not by the clock. On a machine that sleeps no worker misses any.
 */
export interface Pings {
  everyMs: number
  /** A worker that misses so many gets no connections. */
  untilHanging: number
  /** A worker that misses so many is killed. */
  untilKilled: number
}

const PINGS: Pings = { everyMs: 1000, untilHanging: 5, untilKilled: 30 }

export type WorkerPool = ReturnType<typeof createWorkerPool>

interface WorkerPoolOptions {
  /** The settings of each worker. */
  config: Config
  workers: number
  say(message: string): void
  hear(member: Member, message: ToPrimary): void
  left(member: Member): void
  /** A worker takes connections, from now on or again. */
  answers(member: Member): void
  /** Takes back a connection that has not left this process. */
  returned(socket: Socket): void
  pings?: Pings
}

function startHeartbeat(all: () => Member[], { say, answers, pings = PINGS }: WorkerPoolOptions) {
  let killed = 0
  const hangs = ({ beats }: Member) => beats > pings.untilHanging

  function beat(member: Member): void {
    member.beats++
    const missed = member.beats - 1
    const silence = `worker ${member.number} has not answered for ${(missed * pings.everyMs) / 1000} s`
    // Not again: a worker that hangs would find a heap of pings.
    if (missed === 0) member.tell({ kind: 'ping' })
    else if (missed === pings.untilHanging) say(`${silence}: it gets no connections`)
    else if (missed === pings.untilKilled) {
      say(`${silence}: it is killed`)
      killed++
      member.isReady = false
      member.kill()
    }
  }

  const timer = setInterval(() => all().forEach(beat), pings.everyMs)
  return {
    hangs,
    killed: () => killed,
    answered(member: Member): void {
      if (!member.isReady) return
      const hung = hangs(member)
      member.beats = 0
      if (!hung) return
      say(`worker ${member.number} answers again`)
      answers(member)
    },
    end: () => clearInterval(timer),
  }
}

/** Starts a process; gives the reason where Node throws, as without memory. */
function fork(): Worker | string {
  try {
    return cluster.fork()
  } catch (error) {
    return formatError(error)
  }
}

function createPauses(): (number: number, livedMs: number) => number {
  /** Ends soon after the start, in a row. */
  const soon = new Map<number, number>()
  return (number, livedMs) => {
    const times = 1 + (livedMs < STEADY_MS ? (soon.get(number) ?? 0) : 0)
    soon.set(number, times)
    return pauseAfter(PAUSES_MS, times)
  }
}

/** The workers; another one takes the place of each that ends. */
export function createWorkerPool(options: WorkerPoolOptions) {
  const { config, workers, say, hear, left, answers, returned } = options
  const present = new Map<number, Member>()
  /** Numbers of workers that have answered: they are replaced in any case. */
  const started = new Set<number>()
  const restarts = new Set<NodeJS.Timeout>()
  const findPause = createPauses()
  let isRetired = false
  let replaced = 0
  const all = () => [...present.values()].filter(({ isReady }) => isReady)
  const heartbeat = startHeartbeat(all, options)

  async function begin(number: number): Promise<boolean> {
    const began = performance.now()
    const worker = fork()
    if (typeof worker === 'string') {
      ended(number, 0, worker)
      return false
    }
    const member = createMember(worker, number, returned)
    present.set(number, member)
    return new Promise((resolve) => {
      worker.on('message', (message: ToPrimary) => {
        // A message may be read after the end of its worker.
        if (present.get(number) !== member) return
        hear(member, message)
        if (message.kind === 'loaded') member.tell({ kind: 'start', config, worker: number })
        else if (message.kind === 'pong') heartbeat.answered(member)
        else if (message.kind === 'ready') {
          member.isReady = true
          started.add(number)
          answers(member)
          resolve(true)
        }
      })
      void member.ended.then(({ why }) => {
        left(member)
        present.delete(number)
        ended(number, performance.now() - began, why)
        resolve(false)
      })
    })
  }

  function ended(number: number, livedMs: number, why: string): void {
    if (isRetired) return
    if (!started.has(number)) return void say(`worker ${number} could not start (${why})`)
    const pauseMs = findPause(number, livedMs)
    const after = pauseMs > 0 ? `after ${pauseMs / 1000} s` : 'at once'
    say(`worker ${number} ended (${why}): another one starts ${after}`)
    const restart = setTimeout(() => {
      restarts.delete(restart)
      replaced++
      void begin(number)
    }, pauseMs)
    restarts.add(restart)
  }

  return {
    /** Resolves when all workers answer; false after the first that could not start, which has said why. */
    async start(): Promise<boolean> {
      const outcomes = await Promise.all(Array.from({ length: workers }, (_, index) => begin(index + 1)))
      return outcomes.every(Boolean)
    },
    /** The workers that take connections. */
    ready: () => all().filter((member) => !heartbeat.hangs(member)),
    hanging: () => all().filter(heartbeat.hangs).length,
    killed: heartbeat.killed,
    replaced: () => replaced,
    /** Starts no other workers from now on, ends those that do not answer yet, and gives the others. */
    retire(): Member[] {
      isRetired = true
      heartbeat.end()
      for (const timer of restarts) clearTimeout(timer)
      for (const member of present.values()) if (!member.isReady) member.kill()
      return all()
    },
  }
}
