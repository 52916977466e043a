import type { Transaction } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { countUncoded, dropShared, type Finding, giveCodes } from './staging-queries.ts'

/** Areas without a code get one from their name, or are left out. */
export const CODE_RULES = ['from-names', 'skip'] as const
export type CodeRule = (typeof CODE_RULES)[number]

/** A larger share of areas without codes is no leftover of drawing. */
const MOSTLY = 0.5

/**
 * ADDIS-ABABA: capitals without accents. Other scripts stay.
 *
 * @returns null for a name without letters and digits
 */
export function codeOfName(name: string): string | null {
  const plain = name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
  const words = plain.toUpperCase().match(/[\p{Letter}\p{Mark}\p{Number}]+/gu)
  return words?.join('-') ?? null
}

/** Applies the operator's rule to areas without a code of their own. */
export async function settleCodes(
  trx: Transaction<Tables>,
  rule: CodeRule | undefined,
  staged: number,
): Promise<{ coded: Finding[]; dropped: Finding[] }> {
  if (rule === 'from-names') return { coded: await giveCodes(trx), dropped: [] }
  if (rule === 'skip') return { coded: [], dropped: await dropShared(trx) }
  const uncoded = await countUncoded(trx)
  if (uncoded > MOSTLY * staged) {
    throw new OperatorError(
      `${uncoded} of the ${staged} features have no code: --code-property names another property, and --codes from-names makes codes from names.`,
    )
  }
  return { coded: [], dropped: [] }
}
