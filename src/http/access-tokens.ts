import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import fastifyJwt from '@fastify/jwt'
import { type Config, MINIMUM_SECRET_BYTES } from '#src/config.ts'
import { OperatorError } from '#src/errors.ts'
import { readErrorCode } from '#src/lib/promises.ts'
import { isWrittenUuid } from '#src/lib/uuid.ts'
import type { App } from './app.ts'

/** Secrets of access tokens: the first signs, all of them verify. */
export type Secrets = [current: string, ...previous: string[]]

/** @throws {OperatorError} without a secret for a server, which several processes may share */
export function refuseMissingSecret({ JWT_SECRET, DATABASE_URL }: Config): void {
  if (JWT_SECRET !== undefined || DATABASE_URL === undefined) return
  throw new OperatorError(
    'JWT_SECRET is not set: access tokens are signed with it, and every process on the database needs ' +
      'the same. `openssl rand -base64 48` makes one.',
  )
}

/** The embedded database, which belongs to one process, has a secret in its folder by default. */
export async function loadSecrets(config: Config): Promise<Secrets> {
  refuseMissingSecret(config)
  const { JWT_SECRET, JWT_SECRET_PREVIOUS, DATA_DIR } = config
  const current = JWT_SECRET ?? (await persistedSecret(DATA_DIR))
  return JWT_SECRET_PREVIOUS === undefined ? [current] : [current, JWT_SECRET_PREVIOUS]
}

async function persistedSecret(folder: string): Promise<string> {
  const path = join(folder, 'jwt-secret')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const made = randomBytes(48).toString('base64url')
  try {
    await writeFile(path, made, { flag: 'wx', mode: 0o600 })
    return made
  } catch (error) {
    if (readErrorCode(error) !== 'EEXIST') throw error
  }
  await chmod(path, 0o600)
  const persisted = (await readFile(path, 'utf8')).trim()
  if (Buffer.byteLength(persisted) >= MINIMUM_SECRET_BYTES) return persisted
  throw new OperatorError(
    `${path} is shorter than ${MINIMUM_SECRET_BYTES} bytes: delete it, and a new one is made. Everyone then logs in again.`,
  )
}

const ALGORITHM = 'HS256'
/** Type of access tokens alone (RFC 9068). */
const TYPE = 'at+jwt'
const ISSUER = 'agro-advisory'
const AUDIENCE = 'agro-advisory'
/** Tokens of the service have about 400 characters. */
const LONGEST_TOKEN = 2048

interface AccessToken {
  userId: string
  sessionId: string
  /** Seconds since 1970. */
  expiresAt: number
}

export type AccessTokens = Awaited<ReturnType<typeof createAccessTokens>>

/** Unchecked claims. */
interface Signed {
  header: Record<string, unknown>
  payload: { sub?: unknown; sid?: unknown; iat?: unknown; exp?: unknown }
}

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: { sub: string; sid: string }
  }
}

export async function createAccessTokens(app: App, [current, previous]: Secrets, lifetime: number) {
  await app.register(fastifyJwt, {
    secret: current,
    sign: {
      algorithm: ALGORITHM,
      header: { alg: ALGORITHM, typ: TYPE },
      iss: ISSUER,
      aud: AUDIENCE,
      expiresIn: lifetime,
    },
    verify: {
      algorithms: [ALGORITHM],
      checkTyp: TYPE,
      allowedIss: ISSUER,
      allowedAud: AUDIENCE,
      // Absent claims are not compared, so each is required too.
      requiredClaims: ['iss', 'aud', 'sub', 'sid', 'iat', 'exp'],
      complete: true,
    },
    // It does not know ended sessions: request.jwtVerify() alone admits no caller.
    trusted: () => false,
  })

  function signedIn(token: string): Signed {
    try {
      return app.jwt.verify(token)
    } catch (error) {
      // Only the signature depends on the secret.
      if (previous === undefined || readErrorCode(error) !== 'FAST_JWT_INVALID_SIGNATURE') throw error
      return app.jwt.verify(token, { key: previous })
    }
  }

  return {
    lifetime,
    sign: (userId: string, sessionId: string) => app.jwt.sign({ sub: userId, sid: sessionId }),
    /** Undefined for any invalid token. */
    verify(token: string): AccessToken | undefined {
      if (token.length > LONGEST_TOKEN) return undefined
      try {
        return readClaims(signedIn(token))
      } catch {
        // Errors of many kinds, such as RangeError for a date that does not exist.
        return undefined
      }
    },
  }
}

/** Undefined for claims that the service never signs. */
function readClaims({ header, payload: { sub, sid, iat, exp } }: Signed): AccessToken | undefined {
  // The package checks critical extensions, but not null for a list.
  if (header.crit !== undefined) return undefined
  if (!isWrittenUuid(sub) || !isWrittenUuid(sid) || !isInteger(iat) || !isInteger(exp)) return undefined
  return { userId: sub, sessionId: sid, expiresAt: exp }
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
