import { hkdfSync, randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { Secrets } from '#src/http/jwt-secret.ts'
import { SEAL_KEY_BYTES, seal, unseal } from '#src/lib/sealed.ts'
import { listSecrets, replaceSecret } from './secret-queries.ts'

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
  /** The same secret, sealed with the present secret of the service; undefined where it is, or cannot be opened. */
  renew(userId: string, sealed: Buffer): Buffer | undefined
}

/** @param secrets of the service: the first seals, all of them open */
export function createSecretSeal(secrets: Secrets): SecretSeal {
  const [current, ...previous] = secrets
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

  const sealFor = (userId: string, secret: string) => seal(keyOf(current, userId), Buffer.from(secret))
  return {
    seal: sealFor,
    open: (userId, sealed) => opened(userId, sealed, secrets),
    renew(userId, sealed) {
      if (opened(userId, sealed, [current]) !== undefined) return undefined
      const secret = opened(userId, sealed, previous)
      return secret === undefined ? undefined : sealFor(userId, secret)
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
    for (const { id, userId, secret, previousSecret } of page) {
      for (const sealed of [secret, previousSecret]) {
        const replacement = sealed === null ? undefined : renew(userId, sealed)
        if (sealed === null || replacement === undefined) continue
        await replaceSecret(db, id, sealed, replacement)
        renewed++
      }
    }
    last = page.at(-1)?.id
    if (page.length < PAGE) break
  }
  if (renewed > 0) log.warn({ renewed }, 'secrets of subscriptions are sealed with the new JWT_SECRET')
}
