import type { Transaction } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { countUncoded, dropShared, type Finding, giveCodes } from './staging-queries.ts'

/** What becomes of areas without a code of their own: one is made from the name, or they are left out. */
export const CODE_RULES = ['from-names', 'skip'] as const
export type CodeRule = (typeof CODE_RULES)[number]

/** Most of the areas are not left over from drawing, but have no codes. */
const MOSTLY = 0.5

/**
 * The code that a name makes, in capitals and without accents: ADDIS-ABABA. Other scripts stay as they are.
 *
 * @returns null where the name has neither letters nor digits
 */
export function codeOfName(name: string): string | null {
  const plain = name
    .normalize('NFD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
  const words = plain.toUpperCase().match(/[\p{Letter}\p{Mark}\p{Number}]+/gu)
  return words?.join('-') ?? null
}

/**
 * Does about staged areas without a code, or with one that others have too, what the operator wants done.
 *
 * @returns the areas whose codes were made, and those that are left out
 * @throws {OperatorError} where the operator has not said, and most areas have no code
 */
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
