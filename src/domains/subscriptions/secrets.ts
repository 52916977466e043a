import { hkdfSync, randomBytes } from 'node:crypto'
import type { Secrets } from '#src/http/jwt-secret.ts'
import { SEAL_KEY_BYTES, seal, unseal } from '#src/lib/sealed.ts'

/** Begins secrets of Standard Webhooks; the rest is base64. */
const PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** What signs the deliveries of a subscription. */
export function newSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString('base64')
}

/** How such secrets are stored: whoever has the database alone can sign nothing. */
export interface SecretSeal {
  seal(userId: string, secret: string): Buffer
  /** Undefined where it was sealed with a secret of the service that is lost. */
  open(userId: string, sealed: Buffer): string | undefined
  /** Whether it was sealed with a secret of the service that is about to go. */
  isOld(userId: string, sealed: Buffer): boolean
}

/** @param secrets of the service: the first seals, all of them open */
export function createSecretSeal(secrets: Secrets): SecretSeal {
  const keyOf = (secret: string, userId: string) =>
    Buffer.from(hkdfSync('sha256', secret, userId, 'webhook secret', SEAL_KEY_BYTES))

  function opened(userId: string, sealed: Buffer, by: readonly string[]): string | undefined {
    for (const secret of by) {
      try {
        return unseal(keyOf(secret, userId), sealed).toString()
      } catch {
        // It may have been another one.
      }
    }
    return undefined
  }

  return {
    seal: (userId, secret) => seal(keyOf(secrets[0], userId), Buffer.from(secret)),
    open: (userId, sealed) => opened(userId, sealed, secrets),
    isOld: (userId, sealed) => opened(userId, sealed, [secrets[0]]) === undefined,
  }
}
