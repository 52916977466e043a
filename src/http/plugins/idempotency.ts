import { randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import type { App } from '../app.ts'
import { loadSecrets } from '../jwt-secret.ts'
import { createSeal, fingerprintOf, type StoredAnswer } from '../sealed-answers.ts'
import { inTime, SHARE_OF_EXTRAS } from './patience.ts'

/** One of the attempts at a request: see `createIdempotencyRecords`, which keeps them. */
export interface Attempt {
  /** Of the request, the same whenever it is sent again. */
  id: Buffer
  attempt: string
}

/** Where it is kept what was answered to requests with an Idempotency-Key. */
export interface IdempotencyRecords {
  /**
   * Begins a request.
   *
   * @param userId whose it is; null where it makes the account
   * @returns `running` while another attempt has it, and its sealed answer once that has one
   */
  begin(attempt: Attempt, userId: string | null): Promise<'begun' | 'running' | Buffer>
  /** Stores the answer, which belongs to a user, if there is one. */
  store(attempt: Attempt, userId: string | null, answer: Buffer): Promise<void>
  /** Gives a request up that has done nothing. */
  abandon(attempt: Attempt): Promise<void>
  deleteExpired(): Promise<void>
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Does the work of a request, once where it has an Idempotency-Key: sent again within a day, it is given
     * the same answer. Only successes are kept: an error has done nothing, and is worth another attempt.
     *
     * @param work answers with the body; whatever else the answer has is set on the reply
     * @param ownerOf whose the answer is, where the request makes the account, or null where there is none yet;
     * else it is the caller's
     * @throws {ApiError} IDEMPOTENCY_KEY_REUSED where the key came with another request, REQUEST_IN_PROGRESS
     * while another attempt does the work
     */
    once<Body extends object>(
      request: FastifyRequest,
      reply: FastifyReply,
      work: () => Promise<Body>,
      ownerOf?: (body: Body) => string | null,
    ): Promise<Body>
  }
  interface FastifyContextConfig {
    /** The route does its work by `once`. Only documented by this. */
    idempotent?: boolean
  }
}

/** Printable ASCII: what goes through every proxy, and what clients write, in quotes or without. */
export const IDEMPOTENCY_KEY = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/

/** Headers of an answer that its handler has set. The others are made anew each time. */
const STORED_HEADERS = ['advisory-history', 'advisory-release', 'location', 'preference-applied']

const CLEAN_UP_EVERY_MS = 600_000

/** What routes with `once` may answer besides their own errors. */
export const IDEMPOTENCY_ERRORS: ErrorCode[] = ['REQUEST_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED']

/** Requests that name themselves (draft-ietf-httpapi-idempotency-key-header). */
export const idempotency = fp(
  async (app: App, { records }: { records: IdempotencyRecords }) => {
    const [secret] = await loadSecrets(app.config)
    const { idOf, seal, unseal } = createSeal(secret)

    async function once<Body extends object>(
      request: FastifyRequest,
      reply: FastifyReply,
      work: () => Promise<Body>,
      ownerOf?: (body: Body) => string | null,
    ): Promise<Body> {
      const key = idempotencyKeyOf(request)
      if (key === undefined) return work()
      const { params, body: sent, user, routeOptions } = request
      const fingerprint = fingerprintOf([params ?? null, sent ?? null])
      // Without an account the key and the request are the name together: strangers may choose the same key.
      const scope = ownerOf ? fingerprint : (user?.id ?? null)
      const attempt = {
        // An answer may hold what a key of the account has no right to: each has names of its own.
        id: idOf(key, routeOptions.schema?.operationId ?? null, scope, user?.keyId ?? null),
        attempt: randomUUID(),
      }
      const { begin, note } = turnsOf(request, reply)
      const found = await inTime(request, reply, () =>
        begin(() => records.begin(attempt, ownerOf ? null : scope)),
      )
      if (found === 'running') throw inProgress()
      if (found !== 'begun') return replay(reply, fingerprint, unseal(attempt.id, key, found)) as Body

      let body: Body
      try {
        body = await work()
      } catch (error) {
        const abandon = () => note(() => records.abandon(attempt))
        await inTime(request, reply, abandon).catch(notNoted(request))
        throw error
      }
      const owner = ownerOf ? ownerOf(body) : (scope as string)
      const answer = storedAnswer(fingerprint, reply, body)
      // The work is done: whether that could be noted or not, this is the answer.
      const sealed = seal(attempt.id, key, answer)
      const store = () => note(() => records.store(attempt, owner, sealed))
      await inTime(request, reply, store, SHARE_OF_EXTRAS).catch(notNoted(request))
      return body
    }

    app.decorate('once', once)

    const cleanUp = () =>
      records.deleteExpired().catch((error) => app.logFailure(error, 'old answers were not deleted'))
    const timer = setInterval(cleanUp, CLEAN_UP_EVERY_MS).unref()
    app.addHook('onClose', async () => clearInterval(timer))
  },
  { name: 'idempotency', dependencies: ['authentication'] },
)

/** The turns in which a request is noted: where it has a place at the database for all of its work, those are its. */
function turnsOf(request: FastifyRequest, reply: FastifyReply) {
  const { server, routeOptions } = request
  if (!routeOptions.config.ownTurns) {
    return {
      begin: <Found>(work: () => Promise<Found>) => work(),
      note: (work: () => Promise<void>) => work(),
    }
  }
  return {
    begin: <Found>(work: () => Promise<Found>) => server.inTurn(request, reply, work),
    note: (work: () => Promise<void>) => server.noteInTurn(request, work),
  }
}

/**
 * The Idempotency-Key of a request; undefined where there is none.
 *
 * @throws {ApiError} INVALID_PARAMETERS where the key is none that can be kept
 */
export function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'] as string | undefined
  if (key === undefined || IDEMPOTENCY_KEY.test(key)) return key
  throw ApiError.invalid('Idempotency-Key', 'must be 1 to 255 printable ASCII characters')
}

function storedAnswer(request: string, reply: FastifyReply, body: object): StoredAnswer {
  const headers = STORED_HEADERS.flatMap((name) =>
    reply.hasHeader(name) ? [[name, String(reply.getHeader(name))]] : [],
  )
  // Only successes are stored. An error here is what the client was told because this took too long.
  const status = reply.statusCode < 400 ? reply.statusCode : 200
  return { request, status, headers: Object.fromEntries(headers), body }
}

/**
 * The body of an answer that is given again.
 *
 * @throws {ApiError} where it is to another request
 */
function replay(reply: FastifyReply, fingerprint: string, answer: StoredAnswer): object {
  if (answer.request !== fingerprint) {
    throw new ApiError(
      'IDEMPOTENCY_KEY_REUSED',
      'The Idempotency-Key came with another request before: send each one with a key of its own.',
    )
  }
  reply.code(answer.status).headers({ ...answer.headers, 'idempotency-replayed': 'true' })
  return answer.body
}

function inProgress(): ApiError {
  return new ApiError(
    'REQUEST_IN_PROGRESS',
    'A request with this Idempotency-Key is being worked on: try again in a second.',
  ).withHeader('retry-after', '1')
}

/** Those who send the request again are told for a while that it is being worked on. */
function notNoted({ server, log }: FastifyRequest) {
  return (error: unknown) => server.logFailure(error, 'an attempt at a request could not be noted', log)
}
