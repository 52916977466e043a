import { hkdfSync } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { Secrets } from '#src/http/jwt-secret.ts'
import { SEAL_KEY_BYTES, seal, unseal } from '#src/lib/sealed.ts'
import { listSecrets, replaceSecret } from './two-factor-queries.ts'

/** How secrets of second factors are stored: whoever has the database alone can make no codes. */
export interface SecretSeal {
  seal(userId: string, secret: Buffer): Buffer
  /** Undefined where it was sealed with a secret of the service that is lost. */
  open(userId: string, sealed: Buffer): Buffer | undefined
  /** The same secret, sealed with the present secret of the service; undefined where it is, or cannot be opened. */
  renew(userId: string, sealed: Buffer): Buffer | undefined
}

/** @param secrets of the service: the first seals, all of them open */
export function createSecretSeal(secrets: Secrets): SecretSeal {
  const [current, ...previous] = secrets
  // The secret also signs tokens, and what is sealed for one account must not open for another.
  const keyOf = (secret: string, userId: string) =>
    Buffer.from(hkdfSync('sha256', secret, userId, 'two-factor secret', SEAL_KEY_BYTES))

  function opened(userId: string, sealed: Buffer, by: string[]): Buffer | undefined {
    for (const secret of by) {
      try {
        return unseal(keyOf(secret, userId), sealed)
      } catch {
        // It may have been another one.
      }
    }
    return undefined
  }

  const sealFor = (userId: string, secret: Buffer) => seal(keyOf(current, userId), secret)
  return {
    seal: sealFor,
    open: (userId, sealed) => opened(userId, sealed, secrets),
    renew(userId, sealed) {
      if (opened(userId, sealed, [current])) return undefined
      const secret = opened(userId, sealed, previous)
      return secret && sealFor(userId, secret)
    },
  }
}

const PAGE = 500

/** Seals all secrets with the present secret of the service, so that the previous one can go. */
export async function renewSecrets(
  db: Kysely<Tables>,
  { renew }: SecretSeal,
  log: FastifyBaseLogger,
): Promise<void> {
  let renewed = 0
  let last: string | undefined
  for (;;) {
    const page = await listSecrets(db, last, PAGE)
    for (const { userId, secret } of page) {
      const replacement = renew(userId, secret)
      if (!replacement) continue
      await replaceSecret(db, userId, secret, replacement)
      renewed++
    }
    last = page.at(-1)?.userId
    if (page.length < PAGE) break
  }
  if (renewed > 0) log.warn({ renewed }, 'secrets of second factors are sealed with the new JWT_SECRET')
}
