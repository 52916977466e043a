import cluster, { type Worker } from 'node:cluster'
import type { Socket } from 'node:net'
import type { Config } from '#src/config.ts'
import { messageOf } from '#src/lib/caught.ts'
import type { ToPrimary, ToWorker } from './messages.ts'

/** How long after one has ended another takes its place: longer where that ends soon as well, up to the last. */
const PAUSES_MS = [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000]

/** One that has lived for so long has not ended soon. */
const STEADY_MS = 60_000

/** A worker, from the start of its process to its end. */
export interface Member {
  /** From 1; whoever takes its place has the same. */
  readonly number: number
  isReady: boolean
  tell(message: ToWorker): void
  /** Hands a connection over. */
  take(socket: Socket): void
  kill(): void
  ended: Promise<End>
}

export interface End {
  /** The exit code, or 1 where a signal has ended it or there was no process. */
  code: number
  why: string
}

/** The workers, each of which has another one take its place when it ends. */
export interface Crew {
  /** Those that answer. */
  ready(): Member[]
  /** So many have had their places taken. */
  replaced(): number
  /**
   * Starts no other workers from now on; those that do not answer yet are ended.
   *
   * @returns the others
   */
  retire(): Member[]
}

export interface CrewOptions {
  /** The settings of each. */
  config: Config
  workers: number
  say(message: string): void
  /** A worker is there, ready or not; answers with what hears it, until it has ended. */
  joined(member: Member): { hear(message: ToPrimary): void; left(): void }
  /** One can be given connections. */
  answers(member: Member): void
  /** A connection that was to be handed over has not left this process. */
  returned(socket: Socket): void
}

/**
 * Starts the workers.
 *
 * @returns when all of them answer; undefined where one of them has ended before, which has said why
 */
export async function startCrew(options: CrewOptions): Promise<Crew | undefined> {
  const { workers, say, joined, answers, returned } = options
  const present = new Map<number, Member>()
  /** The numbers of those that have answered, who are replaced whatever happens. */
  const started = new Set<number>()
  const restarts = new Map<number, NodeJS.Timeout>()
  const soon = new Map<number, number>()
  let retired = false
  let replaced = 0

  function begin(number: number): Promise<boolean> {
    const began = performance.now()
    let worker: Worker
    try {
      worker = cluster.fork()
    } catch (error) {
      ended(number, 0, messageOf(error))
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
    const times = livedMs < STEADY_MS ? (soon.get(number) ?? 0) : 0
    soon.set(number, times + 1)
    const pauseMs = PAUSES_MS[Math.min(times, PAUSES_MS.length - 1)] as number
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
  const ready = () => [...present.values()].filter(({ isReady }) => isReady)
  return {
    ready,
    replaced: () => replaced,
    retire() {
      retired = true
      for (const timer of restarts.values()) clearTimeout(timer)
      for (const member of present.values()) if (!member.isReady) member.kill()
      return ready()
    },
  }
}

function memberOf(worker: Worker, number: number, returned: (socket: Socket) => void): Member {
  /** Node hands one over at a time, and forgets of the others where the worker ends. */
  const onTheirWay = new Set<Socket>()
  const member: Member = {
    number,
    isReady: false,
    // What is told to one that is about to end is told to nobody.
    tell: (message) => void (worker.isConnected() && worker.send(message, () => {})),
    take(socket) {
      onTheirWay.add(socket)
      // Left open: what Node closes by itself it would keep for ever where the worker ends before it has answered.
      worker.send({ kind: 'connection' }, socket, { keepOpen: true }, (error) => {
        if (!onTheirWay.delete(socket)) return
        if (!error) socket.destroy()
        // Later: the end of the worker has to be noticed in between.
        else setImmediate(returned, socket)
      })
    },
    kill: () => void worker.process.kill('SIGKILL'),
    ended: endOf(worker),
  }
  void member.ended.then(() => {
    // Before, or it would be given them again.
    member.isReady = false
    for (const socket of onTheirWay) returned(socket)
    onTheirWay.clear()
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
