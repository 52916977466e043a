import { createPrivateKey } from 'node:crypto'
import type { Generated } from 'kysely'
import { Type } from 'typebox'
import { findDocumentation } from '#src/config.ts'
import { BASE } from '#src/errors.ts'
import type { Extension } from '../extension.ts'

const auditKinds = {
  signing_key_made: 'a key that signs releases was made',
  signing_key_retired: 'a key that signs releases was retired',
} as const

type Kinds = typeof auditKinds

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
    release_statement: { release_id: number; statement: string }
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

/** Of Merkle trees, which version 1.2.0 made. */
function writeProofRule(documentation: string | undefined): string {
  const rule = 'must be left out: the files and the signature of a release prove its answers'
  return documentation === undefined ? rule : `${rule}, as ${BASE}${documentation}/proof says`
}

/** What releases were loaded from: the hashes of their files, in statements that the operator signs. */
export const signatures: Extension = {
  name: 'signatures',
  guide: { path: 'proof', title: 'Signatures', before: 'operators' },
  settings: {
    operated: { SIGNING_KEY: Type.Optional(Type.String()) },
    secrets: ['SIGNING_KEY'],
    refuse: ({ SIGNING_KEY }) => refuseOtherKey(SIGNING_KEY),
  },
  auditKinds,
  sql: new URL('sql/', import.meta.url),
  observeLoads: async () => (await import('./statement-queries.ts')).storeStatement,
  additions: async ({ config }) => ({
    former: [{ name: 'proof', rule: writeProofRule(findDocumentation(config)) }],
  }),
  async releaseMembers(app) {
    const { createSigner } = await import('./signing.ts')
    const { listMembers } = await import('./statement-queries.ts')
    app.addSchema((await import('./schemas.ts')).ReleaseFile)
    const { start, sign } = createSigner(app)
    app.addHook('onReady', async () => void app.prepared.then(start))
    return listMembers(sign)
  },
  routes: async (app) => (await import('./routes.ts')).signatureRoutes(app),
  commands: {
    'signing-keys': async () => (await import('./command.ts')).signingKeysCommand,
    'releases verify': async () => (await import('./verify.ts')).verifyCommand,
  },
  checks: async () => (await import('./checks.ts')).checks,
}
