import { shortNumber } from '#src/lib/round.ts'

/** How a mean changes, as a sentence or a table says it. */
export function changeText(relative: number | null): string {
  if (relative === null) return 'new'
  if (relative === Number.NEGATIVE_INFINITY) return 'gone'
  if (!Number.isFinite(relative)) return 'from 0'
  return `${relative > 0 ? '+' : ''}${(100 * relative).toFixed(1)} %`
}

export function numberText(value: number | null): string {
  return value === null ? 'none' : shortNumber(value)
}
