import { MAX_LEVEL } from '#schemas/areas.ts'
import type { ReleaseRow } from '#src/domains/releases/queries.ts'

/** Areas are compared on no finer level, unless it is asked for. */
const FINEST_BY_ITSELF = Math.min(2, MAX_LEVEL)

/** By which part of itself a value has to differ to count as changed, unless something else is said. */
export const DEFAULT_THRESHOLD = 0.1

/** Layers in areas of a comparison, all of which are kept in memory until it is answered. */
const MOST_ROWS = 200_000

/** A level has more areas than so many layers are compared in. */
export class TooManyAreas extends Error {
  override name = 'TooManyAreas'
  /** What the level has to be, as the rest of a sentence. */
  readonly rule: string

  constructor(layers: number) {
    const rule = `must be one with at most ${mostAreas(layers)} areas: that many are compared in ${layers} layers`
    super(`the level ${rule}`)
    this.rule = rule
  }
}

export function mostAreas(layers: number): number {
  return Math.floor(MOST_ROWS / layers)
}

/** Why two releases cannot be compared; undefined where they can. */
export function whyIncomparable(before: ReleaseRow, after: ReleaseRow): string | undefined {
  const differing =
    before.product !== after.product
      ? 'products'
      : before.countryCode !== after.countryCode
        ? 'countries'
        : undefined
  if (differing) return `${after.code} and ${before.code} are of different ${differing}.`
  const incomplete = [after, before].find(({ status }) => status === 'loading')
  return incomplete && `${incomplete.code} is not complete.`
}

/** The finest level of those that are loaded, but no finer than the second; null where none are. */
export function usualLevel(levels: number[]): number | null {
  const usual = levels.filter((level) => level <= FINEST_BY_ITSELF)
  return usual.length > 0 ? Math.max(...usual) : null
}
