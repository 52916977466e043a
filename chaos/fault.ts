import type pg from 'pg'
import type { Cluster } from '#bench/cluster.ts'
import type { What } from './load/plan.ts'
import type { Network } from './network.ts'

/** Which database the service has: that of a server, the same with a replica that is read from, or the embedded one. */
export type Kind = 'server' | 'replica' | 'embedded'

/** `READ_MAX_LAG_MS` of a service with a replica: how far behind it may be that is read from. */
export const REPLICA_MAX_LAG_MS = 1000

/** The service that faults happen to. It has the same port all the while. */
export interface Service {
  port: number
  pid(): number
  /** Memory that it holds now, in MiB. */
  memory(): { resident: number }
  /** Has it end by SIGTERM, or at once by SIGKILL, and waits until it has. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
  /** Starts it again where it has ended, and waits until it listens. */
  start(): Promise<void>
}

/** What a database server offers to whoever injects faults. */
export interface DatabaseStage {
  /** Where the server may be stopped and crashed. */
  cluster?: Cluster
  /** What streams from it, where the service reads from that. */
  replica?: Cluster
  network: Network
  /** As somebody else reaches it, without the network that can fail. */
  url: string
  /** The role of the service, which has a password where the server is a cluster. */
  role: string
  /** Runs a statement as somebody else. */
  execute(statement: string): Promise<unknown[]>
  /** Another session, which ends with the fault. */
  connect(): Promise<pg.Client>
}

/** A release has become the one of its series that answers. */
export interface Publication {
  code: string
  /** Milliseconds since 1970: before it was asked for, and after it was done. */
  from: number
  done: number
}

/** Which of two releases of one series answers. */
export interface ReleaseStage {
  first: string
  second: string
  publish(code: string): Promise<void>
  /** Deletes the second one for good. */
  deleteSecond(): Promise<void>
}

export interface Stage {
  service: Service
  /** Where the database is a server. */
  database?: DatabaseStage
  releases?: ReleaseStage
  /** The folder of the embedded database, where that is what the service has. */
  folder?: string
}

/** What may stop, and for how long: whoever asks again and again has an answer by then. */
export interface Stop {
  what: readonly What[]
  longestMs: number
}

/** A fault: what happens, and what those who ask may notice of it. */
export interface Fault<Where = Stage> {
  /** As it is chosen with `--only`. */
  name: string
  on: Kind | 'cluster'
  /** What happens, as a sentence without its subject's end. */
  happens: string
  /** Lets it happen, and is done when it is over. */
  inject(stage: Where): Promise<void>
  /** What nobody may notice it in: it is answered all the while. */
  unnoticed: What[]
  /** What else is not answered at times, where that is bounded. */
  stops?: Stop[]
  /** Whether the process itself is away, so that requests may have no answer. */
  endsProcess?: boolean
  /** How long after its end the last request may fail that is sent. */
  recoveryMs: number
  /** How long any answer may take, where that is another time than usual. */
  longestMs?: number
  /** Whether it takes a file system of its own. */
  needsRoot?: boolean
}
