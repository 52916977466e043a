import type { MetricObject } from 'prom-client'
import type { Config } from '#src/config.ts'
import type { Party } from '#src/lib/fair-line.ts'

/** A turn in a line of the primary's, by a number that the worker gives it. */
interface Ticket {
  ticket: number
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
  | ({ kind: 'asking'; asking: number } & Ticket)
  | ({ kind: 'turn' } & Ticket)
  | ({ kind: 'refused' } & Ticket)

/** What a worker tells the primary. */
export type ToPrimary =
  /** It waits to be told to start. */
  | { kind: 'loaded' }
  /** It answers. */
  | { kind: 'ready' }
  | { kind: 'pong' }
  | { kind: 'metrics'; metrics: MetricObject[] }
  | ({ kind: 'ask'; account: string } & Ticket)
  | ({ kind: 'enter'; line: 'places' | 'accounts'; party: Party } & Ticket)
  | ({ kind: 'leave' } & Ticket)
