import type { Worker } from 'node:cluster'
import cluster from 'node:cluster'
import type { Socket } from 'node:net'
import type { MetricObject } from 'prom-client'
import type { Config } from './config.ts'
import { formatError } from './lib/promises.ts'
import { doublingPauses, type Pauses, pauseAfter } from './lib/retry.ts'

/** How often a process is asked whether it answers, and how many of these pings it may miss. */
export interface Pings {
  everyMs: number
  /** So many missed: it hangs. */
  untilHanging: number
  /** So many missed: it is given up. */
  untilGivenUp: number
}

const PINGS: Pings = { everyMs: 1000, untilHanging: 5, untilGivenUp: 30 }

/** Whom the pings go to, and what comes of them. */
interface Pinged {
  ping(): void
  hangs(): void
  /** It has answered, having hung. */
  recovered(): void
  /** No more pings follow. */
  givenUp(): void
}

export interface Heartbeat {
  /** The last ping was answered. */
  answered(): void
  end(): void
}

/**
 * Pings another process until it is given up or the heartbeat is ended. What it misses is counted by beats of this
 * process, not by the clock: where all processes stand still, as on a machine that sleeps, none has missed anything.
 */
export function startHeartbeat({ everyMs, untilHanging, untilGivenUp }: Pings, pinged: Pinged): Heartbeat {
  let isAsked = false
  let missed = 0
  let isOver = false

  function end(): void {
    clearInterval(timer)
    isOver = true
  }

  function beat(): void {
    if (!isAsked) {
      isAsked = true
      pinged.ping()
      return
    }
    // Not asked again: a worker that hangs would find a heap of pings.
    missed++
    if (missed === untilHanging) pinged.hangs()
    if (missed < untilGivenUp) return
    end()
    pinged.givenUp()
  }

  const timer = setInterval(beat, everyMs)
  return {
    answered() {
      // What it has sent may be read after it has ended.
      if (isOver) return
      const hung = missed >= untilHanging
      isAsked = false
      missed = 0
      if (hung) pinged.recovered()
    },
    end,
  }
}

/** What the primary tells a worker. */
export type ToWorker =
  /** What it is to be; the number stays that of the worker that takes its place. */
  | { kind: 'start'; config: Config; worker: number; workers: number }
  /** A connection comes with it. */
  | { kind: 'connection' }
  /** Readiness turns to 503, and answers end their connections. */
  | { kind: 'drain' }
  /** No more connections come. */
  | { kind: 'end' }
  | { kind: 'scrape' }
  /** Answered as soon as it comes to it. */
  | { kind: 'ping' }

/** What a worker tells the primary. */
export type ToPrimary =
  /** It waits to be told to start. */
  | { kind: 'loaded' }
  /** It answers. */
  | { kind: 'ready' }
  | { kind: 'pong' }
  | { kind: 'metrics'; metrics: MetricObject[] }

/** A worker, from the start of its process to its end. */
export interface Member {
  /** From 1; its successor has the same. */
  readonly number: number
  isReady: boolean
  /** It is ready, but has not answered for a while. */
  hangs: boolean
  tell(message: ToWorker): void
  /** Hands a connection over. */
  take(socket: Socket): void
  /** Gives back the connections that are still to be handed over. */
  giveBack(): void
  /** Resolves when no connection is to be handed over any more. */
  settled(): Promise<void>
  kill(): void
  ended: Promise<End>
}

export interface End {
  /** The exit code, or 1 where a signal has ended it or there was no process. */
  code: number
  why: string
}

/** @param returned a connection that was to be handed over has not left this process */
function memberOf(worker: Worker, number: number, returned: (socket: Socket) => void): Member {
  /** The one that Node is handing over: the next goes when the worker has got the one before it. */
  let leaving: Socket | undefined
  /** Those behind it, which another worker could take. */
  const waiting: Socket[] = []
  const whenSettled: (() => void)[] = []

  const isSettled = () => leaving === undefined && waiting.length === 0

  function settle(): void {
    if (isSettled()) for (const resolve of whenSettled.splice(0)) resolve()
  }

  function handOver(): void {
    const socket = leaving ? undefined : waiting.shift()
    if (!socket) return
    leaving = socket
    // Left open: what Node closes by itself it would keep for ever where the worker ends before it has answered.
    worker.send({ kind: 'connection' }, socket, { keepOpen: true }, (error) => {
      if (leaving !== socket) return
      leaving = undefined
      if (!error) socket.destroy()
      // Later: the end of the worker has to be noticed in between.
      else setImmediate(returned, socket)
      handOver()
      settle()
    })
  }

  function giveBack(): void {
    for (const socket of waiting.splice(0)) returned(socket)
    settle()
  }

  const member: Member = {
    number,
    isReady: false,
    hangs: false,
    // A worker that is about to end gets no message.
    tell: (message) => void (worker.isConnected() && worker.send(message, () => {})),
    take(socket) {
      waiting.push(socket)
      handOver()
    },
    giveBack,
    settled: async () => {
      if (!isSettled()) await new Promise<void>((resolve) => whenSettled.push(resolve))
    },
    kill: () => void worker.process.kill('SIGKILL'),
    ended: endOf(worker),
  }
  void member.ended.then(() => {
    // Before, or it would be given them again.
    member.isReady = false
    const left = leaving
    leaving = undefined
    if (left) returned(left)
    giveBack()
  })
  return member
}

function endOf(worker: Worker): Promise<End> {
  return new Promise((resolve) => {
    worker.once('exit', (code: number | null, signal: string | null) =>
      resolve({ code: code ?? 1, why: signal ?? `code ${code}` }),
    )
    // Also said of a process that is there, which could not be killed, say: its exit is still to come.
    worker.on('error', ({ message }) => {
      if (worker.process.pid === undefined) resolve({ code: 1, why: message })
    })
  })
}

/** The pauses before a worker is replaced: longer where its predecessors ended soon as well. */
const PAUSES_MS: Pauses = [0, ...doublingPauses(500, 30_000)]

/** One that has lived for so long has not ended soon. */
const STEADY_MS = 60_000

/** The workers, each of which has another one take its place when it ends. */
export interface WorkerPool {
  /** Those that answer. */
  ready(): Member[]
  /** So many have not answered for a while, and may do so yet. */
  hanging(): number
  /** So many have not answered for so long that they were killed. */
  killed(): number
  /** So many have had their places taken. */
  replaced(): number
  /**
   * Starts no other workers from now on; those that do not answer yet are ended.
   *
   * @returns the others
   */
  retire(): Member[]
}

interface WorkerPoolOptions {
  /** The settings of each. */
  config: Config
  workers: number
  say(message: string): void
  /** A worker is there, ready or not; answers with what hears it, until it has ended. */
  joined(member: Member): { hear(message: ToPrimary): void; left(): void }
  /** One can be given connections, from now on or again. */
  answers(member: Member): void
  /** A connection that was to be handed over has not left this process. */
  returned(socket: Socket): void
  pings?: Pings
}

/**
 * Starts the workers.
 *
 * @returns when all of them answer; undefined where one of them has ended before, which has said why
 */
export async function startWorkerPool(options: WorkerPoolOptions): Promise<WorkerPool | undefined> {
  const { workers, say, joined, answers, returned, pings = PINGS } = options
  const present = new Map<number, Member>()
  /** The numbers of those that have answered, who are replaced whatever happens. */
  const started = new Set<number>()
  const restarts = new Map<number, NodeJS.Timeout>()
  const soon = new Map<number, number>()
  let retired = false
  let replaced = 0
  let killed = 0

  function begin(number: number): Promise<boolean> {
    const began = performance.now()
    let worker: Worker
    try {
      worker = cluster.fork()
    } catch (error) {
      ended(number, 0, formatError(error))
      return Promise.resolve(false)
    }
    const member = memberOf(worker, number, returned)
    const { hear, left } = joined(member)
    present.set(number, member)
    return new Promise<boolean>((resolve) => {
      worker.on('message', (message: ToPrimary) => {
        hear(message)
        if (message.kind === 'loaded') {
          member.tell({ kind: 'start', config: options.config, worker: number, workers })
        }
        if (message.kind !== 'ready') return
        watchOver(worker, member, pings, { say, answers, kills: () => killed++ })
        member.isReady = true
        started.add(number)
        answers(member)
        resolve(true)
      })
      void member.ended.then(({ why }) => {
        left()
        present.delete(number)
        ended(number, performance.now() - began, why)
        resolve(false)
      })
    })
  }

  function ended(number: number, livedMs: number, why: string): void {
    if (retired) return
    if (!started.has(number)) {
      say(`worker ${number} could not start (${why})`)
      return
    }
    const times = 1 + (livedMs < STEADY_MS ? (soon.get(number) ?? 0) : 0)
    soon.set(number, times)
    const pauseMs = pauseAfter(PAUSES_MS, times)
    const after = pauseMs > 0 ? `after ${pauseMs / 1000} s` : 'at once'
    say(`worker ${number} ended (${why}): another one starts ${after}`)
    const restart = () => {
      replaced++
      void begin(number)
    }
    restarts.set(number, setTimeout(restart, pauseMs))
  }

  const numbers = Array.from({ length: workers }, (_, index) => index + 1)
  const outcomes = await Promise.all(numbers.map(begin))
  if (!outcomes.every(Boolean)) return undefined
  const all = () => [...present.values()].filter(({ isReady }) => isReady)
  return {
    ready: () => all().filter(({ hangs }) => !hangs),
    hanging: () => all().filter(({ hangs }) => hangs).length,
    killed: () => killed,
    replaced: () => replaced,
    retire() {
      retired = true
      for (const timer of restarts.values()) clearTimeout(timer)
      for (const member of present.values()) if (!member.isReady) member.kill()
      return all()
    },
  }
}

/** Has a worker that hangs get no connections, and ends it where it does so for long: another one takes its place. */
function watchOver(
  worker: Worker,
  member: Member,
  pings: Pings,
  { say, answers, kills }: Pick<WorkerPoolOptions, 'say' | 'answers'> & { kills(): void },
): void {
  const { number } = member
  const secondsOf = (missed: number) => (missed * pings.everyMs) / 1000
  const heartbeat = startHeartbeat(pings, {
    ping: () => member.tell({ kind: 'ping' }),
    hangs() {
      say(`worker ${number} has not answered for ${secondsOf(pings.untilHanging)} s: it gets no connections`)
      member.hangs = true
      member.giveBack()
    },
    recovered() {
      say(`worker ${number} answers again`)
      member.hangs = false
      answers(member)
    },
    givenUp() {
      say(`worker ${number} has not answered for ${secondsOf(pings.untilGivenUp)} s: it is killed`)
      kills()
      member.kill()
    },
  })
  worker.on('message', ({ kind }: ToPrimary) => {
    if (kind === 'pong') heartbeat.answered()
  })
  void member.ended.then(heartbeat.end)
}
