import fastifyJwt from '@fastify/jwt'
import { isWrittenUuid } from '#src/lib/uuid.ts'
import type { App } from './app.ts'
import type { Secrets } from './jwt-secret.ts'

const ALGORITHM = 'HS256'
/** Says that it is an access token and nothing else that may be signed with the secret (RFC 9068). */
const TYPE = 'at+jwt'
const ISSUER = 'agro-advisory'
const AUDIENCE = 'agro-advisory'
/** Ours have about 400 characters. */
const LONGEST_TOKEN = 2048

export interface AccessToken {
  userId: string
  sessionId: string
  /** Seconds since 1970. */
  expiresAt: number
}

export interface AccessTokens {
  /** How long a token is valid, in seconds. */
  lifetime: number
  sign(userId: string, sessionId: string): string
  /** What a token says; undefined where it is not a valid one of ours, for whatever reason. */
  verify(token: string): AccessToken | undefined
}

/** What is signed: by us these claims, by somebody else whatever they like. */
interface Signed {
  header: Record<string, unknown>
  payload: { sub?: unknown; sid?: unknown; iat?: unknown; exp?: unknown }
}

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: { sub: string; sid: string }
  }
}

/**
 * Registers @fastify/jwt for tokens of one algorithm, with all their claims required.
 *
 * @param lifetime how long a token is valid, in seconds
 */
export async function createAccessTokens(
  app: App,
  [current, previous]: Secrets,
  lifetime: number,
): Promise<AccessTokens> {
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
      // A claim that is absent is not compared: each has to be required too.
      requiredClaims: ['iss', 'aud', 'sub', 'sid', 'iat', 'exp'],
      complete: true,
    },
    // It does not know which sessions have ended: nobody is let in by request.jwtVerify() alone.
    trusted: () => false,
  })

  function signedIn(token: string): Signed {
    try {
      return app.jwt.verify(token)
    } catch (error) {
      // Only the signature depends on the secret.
      if (previous === undefined || !isWrongSignature(error)) throw error
      return app.jwt.verify(token, { key: previous })
    }
  }

  return {
    lifetime,
    sign: (userId, sessionId) => app.jwt.sign({ sub: userId, sid: sessionId }),
    verify(token) {
      if (token.length > LONGEST_TOKEN) return undefined
      try {
        return contentOf(signedIn(token))
      } catch {
        // Errors of many kinds, such as RangeError for a date that does not exist: it is none of ours.
        return undefined
      }
    },
  }
}

/** The signature says that it is ours; what we would never write says that it is not. */
function contentOf({ header, payload: { sub, sid, iat, exp } }: Signed): AccessToken | undefined {
  // The package looks at extensions that must be understood, but not where there is null for a list.
  if (header.crit !== undefined) return undefined
  if (!isWrittenUuid(sub) || !isWrittenUuid(sid) || !isInteger(iat) || !isInteger(exp)) return undefined
  return { userId: sub, sessionId: sid, expiresAt: exp }
}

function isWrongSignature(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'FAST_JWT_INVALID_SIGNATURE'
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
