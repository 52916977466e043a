import type { Announcer } from '#src/lib/announcer.ts'

/** What a start of the service is told with. */
export interface Start {
  announcer: Announcer
  /** How long it has taken so far. */
  seconds(): number
}

/** The service, as far as its process has a say in it. */
export interface Running {
  /**
   * Stops in order, and ends the process: readiness turns to 503 first, so that a load balancer looks elsewhere, and
   * answers say that they are the last of their connections; after SHUTDOWN_DELAY_MS nobody listens any more, requests
   * under way are answered, and what is in memory is given to the database.
   */
  stop(): Promise<never>
}
