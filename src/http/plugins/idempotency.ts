import { createHash, createHmac, hkdfSync, randomUUID } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, type ErrorCode } from '#src/errors.ts'
import { createUnderWay } from '#src/lib/promises.ts'
import { loadSecrets } from '../access-tokens.ts'
import { SEAL_KEY_BYTES, seal, unseal } from '../account-seal.ts'
import type { App } from '../app.ts'
import { createAttempts, type IdempotencyRecords } from '../attempts.ts'
import { toTheEnd } from './time-budget.ts'

/** An answer as it is stored: all that is needed to give it again. */
interface StoredAnswer {
  /** The {@link fingerprintOf} the request. */
  request: string
  status: number
  headers: Record<string, string>
  body: object
}

/** What a request is compared by. It may be made of a password: it is stored sealed, or under a secret. */
function fingerprintOf(request: unknown): string {
  return createHash('sha256').update(JSON.stringify(request)).digest('base64')
}

/**
 * Seals answers of requests that their clients have named: keys and what people ask are among them.
 *
 * They are encrypted with a key that is made of the name, which the database does not have, and of a
 * secret of the service, in case that a name can be guessed. Whoever has the database alone can neither read
 * an answer nor tell which request it belongs to; and who knows the secret needs the name as well.
 */
export function createSeal(secret: string) {
  // The secret also signs tokens: what is made with it here must be of no use there.
  const idKey = Buffer.from(hkdfSync('sha256', secret, '', 'idempotent request', SEAL_KEY_BYTES))
  const contentKey = (id: Buffer, name: string) =>
    Buffer.from(hkdfSync('sha256', secret, id, `idempotent answer ${name}`, SEAL_KEY_BYTES))

  return {
    /** The id of a request: the same for the same name in the same scope. */
    idOf(name: string, ...scope: (string | null)[]): Buffer {
      return createHmac('sha256', idKey)
        .update(JSON.stringify([name, ...scope]))
        .digest()
    },
    seal(id: Buffer, name: string, answer: StoredAnswer): Buffer {
      return seal(contentKey(id, name), Buffer.from(JSON.stringify(answer)))
    },
    /** @throws where it was sealed with other keys, or changed since */
    unseal(id: Buffer, name: string, sealed: Buffer): StoredAnswer {
      return JSON.parse(unseal(contentKey(id, name), sealed).toString())
    },
  }
}

declare module 'fastify' {
  interface FastifyInstance {
    /**
     * Does the work of a request, once where it has an Idempotency-Key: sent again within a day, it is given
     * the same answer. Only successes are kept: an error has done nothing, and is worth another attempt. Where its
     * client is answered in time, the work goes on to its end, and what came of it is the answer from then on.
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
const STORED_HEADERS = [
  'advisory-history',
  'advisory-ignored',
  'advisory-release',
  'location',
  'preference-applied',
]

/** So long a process that ends waits for work whose clients have been answered before it was done. */
const LAST_WORK_MS = 2500

/** The same for what could not be noted before. */
const LAST_NOTES_MS = 1000

/** What routes with `once` may answer besides their own errors. */
export const IDEMPOTENCY_ERRORS: ErrorCode[] = ['REQUEST_IN_PROGRESS', 'IDEMPOTENCY_KEY_REUSED']

/** Requests that name themselves (draft-ietf-httpapi-idempotency-key-header). */
export const idempotency = fp(
  async (app: App, { records }: { records: IdempotencyRecords }) => {
    const [secret] = await loadSecrets(app.config)
    const { idOf, seal, unseal } = createSeal(secret)

    const { begin, note, close } = createAttempts(app, records)
    const underWay = createUnderWay()

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

      async function doOnce(): Promise<Body> {
        const found = await begin(request, reply, attempt, ownerOf ? null : scope)
        if (found === 'running') throw inProgress()
        if (found !== 'begun')
          return replay(reply, fingerprint, unseal(attempt.id, key as string, found)) as Body

        let body: Body
        try {
          body = await work()
        } catch (error) {
          await note(request, reply, () => records.abandon(attempt))
          throw error
        }
        const owner = ownerOf ? ownerOf(body) : (scope as string)
        const answer = storedAnswer(fingerprint, reply, body)
        // The work is done: whether that could be noted or not, this is the answer.
        const sealed = seal(attempt.id, key as string, answer)
        await note(request, reply, () => records.store(attempt, owner, sealed))
        return body
      }

      // Others are answered in time as a whole, and hold their places until the work has come to its end.
      if (!routeOptions.config.ownTurns) return doOnce()
      return toTheEnd(
        request,
        () => underWay.add(doOnce()),
        (error) => failedLate(request, error),
      )
    }

    app.decorate('once', once)

    app.jobs.add('delete-stored-answers', records.deleteExpired)
    app.addHook('onClose', async () => {
      await underWay.over(LAST_WORK_MS)
      void underWay.add(close())
      await underWay.over(LAST_NOTES_MS)
    })
  },
  { name: 'idempotency', dependencies: ['authentication', 'jobs'] },
)

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
  // An answer that an older version stored may lack newer members, without which the schema writes nothing.
  const status = String(answer.status)
  const write =
    reply.getSerializationFunction(status, 'application/json') ?? reply.getSerializationFunction(status)
  // A serializer of its own leaves the type to its reply.
  if (!reply.hasHeader('content-type')) reply.type('application/json; charset=utf-8')
  reply.serializer((body) => {
    // A text message is made of the answer.
    if (typeof body === 'string') return body
    try {
      return write?.(body) ?? JSON.stringify(body)
    } catch {
      return JSON.stringify(body)
    }
  })
  return answer.body
}

function inProgress(): ApiError {
  return new ApiError(
    'REQUEST_IN_PROGRESS',
    'A request with this Idempotency-Key is being worked on: try again in a second.',
  ).withHeader('retry-after', '1')
}

/** Of work whose client has been answered only mistakes of ours concern anybody. */
function failedLate({ server, log }: FastifyRequest, error: unknown): void {
  if (!(error instanceof ApiError)) server.logFailure(error, 'a request failed after its time', log)
}
