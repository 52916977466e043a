import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { calculateJwkThumbprint, FlattenedSign } from 'jose'
import type { Kysely } from 'kysely'
import { ref } from '#schemas/common.ts'
import { KeySet, type SignedRoot } from '#schemas/proof.ts'
import type { Tables } from '#src/data/tables.ts'
import { errorResponses } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import { findRoots } from './proof-queries.ts'
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

/**
 * Signs roots by the key of SIGNING_KEY. The signature is EdDSA (RFC 8037) of the root as base64url: a JWS, detached, with an
 * unencoded payload (RFC 7797). It is the same each time.
 *
 * @param pem PKCS #8; undefined for none
 */
export function createSigner(db: Kysely<Tables>, pem: string | undefined) {
  const key = pem === undefined ? undefined : createPrivateKey(pem)
  let identified: ReturnType<typeof identifyKey> | undefined

  /** Undefined without a key, and for a retired one. */
  async function findCurrent(): Promise<SigningKey | undefined> {
    if (!key) return undefined
    identified ??= identifyKey(key)
    const { kid, public_key } = await identified
    const known = await findSigningKey(db, kid)
    if (known) return known.retired_at ? undefined : known
    await keepSigningKey(db, { kid, public_key })
    return findCurrent()
  }

  return {
    /** Makes a key public that the database does not know yet. */
    findCurrent,
    /** Where there is no key to sign with, kid and signature are null. */
    async sign(roots: readonly Pick<SignedRoot, 'release' | 'merkle_root'>[]): Promise<SignedRoot[]> {
      const current = roots.length > 0 ? await findCurrent() : undefined
      if (!key || !current) return roots.map((root) => ({ ...root, kid: null, signature: null }))
      const { kid } = current
      const signed: SignedRoot[] = []
      for (const root of roots) {
        const jws = await new FlattenedSign(Buffer.from(root.merkle_root))
          .setProtectedHeader({ alg: 'EdDSA', b64: false, crit: ['b64'], kid })
          .sign(key)
        signed.push({ ...root, kid, signature: `${jws.protected}..${jws.signature}` })
      }
      return signed
    },
  }
}

/** The roots of releases, in the order of their codes; a release without one is left out. */
export async function signRoots(
  { database, config }: Pick<App, 'database' | 'config'>,
  releaseIds: readonly number[],
): Promise<SignedRoot[]> {
  if (releaseIds.length === 0) return []
  const found = await findRoots(database.reader, releaseIds)
  const roots = found.map(({ release, root }) => ({ release, merkle_root: root.toString('base64url') }))
  return createSigner(database.writer, config.SIGNING_KEY).sign(roots)
}

/** The public keys of the service, also retired ones. */
export async function signingKeys(app: App): Promise<void> {
  const { database, config } = app
  const signer = createSigner(database.writer, config.SIGNING_KEY)
  app.addHook('onReady', async () => {
    // The first proof tries again.
    signer.findCurrent().catch((error) => app.logFailure(error, 'the signing key is not public yet'))
  })
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
