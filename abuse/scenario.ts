import type { Member } from '#bench/load/client.ts'
import type { Victim } from './victims/victims.ts'

/** The memory of a process, in MiB. */
export interface Memory {
  /** What something is held in: JavaScript's and WebAssembly's of all threads, without garbage. */
  held: number
  /** What the system has given it, with garbage and what is kept for later. */
  resident: number
}

/** The service that is attacked. */
export interface Target {
  port: number
  /** Undefined where the process is not known. */
  memory: (() => Promise<Memory>) | undefined
  /** What its database takes on the disk, in MiB; undefined where it is not known. */
  stored: (() => Promise<number>) | undefined
  /** Withdraws a release of the demo, so that its subscribers are told; undefined where nobody may do that. */
  withdraw: ((release: string) => Promise<void>) | undefined
  /** Somebody with an account, at an address that nobody else has. */
  newcomer(): Promise<Member>
}

/** Something that an attack came to, beside what its victims noticed. */
export interface Figure {
  what: string
  value: number
  unit: string
  /** The most that it may be. */
  limit: number
}

/** An attack that is under way. */
export interface Attack {
  /** Ends it, and says what it came to. */
  stop(): Promise<Figure[]>
}

export interface Scenario {
  /** As it is chosen with `--only`. */
  name: string
  /** What the attacker does, as a sentence. */
  attacker: string
  /** Whom it is about, beside anonymous points. */
  victims: Victim[]
  begin(target: Target): Promise<Attack>
}
