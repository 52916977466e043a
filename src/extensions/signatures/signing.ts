import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { calculateJwkThumbprint, FlattenedSign } from 'jose'
import { ref } from '#schemas/common.ts'
import type { Database } from '#src/data/client.ts'
import { inTransaction } from '#src/data/sql.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { Cache, cacheValue } from '#src/lib/cache.ts'
import { findRoots } from './proof-queries.ts'
import { KeySet, type SignedRoot } from './schemas.ts'
import { findSigningKey, keepSigningKey, listSigningKeys, type SigningKey } from './signing-queries.ts'

const describePublicKey = (publicKey: Buffer) => ({
  kty: 'OKP' as const,
  crv: 'Ed25519' as const,
  x: publicKey.toString('base64url'),
})

/** The id of a key is its thumbprint (RFC 7638). @param key private or public */
export async function identifyKey(key: KeyObject): Promise<Pick<SigningKey, 'kid' | 'public_key'>> {
  const { x } = createPublicKey(key.export({ format: 'pem', type: 'pkcs8' })).export({ format: 'jwk' })
  const publicKey = Buffer.from(x as string, 'base64url')
  return { kid: await calculateJwkThumbprint(describePublicKey(publicKey)), public_key: publicKey }
}

/** A key that is retired signs no more after this time. */
const KEY_TTL_MS = 10_000

/** Releases that are asked for with proofs, and in packs. */
const MOST_SIGNATURES = 1000

type Signer = ReturnType<typeof createSigner>

declare module 'fastify' {
  interface FastifyInstance {
    signer: Signer
  }
}

/**
 * Signs roots by the key of SIGNING_KEY. The signature is EdDSA (RFC 8037) of the root as base64url: a JWS, detached, with an
 * unencoded payload (RFC 7797). It is the same each time.
 *
 * @param pem PKCS #8; undefined for none
 */
export function createSigner(
  { reader, writer }: Pick<Database, 'reader' | 'writer'>,
  pem: string | undefined,
) {
  const key = pem === undefined ? undefined : createPrivateKey(pem)
  const signatures = new Cache<string, string>('signatures', { max: MOST_SIGNATURES })
  const findKey = cacheValue('signing key', findOrKeep, KEY_TTL_MS)
  let identified: ReturnType<typeof identifyKey> | undefined

  async function findOrKeep(): Promise<SigningKey | undefined> {
    if (!key) return undefined
    identified ??= identifyKey(key)
    const own = await identified
    const known = await findSigningKey(reader, own.kid)
    if (known) return known
    await inTransaction(writer, (trx) => keepSigningKey(trx, own))
    return findSigningKey(writer, own.kid)
  }

  async function signRoot(signingKey: KeyObject, kid: string, root: string): Promise<string> {
    const jws = await new FlattenedSign(Buffer.from(root))
      .setProtectedHeader({ alg: 'EdDSA', b64: false, crit: ['b64'], kid })
      .sign(signingKey)
    return `${jws.protected}..${jws.signature}`
  }

  return {
    /** Makes a key public that the database does not know yet. It may be retired; undefined for none. */
    findKey,
    /** Where there is no key to sign with, or a retired one, kid and signature are null. */
    async sign(roots: readonly Pick<SignedRoot, 'release' | 'merkle_root'>[]): Promise<SignedRoot[]> {
      const current = roots.length > 0 && key ? await findKey() : undefined
      if (!key || !current || current.retired_at) {
        return roots.map((root) => ({ ...root, kid: null, signature: null }))
      }
      const { kid } = current
      return Promise.all(
        roots.map(async (root) => ({
          ...root,
          kid,
          signature: await signatures.load(`${kid} ${root.merkle_root}`, () =>
            signRoot(key, kid, root.merkle_root),
          ),
        })),
      )
    },
  }
}

/** The roots of releases, in the order of their codes; a release without one is left out. */
export async function signRoots(
  { database, signer }: Pick<App, 'database' | 'signer'>,
  releaseIds: readonly number[],
): Promise<SignedRoot[]> {
  if (releaseIds.length === 0) return []
  const found = await findRoots(database.reader, releaseIds)
  return signer.sign(found.map(({ release, root }) => ({ release, merkle_root: root.toString('base64url') })))
}

/** Makes the key of this process public, and says where it is a retired one. */
async function startSigning({ signer, log, logFailure }: App): Promise<void> {
  try {
    const found = await signer.findKey()
    if (found?.retired_at) {
      log.warn({ kid: found.kid }, 'the key of SIGNING_KEY is retired: proofs have no signature')
    }
  } catch (error) {
    // The first proof tries again.
    logFailure(error, 'the signing key is not public yet')
  }
}

/** The public keys of the service, also retired ones. */
export async function signingKeys(app: App): Promise<void> {
  const { database } = app
  app.addHook('onReady', async () => void startSigning(app))
  app.addSchema(KeySet)
  app.get(
    '/.well-known/jwks.json',
    {
      config: { public: true, caching: 'shared', onlyReads: true },
      schema: {
        operationId: 'getSigningKeys',
        summary: 'Get the keys that sign proofs',
        description:
          'The public keys of the signatures in `proof`, as a JSON Web Key Set (RFC 7517). Retired ones stay, with the time: older proofs have their signatures.',
        tags: ['catalog'],
        response: {
          200: { ...ref(KeySet), description: 'The keys, the newest first.' },
          304: { type: 'null', description: 'They are as `If-None-Match` names them.' },
          ...errorResponses(),
        },
      },
    },
    async (request: FastifyRequest, reply: FastifyReply) => {
      const keys = (await listSigningKeys(database.reader)).map(({ kid, public_key, retired_at }) => ({
        ...describePublicKey(public_key),
        kid,
        use: 'sig' as const,
        alg: 'EdDSA' as const,
        ...(retired_at && { retired_at: retired_at.toISOString() }),
      }))
      const text = JSON.stringify({ keys })
      if (allowCaching(request, reply, entityTag(text))) return reply.code(304).send()
      return { keys }
    },
  )
}
