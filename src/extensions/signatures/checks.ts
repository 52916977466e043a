import { createPrivateKey } from 'node:crypto'
import { type CheckedDatabase, type Checks, ok, warning } from '#src/cli/findings.ts'
import { identifyKey } from './signing.ts'
import { findSigningKey } from './signing-queries.ts'

export const checks: Checks<CheckedDatabase> = {
  async 'signatures.signing_key'({ ask, config: { SIGNING_KEY: pem } }) {
    if (pem === undefined) return []
    const { kid } = await identifyKey(createPrivateKey(pem))
    const known = await ask((trx) => findSigningKey(trx, kid))
    if (!known) {
      const advice = 'Restart the service with this SIGNING_KEY_FILE: it makes the key public.'
      return warning(`The key ${kid} of SIGNING_KEY_FILE is not public yet.`, advice)
    }
    if (!known.retired_at) return ok(`The key ${kid} signs releases.`)
    return warning(
      `The key ${kid} of SIGNING_KEY_FILE is retired: releases have no signature.`,
      'Make another one with `agro signing-keys make`, and set SIGNING_KEY_FILE to its file.',
    )
  },
}
