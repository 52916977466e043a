import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { damageOf } from '#src/database/damage.ts'
import { ApiError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/caught.ts'
import { createIncidents } from '#src/lib/incidents.ts'
import type { App } from '../app.ts'
import { databaseError } from '../refusals.ts'

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
