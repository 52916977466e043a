import { randomBytes } from 'node:crypto'
import type { AccountSeal } from '#src/http/account-seal.ts'

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
}

/** Seals secrets as texts. */
export function secretSealBy({ seal, open }: AccountSeal): SecretSeal {
  return {
    seal: (userId, secret) => seal(userId, Buffer.from(secret)),
    open: (userId, sealed) => open(userId, sealed)?.toString(),
  }
}
