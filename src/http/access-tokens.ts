import { webcrypto } from 'node:crypto'
import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose'
import { isWrittenUuid } from '#src/lib/uuid.ts'
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
  sign(userId: string, sessionId: string): Promise<string>
  /** What a token says; undefined where it is not a valid one of ours, for whatever reason. */
  verify(token: string): Promise<AccessToken | undefined>
}

/** Signs and verifies access tokens: JWTs of one algorithm, with all their claims required. */
export async function createAccessTokens(secrets: Secrets, lifetime: number): Promise<AccessTokens> {
  const keys = await Promise.all(secrets.map(importKey))

  async function payloadOf(token: string): Promise<JWTPayload | undefined> {
    for (const key of keys) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [ALGORITHM],
          typ: TYPE,
          issuer: ISSUER,
          audience: AUDIENCE,
          requiredClaims: ['sub', 'sid', 'iat', 'exp'],
        })
        return payload
      } catch (error) {
        // Only the signature depends on the key.
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) return undefined
      }
    }
    return undefined
  }

  return {
    lifetime,
    sign(userId, sessionId) {
      const now = Math.floor(Date.now() / 1000)
      return new SignJWT({ sid: sessionId })
        .setProtectedHeader({ alg: ALGORITHM, typ: TYPE })
        .setSubject(userId)
        .setIssuedAt(now)
        .setExpirationTime(now + lifetime)
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .sign(keys[0] as webcrypto.CryptoKey)
    },
    async verify(token) {
      if (token.length > LONGEST_TOKEN) return undefined
      const { sub, sid, iat, exp } = (await payloadOf(token)) ?? {}
      // The signature says that it is ours; a claim that we would never write says that it is not.
      if (
        !isWrittenUuid(sub) ||
        !isWrittenUuid(sid) ||
        !Number.isSafeInteger(iat) ||
        !Number.isSafeInteger(exp)
      ) {
        return undefined
      }
      return { userId: sub, sessionId: sid, expiresAt: exp as number }
    },
  }
}

function importKey(secret: string): Promise<webcrypto.CryptoKey> {
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  return webcrypto.subtle.importKey('raw', Buffer.from(secret), algorithm, false, ['sign', 'verify'])
}
