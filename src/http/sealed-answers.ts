import { createHash, createHmac, hkdfSync } from 'node:crypto'
import { SEAL_KEY_BYTES, seal, unseal } from '#src/lib/sealed.ts'

/** An answer as it is stored: all that is needed to give it again. */
export interface StoredAnswer {
  /** The {@link fingerprintOf} the request. */
  request: string
  status: number
  headers: Record<string, string>
  body: object
}

/** What a request is compared by. It may be made of a password: it is stored sealed, or under a secret. */
export function fingerprintOf(request: unknown): string {
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
