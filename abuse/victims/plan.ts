import type { Sent } from '#bench/client.ts'

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

/** What a victim noticed. */
export interface Noticed {
  asked: number
  /** Answered with a 2xx. */
  answered: number
  /** Milliseconds; who was not answered has waited until the end. */
  p50: number
  p99: number
  /** How often each status came; 0 is none at all. */
  statuses: Record<string, number>
}
