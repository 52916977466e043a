import type { Cleanup } from '#bench/cleanup.ts'
import type { Answered } from '#bench/load/answers.ts'
import { startChild } from '#bench/load/child.ts'
import { type Member, makeKey, type Sent } from '#bench/load/client.ts'

/** What somebody does who is not the attacker. */
export type Victim = 'point' | 'kept point' | 'batch' | 'history' | 'login'

/** A request that is sent at fixed times, whether or not earlier ones have been answered. */
export interface Planned extends Sent {
  victim: Victim
  everyMs: number
  token?: string
}

/** What the process of the victims is told. */
export interface Plan {
  port: number
  seconds: number
  requests: Planned[]
}

/** What a victim noticed; who was not answered has waited until the end. */
export interface Noticed extends Answered {
  asked: number
  /** Answered with a 2xx. */
  answered: number
}

/** The victims, each of which asks at its own pace. */
export interface Victims {
  /** Lets some of them ask for some seconds. */
  ask(port: number, who: Victim[], seconds: number): Promise<Record<Victim, Noticed>>
}

const POINT = { lat: 9.5, lng: 38.5 }
/** Written once: the process of the victims has other things to do. */
const POINTS = JSON.stringify({ points: Array.from({ length: 5000 }, (_, id) => ({ id, ...POINT })) })

/** What each of them asks, and how often: seldom enough to be no load. */
function plannedFor({ email, password, token }: Member, key: string): Record<Victim, Planned> {
  const point = { path: '/advisory/yield/point', body: POINT }
  const batch = { path: '/advisory/yield/points', body: POINTS }
  const page = { method: 'GET', path: '/history/my?limit=5' }
  const login = { path: '/auth/login', body: { email, password } }
  return {
    point: { victim: 'point', everyMs: 20, ...point },
    'kept point': { victim: 'kept point', everyMs: 50, token: key, ...point },
    batch: { victim: 'batch', everyMs: 400, token: key, ...batch },
    history: { victim: 'history', everyMs: 100, token, ...page },
    login: { victim: 'login', everyMs: 500, ...login },
  }
}

/** Starts the process of the victims, who have an account and a key. */
export async function startVictims(cleanup: Cleanup, member: Member): Promise<Victims> {
  const planned = plannedFor(member, await makeKey(member))
  const child = startChild<Plan, Record<Victim, Noticed>>(cleanup, 'abuse/victims/process.ts')
  return {
    ask: (port, who, seconds) => child.ask({ port, seconds, requests: who.map((victim) => planned[victim]) }),
  }
}
