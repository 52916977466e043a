import { PASS_LIMITS } from '#schemas/batch-forms.ts'
import { ApiError } from '#src/errors.ts'
import { isScalar, type Scalar } from './scalars.ts'
import type { SentPoints } from './sent.ts'

/** What is passed through of a point, in the order of the names; undefined for what it does not have. */
export type Passed = (Scalar | undefined)[]

/** Carries what else was sent of points to their answers: columns and properties that are none of ours. */
export interface Passage {
  names: readonly string[]
  /** Takes what a point has; the error where something cannot be passed, and is left behind. */
  take(index: number): ApiError | undefined
  /** Gives up what was taken of a point. */
  give(index: number): Passed
}

/**
 * Makes the passage of a call.
 *
 * @throws {ApiError} INVALID_PARAMETERS, where a name is of no column of a table, or of two
 */
export function createPassage(points: SentPoints, names: readonly string[]): Passage {
  refuseUnknown(points.columns, names)
  const taken = new Map<number, Passed>()
  return {
    names,
    take(index) {
      const members = points.membersOf(index, names)
      const passed = members.map((member) => (isPassable(member) ? member : undefined))
      taken.set(index, passed)
      const wrong = members.findIndex((member) => !isPassable(member))
      return wrong === -1 ? undefined : ApiError.invalid(names[wrong] as string, RULE)
    },
    give(index) {
      const passed = taken.get(index) as Passed
      taken.delete(index)
      return passed
    },
  }
}

const RULE = `must be a text of at most ${PASS_LIMITS.characters} characters, a number from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}, true, false or null to be passed`

function isPassable(member: unknown): member is Scalar | undefined {
  return member === undefined || isScalar(member, PASS_LIMITS.characters)
}

function refuseUnknown(columns: string[] | null, names: readonly string[]): void {
  for (const name of columns === null ? [] : names) {
    const count = (columns as string[]).filter((column) => column === name).length
    if (count === 1) continue
    throw ApiError.invalid(
      'pass',
      `names ${name}, which ${count === 0 ? 'no column is' : 'several columns are'} called`,
    )
  }
}

/**
 * Refuses what would stand beside something of ours by the same name, whatever its case: databases and
 * spreadsheets take both for one.
 *
 * @param own what answers call their own
 * @throws {ApiError} INVALID_PARAMETERS
 */
export function refuseOwnNames(names: readonly string[], own: readonly string[]): void {
  const taken = new Set(own.map((name) => name.toLowerCase()))
  const name = names.find((candidate) => taken.has(candidate.toLowerCase()))
  if (name !== undefined) throw ApiError.invalid('pass', `must not name ${name}, which the answer has anyway`)
}
