import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import type { LogEvent } from 'kysely'
import { describeDamage } from '#src/data/failures.ts'
import { ApiError } from '#src/errors.ts'
import { networkOf } from '#src/lib/network.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'
import type { App } from '../app.ts'
import type { Exchange } from '../exchange.ts'
import { findRoutePattern, UNKNOWN_PATH } from '../request.ts'
import { databaseError } from './error-handler.ts'
import { whenOver } from './time-budget.ts'

export interface IncidentRecord {
  incident: string
  state: 'begins' | 'goes on' | 'is over'
  /** From the first failure to the last one so far. */
  seconds: number
  /** The time of the last failure. */
  last_failure: string
  /** Failures since the line before; at the end all of them. */
  failures: Record<string, number>
}

interface Incident {
  began: number
  latest: number
  logged: number
  failures: Map<string, number>
  unlogged: Map<string, number>
}

/** Distinct incidents, and distinct failures of each; others are counted as one. */
const MOST = 100
const OTHER = 'other'

const LINE_EVERY_MS = 60_000
/** An incident without a failure for as long is over. */
const QUIET_MS = 30_000
const LOOK_EVERY_MS = 10_000

/** Gathers failures of one reason, possibly thousands in a second, with a line once a minute and one at the end. */
export function createIncidents(log: (line: IncidentRecord) => void) {
  const incidents = new Map<string, Incident>()
  let timer: NodeJS.Timeout | undefined

  function look(): void {
    const now = performance.now()
    for (const [name, incident] of incidents) {
      if (now - incident.latest >= QUIET_MS) end(name, incident)
      else if (now - incident.logged >= LINE_EVERY_MS) goOn(name, incident, now)
    }
    if (incidents.size === 0) stop()
  }

  function goOn(name: string, incident: Incident, now: number): void {
    log(createLine(name, 'goes on', incident, incident.unlogged))
    incident.unlogged.clear()
    incident.logged = now
  }

  function end(name: string, incident: Incident): void {
    incidents.delete(name)
    log(createLine(name, 'is over', incident, incident.failures))
  }

  function stop(): void {
    clearInterval(timer)
    timer = undefined
  }

  return {
    /** Counts a failure, such as an operation and its status; true where an incident begins. */
    begins(reason: string, failure: string): boolean {
      const now = performance.now()
      const name = incidents.has(reason) || incidents.size < MOST ? reason : OTHER
      const present = incidents.get(name)
      const incident = present ?? {
        began: now,
        latest: now,
        logged: now,
        failures: new Map(),
        unlogged: new Map(),
      }
      incident.latest = now
      countOne(incident.failures, failure)
      if (present) countOne(incident.unlogged, failure)
      else incidents.set(name, incident)
      timer ??= setInterval(look, LOOK_EVERY_MS).unref()
      return present === undefined
    },
    close(): void {
      stop()
      for (const [name, incident] of incidents) end(name, incident)
    },
  }
}

function countOne(counts: Map<string, number>, name: string): void {
  const counted = counts.has(name) || counts.size < MOST ? name : OTHER
  counts.set(counted, (counts.get(counted) ?? 0) + 1)
}

function createLine(
  incident: string,
  state: IncidentRecord['state'],
  { began, latest }: Incident,
  failures: Map<string, number>,
): IncidentRecord {
  return {
    incident,
    state,
    seconds: Math.round((latest - began) / 1000),
    last_failure: new Date(Date.now() - (performance.now() - latest)).toISOString(),
    failures: Object.fromEntries(failures),
  }
}

/** @param log of a request; by default that of the service */
export type LogFailure = (error: unknown, message: string, log?: FastifyBaseLogger) => void

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs a failure without an effect on answers. Outages of the database are one incident. */
    logFailure: LogFailure
    /** Logs an answer of 5xx as a part of an incident, unless it is one of the warm-up. */
    logErrorAnswer(request: FastifyRequest, error: Error, answer: ApiError): void
  }
}

/** An incident has a line at its begin, with the stack of a bug, one with counts each minute, and one at its end. */
export const failureLog = fp(
  async (app: App) => {
    const incidents = createIncidents(({ state, ...line }) => {
      if (state === 'is over') app.log.warn(line, 'the incident is over')
      else app.log.error(line, 'the incident goes on')
    })
    app.addHook('onClose', async () => incidents.close())

    app.decorate('logFailure', (error, message, log = app.log) => {
      const isOutage = error instanceof ApiError && error.status === 503
      const outage = databaseError(error) ?? (isOutage ? error : undefined)
      if (!outage) log.warn({ err: error }, message)
      else if (incidents.begins(outage.code, message)) {
        log.error({ incident: outage.code, reason: formatError(error) }, message)
      }
    })

    app.decorate('logErrorAnswer', ({ raw, routeOptions, log }, error, { code, status, message }) => {
      if (app.isOfWarmUp(raw.socket)) return
      const operation = routeOptions.schema?.operationId ?? routeOptions.url ?? 'unknown path'
      const isOurs = status !== 503
      const incident = isOurs ? nameBug(error) : code
      if (!incidents.begins(incident, `${operation} ${status}`)) return
      // The stack of an outage would not show its reason.
      if (isOurs) log.error({ incident, err: error }, describeDamage(error) ?? message)
      else log.error({ incident, reason: formatError(error) }, message)
    })
  },
  { name: 'failure-log' },
)

/** Line of a stack in the service, not in a package or in Node. */
const OWN_FRAME = /^\s+at .*\/src\/(?!.*node_modules).*$/m
const ANY_FRAME = /^\s+at .*$/m

/** Name of a bug, without its message, which may have any data. */
function nameBug(error: Error): string {
  const stack = error.stack ?? ''
  const [frame = ''] = OWN_FRAME.exec(stack) ?? ANY_FRAME.exec(stack) ?? []
  return [error.name, readErrorCode(error), frame.trim()].filter(Boolean).join(' ')
}

/** The line has route and network, since paths and queries may have coordinates, names and tokens. */
export const accessLog = fp(
  async (app: App) => {
    const { ACCESS_LOG, BASE_PATH } = app.config
    if (!ACCESS_LOG) return
    app.addHook('onRequest', (request, _reply, done) => {
      if (!app.warmingUp) whenOver(request.exchange, () => logAnswer(request.exchange, BASE_PATH))
      done()
    })
  },
  { name: 'access-log', dependencies: ['error-handler', 'warm-up-requests'] },
)

function logAnswer({ request, reply }: Exchange, base: string): void {
  const { is404, method, routeOptions, ip, errorCode: code, raw } = request
  const { route } = is404 ? UNKNOWN_PATH : findRoutePattern(routeOptions, base)
  const { headersSent, writableFinished } = reply.raw
  const length = headersSent ? reply.getHeader('content-length') : undefined
  // At any LOG_LEVEL, with the ids of the request and of its trace.
  request.log.child({}, { level: 'info' }).info(
    {
      method,
      route,
      ...(headersSent && { status: reply.statusCode }),
      ...(code && { code }),
      // Streams have no length.
      ...(length !== undefined && { bytes: Number(length) }),
      ms: Math.round(reply.elapsedTime * 1000) / 1000,
      network: networkOf(ip),
      ...(raw.destroyed && !writableFinished && { aborted: true }),
    },
    'answered',
  )
}

/** Logs text and duration of each statement with LOG_LEVEL=trace. Many requests may share one, so the line has no request. */
export const statementLog = fp(
  async (app: App) => {
    const logger = app.log.child({ module: 'database' })
    const log = ({ query: { sql }, queryDurationMillis: ms, level }: LogEvent) => {
      logger.trace({ sql, ms, failed: level === 'error' }, 'asked')
    }
    const { statements } = app.database
    statements.on('asked', log)
    // The next app may use the same database.
    app.addHook('onClose', async () => void statements.off('asked', log))
  },
  { name: 'statement-log' },
)
