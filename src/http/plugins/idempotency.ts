import { createHash, createHmac, hkdfSync, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, databaseUnavailable } from '#src/errors.ts'
import { type Exchange, SHARE_OF_EXTRAS } from '#src/http/exchange.ts'
import { MINUTE_MS } from '#src/lib/dates.ts'
import { createWorkTracker, doublingPauses, retry } from '#src/lib/promises.ts'
import { loadSecrets } from '../access-tokens.ts'
import { SEAL_KEY_BYTES, seal, unseal } from '../account-seal.ts'
import type { App } from '../app.ts'
import { type Attempt, createIdempotencyRecords, type IdempotencyRecords } from '../idempotency-queries.ts'
import { readIdempotencyKey } from '../request.ts'
import { databaseError } from './error-handler.ts'

/** Time of a request besides its statements, in seconds. */
const GRACE_SECONDS = 60

/** Late notes: for a minute, until the attempt counts as dead. */
const LATE_NOTES = { pausesMs: doublingPauses(1000, 32_000), waiting: 1000 }

/** Repetitions get REQUEST_IN_PROGRESS for a while. */
const NOT_NOTED = 'the outcome of an idempotent request was not recorded'

function createAttempts(app: App, records: IdempotencyRecords) {
  let late = 0

  /** Repeats a note that failed; a note without room, and all at the end of the process, are dropped. */
  function noteLate(work: () => Promise<void>): void {
    if (late >= LATE_NOTES.waiting) return
    late++
    retry(work, LATE_NOTES.pausesMs, (error) => databaseError(error) !== undefined)
      .catch((error) => app.logFailure(error, NOT_NOTED))
      .finally(() => late--)
  }

  /** Waits for a note within the share of optional parts; a late note goes on. */
  async function note(exchange: Exchange, work: () => Promise<void>): Promise<void> {
    const { request } = exchange
    const noting = takesOwnPermit(request) ? request.server.noteOutcome(request, work) : work()
    const noted = noting.catch((error) => {
      app.logFailure(error, NOT_NOTED, request.log)
      if (databaseError(error)) noteLate(work)
    })
    await exchange.wait(() => noted, SHARE_OF_EXTRAS).catch(() => {})
  }

  async function begin(
    exchange: Exchange,
    attempt: Attempt,
    userId: string | null,
  ): Promise<'begun' | 'running' | Buffer> {
    const { request, reply } = exchange
    const abandon = () => records.abandon(attempt)
    let isSent = false
    const ask = () => {
      isSent = true
      return records.begin(attempt, userId)
    }
    const asking = takesOwnPermit(request) ? exchange.withDatabasePermit(ask) : ask()
    const found = await asking.catch((error) => {
      // Without an answer it may have begun.
      if (isSent && databaseError(error)) noteLate(abandon)
      throw error
    })
    if (found !== 'begun' || !reply.raw.headersSent) return found
    await note(exchange, abandon)
    throw databaseUnavailable()
  }

  return { begin, note }
}

/** Other requests have one permit for all work, their notes too. */
function takesOwnPermit({ routeOptions: { config } }: FastifyRequest): boolean {
  return config.takesOwnPermit === true
}

interface StoredAnswer {
  request: string
  status: number
  headers: Record<string, string>
  body: object
}

/**
 * Encrypts answers, which may contain keys and questions. A reader needs the Idempotency-Key, which the database does not
 * have, and a secret of the service, since the former may be guessed.
 */
export function createSeal(secret: string) {
  // The secret also signs tokens: derived keys must be of no use there.
  const idKey = Buffer.from(hkdfSync('sha256', secret, '', 'idempotent request', SEAL_KEY_BYTES))
  const contentKey = (id: Buffer, name: string) =>
    Buffer.from(hkdfSync('sha256', secret, id, `idempotent answer ${name}`, SEAL_KEY_BYTES))

  return {
    /** The same for the same name in the same scope. */
    idOf(name: string, ...scope: (string | null)[]): Buffer {
      return createHmac('sha256', idKey)
        .update(JSON.stringify([name, ...scope]))
        .digest()
    },
    seal(id: Buffer, name: string, answer: StoredAnswer): Buffer {
      return seal(contentKey(id, name), Buffer.from(JSON.stringify(answer)))
    },
    unseal(id: Buffer, name: string, sealed: Buffer): StoredAnswer {
      return JSON.parse(unseal(contentKey(id, name), sealed).toString())
    },
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Does the work of a request, once in a day for an Idempotency-Key: a repetition gets the same answer. Only successes
     * are stored, since an error changes nothing. Late work goes on to its end, and its answer is stored.
     *
     * @param ownerOf the user of the answer, where the request creates the account; by default the caller
     */
    once<Body extends object>(
      exchange: Exchange,
      work: () => Promise<Body>,
      ownerOf?: (body: Body) => string | null,
    ): Promise<Body>
  }
  interface FastifyContextConfig {
    /** Whether an Idempotency-Key has the handler work once. One that sends its answer itself uses `once`. */
    idempotent?: true | 'by handler'
  }
}

/** Headers that handlers set. Plugins set the others anew. */
const STORED_HEADERS = /^(advisory-(history|ignored|release)|location|preference-applied)$/

/** Wait of a process that ends for work after its deadline. */
const LAST_WORK_MS = 2500

/** Requests that name themselves (draft-ietf-httpapi-idempotency-key-header). */
export const idempotency = fp(
  async (app: App) => {
    const { config, database } = app
    const [secret] = await loadSecrets(config)
    const { idOf, seal, unseal } = createSeal(secret)
    const leaseSeconds = config.STATEMENT_TIMEOUT_MS / 1000 + GRACE_SECONDS
    const records = createIdempotencyRecords(database.writer, leaseSeconds, (error) =>
      app.logFailure(error, 'expired answers to idempotent requests were not deleted'),
    )
    const { begin, note } = createAttempts(app, records)
    const underWay = createWorkTracker()

    async function once<Body extends object>(
      exchange: Exchange,
      work: () => Promise<Body>,
      ownerOf?: (body: Body) => string | null,
    ): Promise<Body> {
      const { request, reply } = exchange
      const key = readIdempotencyKey(request)
      if (key === undefined) return work()
      const { params, body: sent, user, routeOptions } = request
      // It may be that of a password, so it is stored sealed.
      const fingerprint = createHash('sha256')
        .update(JSON.stringify([params ?? null, sent ?? null]))
        .digest('base64')
      // Without an account the request is a part of the name: strangers may choose the same key.
      const scope = ownerOf ? fingerprint : (user?.id ?? null)
      const attempt = {
        // An answer may have data that another key of the account may not read.
        id: idOf(key, routeOptions.schema?.operationId ?? null, scope, user?.keyId ?? null),
        attempt: randomUUID(),
      }

      async function doOnce(): Promise<Body> {
        const found = await begin(exchange, attempt, ownerOf ? null : scope)
        if (found === 'running') throw new ApiError('REQUEST_IN_PROGRESS').withHeader('retry-after', '1')
        if (found !== 'begun')
          return replay(reply, fingerprint, unseal(attempt.id, key as string, found)) as Body

        let body: Body
        try {
          body = await work()
        } catch (error) {
          await note(exchange, () => records.abandon(attempt))
          throw error
        }
        const owner = ownerOf ? ownerOf(body) : (scope as string)
        const answer = storedAnswer(fingerprint, reply, body)
        // The work is done, also where the note fails.
        const sealed = seal(attempt.id, key as string, answer)
        await note(exchange, () => records.store(attempt, owner, sealed))
        return body
      }

      // Without `takesOwnPermit` the whole handler has a deadline, and holds its permit to its end.
      if (!takesOwnPermit(request)) return doOnce()
      return exchange.toTheEnd(
        () => underWay.add(doOnce()),
        (error) => {
          if (!(error instanceof ApiError))
            app.logFailure(error, 'a request failed after its deadline', request.log)
        },
      )
    }

    app.decorate('once', once)
    app.addHook('onRoute', (route) => {
      if (route.config?.idempotent !== true) return
      const { handler } = route
      route.handler = function doOnce(request, reply) {
        return once(request.exchange, async () => (await handler.call(this, request, reply)) as object)
      }
    })

    app.jobs.add(
      'delete-stored-answers',
      { everyMs: 10 * MINUTE_MS, failure: 'expired answers to idempotent requests were not deleted' },
      records.deleteExpired,
    )
    app.addHook('onClose', () => underWay.over(LAST_WORK_MS))
  },
  { name: 'idempotency', dependencies: ['authentication', 'jobs'] },
)

function storedAnswer(fingerprint: string, reply: FastifyReply, body: object): StoredAnswer {
  const headers = Object.entries(reply.getHeaders()).flatMap(([name, value]) =>
    STORED_HEADERS.test(name) ? [[name, String(value)]] : [],
  )
  // Only successes are stored. A status of an error comes from the deadline.
  const status = reply.statusCode < 400 ? reply.statusCode : 200
  return { request: fingerprint, status, headers: Object.fromEntries(headers), body }
}

function replay(reply: FastifyReply, fingerprint: string, answer: StoredAnswer): object {
  if (answer.request !== fingerprint) throw new ApiError('IDEMPOTENCY_KEY_REUSED')
  reply.code(answer.status).headers({ ...answer.headers, 'idempotency-replayed': 'true' })
  // An answer of an older version may lack newer members, which the serializer requires.
  const status = String(answer.status)
  const write =
    reply.getSerializationFunction(status, 'application/json') ?? reply.getSerializationFunction(status)
  // A custom serializer leaves the type to the reply.
  if (!reply.hasHeader('content-type')) reply.type('application/json; charset=utf-8')
  reply.serializer((body) => {
    // A text message.
    if (typeof body === 'string') return body
    try {
      return write?.(body) ?? JSON.stringify(body)
    } catch {
      return JSON.stringify(body)
    }
  })
  return answer.body
}
