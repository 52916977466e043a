import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { FastifyBaseLogger } from 'fastify'
import type { Secrets } from './access-tokens.ts'
import type { App } from './app.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/** How long a key is. */
export const SEAL_KEY_BYTES = 32

/** Encrypts a content, so that a change of it is noticed. */
export function seal(key: Buffer, content: Buffer): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce)
  const encrypted = Buffer.concat([cipher.update(content), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), encrypted])
}

/** @throws where it was sealed with another key, or changed since */
export function unseal(key: Buffer, sealed: Buffer): Buffer {
  const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES))
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
}

/**
 * How secrets of accounts are stored that the service itself has to read: sealed, so that whoever has the database alone
 * can do nothing with them.
 */
export interface AccountSeal {
  seal(userId: string, secret: Buffer): Buffer
  /** Undefined where it was sealed for another account, or with a secret of the service that is lost. */
  open(userId: string, sealed: Buffer): Buffer | undefined
  /** The same secret, sealed with the present secret of the service; undefined where it is, or cannot be opened. */
  renew(userId: string, sealed: Buffer): Buffer | undefined
}

/**
 * @param secrets of the service: the first seals, all of them open
 * @param purpose what is sealed: secrets of one purpose cannot be opened as those of another. It is a part of the key, and
 * stays as it is
 */
export function createAccountSeal(secrets: Secrets, purpose: string): AccountSeal {
  const [current, ...previous] = secrets
  // The secret also signs tokens, and what is sealed for one account must not open for another.
  const keyOf = (secret: string, userId: string) =>
    Buffer.from(hkdfSync('sha256', secret, userId, purpose, SEAL_KEY_BYTES))

  function opened(userId: string, sealed: Buffer, by: readonly string[]): Buffer | undefined {
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

/** Where sealed secrets are stored. */
export interface SealedRows {
  /**
   * Some of them, in the order of their ids.
   *
   * @param after the id of the last one of those before; undefined for the first ones
   */
  list(after: string | undefined, most: number): Promise<SealedRow[]>
  /** Puts a secret that is sealed anew in the place of the one that was read, where that is still there. */
  replace(id: string, sealed: Buffer, replacement: Buffer): Promise<void>
}

interface SealedRow {
  id: string
  userId: string
  /** One, or several where earlier ones are of use for a while. */
  sealed: Buffer[]
}

const PAGE = 500

/**
 * Seals all secrets with the present secret of the service, so that the previous one can go.
 *
 * @returns how many have been sealed with another one
 */
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

/**
 * Renews secrets in the background once the service is ready. It opens what is sealed with the previous secret, too: that
 * they are renewed is for the day when that goes.
 *
 * @param name what the log calls them
 */
export function renewWhenReady(
  app: App,
  seal: AccountSeal,
  rows: SealedRows,
  name: string,
  log: FastifyBaseLogger,
): void {
  app.addHook('onReady', () => {
    renewAll(seal, rows).then(
      (renewed) => {
        if (renewed > 0) log.warn({ renewed }, `${name} are sealed with the new JWT_SECRET`)
      },
      (error) => app.logFailure(error, `${name} could not be sealed with the new JWT_SECRET`),
    )
  })
}
