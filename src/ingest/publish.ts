import type { Transaction } from 'kysely'
import type { Finding } from '#src/database/findings.ts'
import type { Tables } from '#src/database/tables.ts'
import { findPrevious, keepFindings, publishRelease, requireComplete } from '#src/domains/releases/queries.ts'
import { inspectAgain } from './checks/index.ts'
import { allowedChecks, type Leniency, refusingChecks } from './checks/judgement.ts'

/** What has come of publishing a release. */
export interface Publishing {
  code: string
  /** Whether it is published now; otherwise its findings say why it is not. */
  published: boolean
  /** The code of the release it took the place of. */
  replaced: string | undefined
  findings: Finding[]
}

/**
 * Publishes a complete release, unless the checks refuse it.
 *
 * @throws {OperatorError} where there is no such release, or it is not complete
 */
export function publishChecked(
  trx: Transaction<Tables>,
  code: string,
  leniency: Leniency,
): Promise<Publishing> {
  return publishUnlessRefused(trx, code, leniency, false)
}

/**
 * Publishes again what a release took the place of, unless the checks refuse that.
 *
 * @throws {OperatorError} where the release is not published, or there was nothing before it
 */
export async function rollBackChecked(
  trx: Transaction<Tables>,
  code: string,
  leniency: Leniency,
): Promise<Publishing> {
  return publishUnlessRefused(trx, await findPrevious(trx, code), leniency, true)
}

async function publishUnlessRefused(
  trx: Transaction<Tables>,
  code: string,
  leniency: Leniency,
  returns: boolean,
): Promise<Publishing> {
  const { publishedAt } = await requireComplete(trx, code)
  if (publishedAt !== null) return { code, published: true, replaced: undefined, findings: [] }
  const findings = await inspectAgain(trx, code, leniency, { returns })
  if (refusingChecks(findings).length > 0) return { code, published: false, replaced: undefined, findings }
  await keepFindings(trx, code, findings)
  return {
    code,
    published: true,
    replaced: await publishRelease(trx, code, allowedChecks(findings)),
    findings,
  }
}
