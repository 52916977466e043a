import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, FlattenedSign } from 'jose'
import { inTransaction } from '#src/data/sql.ts'
import type { App } from '#src/http/app.ts'
import { cacheValue } from '#src/lib/cache.ts'
import { findSigningKey, keepSigningKey, type SigningKey } from './signing-queries.ts'

/** Without its id. */
export function describePublicKey(publicKey: Buffer) {
  return { kty: 'OKP', crv: 'Ed25519', x: publicKey.toString('base64url') } as const
}

/** The id of a key is its thumbprint (RFC 7638). @param key private or public */
export async function identifyKey(key: KeyObject): Promise<Pick<SigningKey, 'kid' | 'public_key'>> {
  const { x } = createPublicKey(key.export({ format: 'pem', type: 'pkcs8' })).export({ format: 'jwk' })
  const publicKey = Buffer.from(x as string, 'base64url')
  return { kid: await calculateJwkThumbprint(describePublicKey(publicKey)), public_key: publicKey }
}

/** A new key, whose id is no option for a command: it does not begin with `-`, as one of 64 would. */
export async function makeSigningKey() {
  for (;;) {
    const { privateKey } = generateKeyPairSync('ed25519')
    const key = await identifyKey(privateKey)
    if (!key.kid.startsWith('-')) return { key, pem: privateKey.export({ format: 'pem', type: 'pkcs8' }) }
  }
}

/** A key that is retired signs no more after this time. */
const KEY_TTL_MS = 10_000

/** Signs statements by SIGNING_KEY, the same each time: EdDSA (RFC 8037), a detached JWS of the bytes (RFC 7797). */
export function createSigner({ config, database: { reader, writer }, log, logFailure }: App) {
  const key = config.SIGNING_KEY === undefined ? undefined : createPrivateKey(config.SIGNING_KEY)
  const findKey = cacheValue('signing key', findOrKeep, KEY_TTL_MS)
  let identified: ReturnType<typeof identifyKey> | undefined

  /** Makes a key public that the database does not know yet. It may be retired; undefined for none. */
  async function findOrKeep(): Promise<SigningKey | undefined> {
    if (!key) return undefined
    identified ??= identifyKey(key)
    const own = await identified
    const known = await findSigningKey(reader, own.kid)
    if (known) return known
    await inTransaction(writer, (trx) => keepSigningKey(trx, own))
    return findSigningKey(writer, own.kid)
  }

  return {
    /** Makes the key of this process public, and says where it is a retired one. */
    async start(): Promise<void> {
      try {
        const found = await findKey()
        if (found?.retired_at) {
          log.warn({ kid: found.kid }, 'the key of SIGNING_KEY is retired: releases have no signature')
        }
      } catch (error) {
        // The first signature tries again.
        logFailure(error, 'the signing key is not public yet')
      }
    },
    /** @returns null where there is no key to sign with, or a retired one */
    async sign(statement: string): Promise<string | null> {
      const current = await findKey()
      if (!key || !current || current.retired_at) return null
      const jws = await new FlattenedSign(Buffer.from(statement))
        .setProtectedHeader({ alg: 'EdDSA', b64: false, crit: ['b64'], kid: current.kid })
        .sign(key)
      return `${jws.protected}..${jws.signature}`
    },
  }
}
