import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'

/** An answer as it is stored: all that is needed to give it again. */
export interface StoredAnswer {
  /** The {@link fingerprintOf} the request. */
  request: string
  status: number
  headers: Record<string, string>
  body: object
}

const ALGORITHM = 'aes-256-gcm'
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16

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
  const idKey = Buffer.from(hkdfSync('sha256', secret, '', 'idempotent request', KEY_BYTES))
  const contentKey = (id: Buffer, name: string) =>
    Buffer.from(hkdfSync('sha256', secret, id, `idempotent answer ${name}`, KEY_BYTES))

  return {
    /** The id of a request: the same for the same name in the same scope. */
    idOf(name: string, ...scope: (string | null)[]): Buffer {
      return createHmac('sha256', idKey)
        .update(JSON.stringify([name, ...scope]))
        .digest()
    },
    seal(id: Buffer, name: string, answer: StoredAnswer): Buffer {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, contentKey(id, name), nonce)
      const content = Buffer.concat([cipher.update(JSON.stringify(answer)), cipher.final()])
      return Buffer.concat([nonce, cipher.getAuthTag(), content])
    },
    /** @throws where it was sealed with other keys, or changed since */
    unseal(id: Buffer, name: string, sealed: Buffer): StoredAnswer {
      const decipher = createDecipheriv(ALGORITHM, contentKey(id, name), sealed.subarray(0, NONCE_BYTES))
      decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
      const content = decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES))
      return JSON.parse(Buffer.concat([content, decipher.final()]).toString())
    },
  }
}
