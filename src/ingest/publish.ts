import type { Transaction } from 'kysely'
import {
  type DueOutcome,
  type DueRelease,
  findPrevious,
  keepFindings,
  publishRelease,
  requireComplete,
} from '#src/catalog/release-queries.ts'
import type { Finding } from '#src/data/rights.ts'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { allowedChecks, inspectAgain, type Leniency, refusalText, refusingChecks } from './checks/index.ts'

export interface Publishing {
  code: string
  /** Otherwise the findings say why. */
  published: boolean
  replaced: string | undefined
  findings: Finding[]
}

export function publishChecked(
  trx: Transaction<Tables>,
  code: string,
  leniency: Leniency,
): Promise<Publishing> {
  return publishUnlessRefused(trx, code, leniency, {})
}

/** @returns a refusal, or the replaced release */
export async function publishDue(
  trx: Transaction<Tables>,
  { code, allowed, strict, scheduledBy }: DueRelease,
): Promise<DueOutcome> {
  try {
    const leniency = { allow: allowed, strict }
    const { published, replaced, findings } = await publishUnlessRefused(trx, code, leniency, { scheduledBy })
    return published ? { replaced } : { refusal: refusalText(findings) }
  } catch (error) {
    if (error instanceof OperatorError) return { refusal: error.message }
    throw error
  }
}

/** @throws {OperatorError} without a predecessor */
export async function rollBackChecked(
  trx: Transaction<Tables>,
  code: string,
  leniency: Leniency,
): Promise<Publishing> {
  return publishUnlessRefused(trx, await findPrevious(trx, code), leniency, { returns: true })
}

async function publishUnlessRefused(
  trx: Transaction<Tables>,
  code: string,
  leniency: Leniency,
  { returns, scheduledBy }: { returns?: boolean; scheduledBy?: string },
): Promise<Publishing> {
  const { publishedAt } = await requireComplete(trx, code)
  if (publishedAt !== null) return { code, published: true, replaced: undefined, findings: [] }
  const findings = await inspectAgain(trx, code, leniency, { returns })
  if (refusingChecks(findings).length > 0) return { code, published: false, replaced: undefined, findings }
  await keepFindings(trx, code, findings)
  return {
    code,
    published: true,
    replaced: await publishRelease(trx, code, { allowed: allowedChecks(findings), scheduledBy, returns }),
    findings,
  }
}
