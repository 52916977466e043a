import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { damageOf } from '#src/data/failures.ts'
import { ApiError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/promises.ts'
import type { App } from '../app.ts'
import { databaseError } from './error-handler.ts'

/** What is told of an incident. */
export interface IncidentLine {
  incident: string
  state: 'begins' | 'goes on' | 'is over'
  /** For how long it has been going on; in the end, for how long it went on. */
  seconds: number
  /** How often what has failed: since the line before, and in the end in all. The first line has one. */
  failures: Record<string, number>
}

/** Tells of what may fail thousands of times in a second for one reason: when that begins, now and then, and its end. */
interface Incidents {
  /**
   * Counts a failure.
   *
   * @param incident what it fails because of
   * @param failure what has failed, such as the name of an operation and its status
   * @returns whether the incident begins with it, of which nobody has been told
   */
  begins(incident: string, failure: string): boolean
  /** Tells that all incidents are over. */
  close(): void
}

interface Incident {
  began: number
  latest: number
  told: number
  failures: Map<string, number>
  untold: Map<string, number>
}

/** So many are told apart, of incidents and of failures in each: what else comes is counted as one. */
const MOST = 100
const OTHER = 'other'

const TOLD_EVERY_MS = 60_000
/** What has not failed again for so long is over. */
const QUIET_MS = 30_000
const LOOK_EVERY_MS = 10_000

/** @param tell is told that an incident goes on, once a minute, and that it is over */
export function createIncidents(tell: (line: IncidentLine) => void): Incidents {
  const incidents = new Map<string, Incident>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const now = performance.now()
    for (const [name, incident] of incidents) {
      if (now - incident.latest >= QUIET_MS) end(name, incident)
      else if (now - incident.told >= TOLD_EVERY_MS) goOn(name, incident, now)
    }
    if (incidents.size === 0) stop()
  }

  function goOn(name: string, incident: Incident, now: number): void {
    tell(lineOf(name, 'goes on', now - incident.began, incident.untold))
    incident.untold.clear()
    incident.told = now
  }

  function end(name: string, { began, latest, failures }: Incident): void {
    incidents.delete(name)
    tell(lineOf(name, 'is over', latest - began, failures))
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    begins(wanted, failure) {
      const now = performance.now()
      const name = incidents.has(wanted) || incidents.size < MOST ? wanted : OTHER
      const known = incidents.get(name)
      const incident = known ?? { began: now, latest: now, told: now, failures: new Map(), untold: new Map() }
      incident.latest = now
      countOne(incident.failures, failure)
      if (known) countOne(incident.untold, failure)
      else incidents.set(name, incident)
      timer ??= setInterval(look, LOOK_EVERY_MS).unref()
      return known === undefined
    },
    close() {
      stop()
      for (const [name, incident] of incidents) end(name, incident)
    },
  }
}

function countOne(counts: Map<string, number>, name: string): void {
  const counted = counts.has(name) || counts.size < MOST ? name : OTHER
  counts.set(counted, (counts.get(counted) ?? 0) + 1)
}

function lineOf(
  incident: string,
  state: IncidentLine['state'],
  milliseconds: number,
  failures: Map<string, number>,
): IncidentLine {
  return { incident, state, seconds: Math.round(milliseconds / 1000), failures: Object.fromEntries(failures) }
}

/** Logs that something could not be done, by the log of a request or that of the service. */
export type LogFailure = (error: unknown, message: string, log?: FastifyBaseLogger) => void

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Logs why something could not be done that no answer depends on. What fails because of the database belongs to
     * one incident with all else that does.
     */
    logFailure: LogFailure
    /** Logs a request that is answered with an error of ours, as a part of an incident. */
    logErrorAnswer(request: FastifyRequest, error: Error, answer: ApiError): void
  }
}

/**
 * Bounds what is logged of failures: an incident is one line when it begins, one a minute with counts while it lasts,
 * and one when it is over. A stack is in the first line alone, where the mistake is ours.
 */
export const failureLog = fp(
  async (app: App) => {
    const incidents = createIncidents(({ state, ...line }) => {
      if (state === 'is over') app.log.warn(line, 'this is over')
      else app.log.error(line, 'this goes on')
    })
    app.addHook('onClose', async () => incidents.close())

    app.decorate('logFailure', (error, message, log = app.log) => {
      const outage = databaseError(error) ?? (isUnavailable(error) ? error : undefined)
      if (!outage) log.warn({ err: error }, message)
      else if (incidents.begins(outage.code, message)) {
        log.error({ incident: outage.code, reason: messageOf(error) }, message)
      }
    })

    app.decorate('logErrorAnswer', ({ routeOptions, log }, error, { code, status, message }) => {
      const operation = routeOptions.schema?.operationId ?? routeOptions.url ?? 'unknown path'
      const isOurs = status !== 503
      const incident = isOurs ? mistakeOf(error) : code
      if (!incidents.begins(incident, `${operation} ${status}`)) return
      // Of what is not our mistake a stack would say where the service noticed, and the reason lies elsewhere.
      if (isOurs) log.error({ incident, err: error }, damageOf(error) ?? message)
      else log.error({ incident, reason: messageOf(error) }, message)
    })
  },
  { name: 'failure-log' },
)

function isUnavailable(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 503
}

/** The line of a stack that is of the service, and not of a package or of Node. */
const OWN_FRAME = /^\s+at .*\/src\/(?!.*node_modules).*$/m
const ANY_FRAME = /^\s+at .*$/m

/** What tells one mistake from another: messages may have anything in them. */
function mistakeOf(error: Error): string {
  const stack = error.stack ?? ''
  const [frame = ''] = OWN_FRAME.exec(stack) ?? ANY_FRAME.exec(stack) ?? []
  return [error.name, codeOf(error), frame.trim()].filter(Boolean).join(' ')
}
