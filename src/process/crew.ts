import cluster, { type Worker } from 'node:cluster'
import type { Socket } from 'node:net'
import type { Config } from '#src/config.ts'
import { messageOf } from '#src/lib/caught.ts'
import { PINGS, type Pings, startHeartbeat } from './heartbeat.ts'
import { type Member, memberOf } from './member.ts'
import type { ToPrimary } from './messages.ts'

/** How long after one has ended another takes its place: longer where that ends soon as well, up to the last. */
const PAUSES_MS = [0, 500, 1000, 2000, 4000, 8000, 16_000, 30_000]

/** One that has lived for so long has not ended soon. */
const STEADY_MS = 60_000

/** The workers, each of which has another one take its place when it ends. */
export interface Crew {
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

export interface CrewOptions {
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
export async function startCrew(options: CrewOptions): Promise<Crew | undefined> {
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
  { say, answers, kills }: Pick<CrewOptions, 'say' | 'answers'> & { kills(): void },
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
