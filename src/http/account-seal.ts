import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Secrets } from './access-tokens.ts'
import type { App } from './app.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

export const SEAL_KEY_BYTES = 32

export function seal(key: Buffer, content: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce)
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
}

/** @throws for another key or changed bytes */
export function unseal(key: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

export type AccountSeal = ReturnType<typeof createAccountSeal>

/** Seals secrets that the service has to read. The purpose is a part of the key, and never changes. */
export function createAccountSeal(secrets: Secrets, purpose: string) {
  const [current, ...previous] = secrets
  // The secret also signs tokens, and a seal of one account must not open for another.
  const keyOf = (secret: string, userId: string) =>
    Buffer.from(hkdfSync('sha256', secret, userId, purpose, SEAL_KEY_BYTES))

  function opened(userId: string, sealed: Buffer, by: readonly string[]): Buffer | undefined {
    for (const secret of by) {
      try {
        return unseal(keyOf(secret, userId), sealed)
      } catch {
        // Another secret may open it.
      }
    }
    return undefined
  }

  const sealFor = (userId: string, secret: Buffer) => seal(keyOf(current, userId), secret)
  return {
    seal: sealFor,
    /** Undefined for another account, or a lost secret of the service. */
    open: (userId: string, sealed: Buffer) => opened(userId, sealed, secrets),
    /** Sealed with the first secret; undefined where it is, or cannot be opened. */
    renew(userId: string, sealed: Buffer): Buffer | undefined {
      if (opened(userId, sealed, [current])) return undefined
      const secret = opened(userId, sealed, previous)
      return secret && sealFor(userId, secret)
    },
  }
}

export interface SealedRows {
  list(after: string | undefined, most: number): Promise<SealedRow[]>
  /** Replaces a sealed secret, unless it has changed. */
  replace(id: string, sealed: Buffer, replacement: Buffer): Promise<void>
}

interface SealedRow {
  id: string
  userId: string
  /** Several where earlier ones are valid for a while. */
  sealed: Buffer[]
}

const PAGE = 500

/** Seals with the present secret of the service, so that the previous one can go; gives the number. */
export async function renewAll({ renew }: AccountSeal, rows: SealedRows): Promise<number> {
  let renewed = 0
  let last: string | undefined
  for (;;) {
    const page = await rows.list(last, PAGE)
    for (const { id, userId, sealed } of page) {
      for (const one of sealed) {
        const replacement = renew(userId, one)
        if (!replacement) continue
        await rows.replace(id, one, replacement)
        renewed++
      }
    }
    last = page.at(-1)?.id
    if (page.length < PAGE) return renewed
  }
}

export function renewWhenReady(
  app: App,
  seal: AccountSeal,
  rows: SealedRows,
  name: string,
  log: FastifyBaseLogger,
): void {
  app.addHook('onReady', () => {
    const renewing = app.prepared.then(() => renewAll(seal, rows))
    renewing.then(
      (renewed) => {
        if (renewed > 0) log.warn({ renewed }, `${name} are sealed with the new JWT_SECRET`)
      },
      (error) => app.logFailure(error, `${name} could not be sealed with the new JWT_SECRET`),
    )
  })
}
