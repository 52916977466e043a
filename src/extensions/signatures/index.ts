import { createPrivateKey } from 'node:crypto'
import type { Generated } from 'kysely'
import { Type } from 'typebox'
import type { Extension } from '../extension.ts'

const auditKinds = {
  signing_key_made: 'a key that signs proofs was made',
  signing_key_retired: 'a key that signs proofs was retired',
} as const

type Kinds = typeof auditKinds

interface ReleaseProofTable {
  release_id: number
  root: Buffer | null
  header: string | null
  grids: Buffer | null
  leased_until: Generated<Date>
}

declare module '#src/config.ts' {
  interface Config {
    SIGNING_KEY?: string
  }
}
declare module '#src/data/audit-kinds.ts' {
  interface AuditKinds extends Kinds {}
}
declare module '#src/data/tables.ts' {
  interface Tables {
    release_proof: ReleaseProofTable
    proof_node: { coverage_id: number; level: number; chunk: number; hashes: Buffer }
    signing_key: { kid: string; public_key: Buffer; made_at: Generated<Date>; retired_at: Date | null }
  }
}

function refuseOtherKey(pem: string | undefined): void {
  if (pem === undefined) return
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'ed25519') return
  } catch {
    // Its message might have a part of the key.
  }
  throw new Error(
    'SIGNING_KEY must be an Ed25519 key as PEM, in a file of SIGNING_KEY_FILE; `agro signing-keys make FILE` makes one',
  )
}

/** Proofs of values: Merkle trees of releases, whose roots the operator signs. */
export const signatures: Extension = {
  name: 'signatures',
  guide: { path: 'proof', title: 'proofs', before: 'operators' },
  settings: {
    operated: { SIGNING_KEY: Type.Optional(Type.String()) },
    secrets: ['SIGNING_KEY'],
    refuse: ({ SIGNING_KEY }) => refuseOtherKey(SIGNING_KEY),
  },
  auditKinds,
  sql: new URL('sql/', import.meta.url),
  observeLoads: async () => (await import('./hashing.ts')).watchLoad,
  releaseMembers: async () => (await import('./proof-queries.ts')).RELEASE_MEMBERS,
  async additions(app) {
    const { createSigner } = await import('./signing.ts')
    const { createProof } = await import('./proof.ts')
    app.decorate('signer', createSigner(app.database, app.config.SIGNING_KEY))
    return { members: [createProof(app)] }
  },
  async routes(app) {
    const { hashReleases } = await import('./hashing.ts')
    const { signingKeys } = await import('./signing.ts')
    hashReleases(app)
    await app.register(signingKeys)
  },
  commands: { 'signing-keys': async () => (await import('./command.ts')).signingKeysCommand },
  checks: async () => (await import('./checks.ts')).checks,
}
