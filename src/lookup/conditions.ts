import type { Conditions } from '#schemas/certainty.ts'
import { ApiError } from '#src/api-error.ts'
import { wordKey } from '#src/lib/names.ts'
import type { Companion, LayerLabel } from './queries.ts'

/** What decides which condition of a field answers. */
interface ConditionedRelease {
  layers: readonly LayerLabel[]
  companions: readonly Pick<Companion, 'role'>[]
  conditions: Conditions | null
}

/** The condition of a layer as a member; none for a layer of all conditions. */
export function conditionMember({ condition }: { condition?: string | null }): { condition?: string } {
  return condition ? { condition } : {}
}

/** Asks for the values of all conditions, whichever the place has. */
export const ALL_CONDITIONS = Symbol('all conditions')

/** A name, or all; undefined for the condition of the place where a raster has it, and else for all. */
export type ConditionWish = string | typeof ALL_CONDITIONS | undefined

/** Of answers whose condition is that of the place. */
const LANDSCAPE_SOURCE = 'landscape layer'

/** The band of the landscape raster; undefined without one. */
function findLandscape({ layers, companions }: ConditionedRelease): number | undefined {
  const at = companions.findIndex(({ role }) => role === 'landscape')
  return at < 0 ? undefined : layers.length + at
}

/** Whether a release has values of a condition: any has those of none. */
export function hasCondition({ conditions }: ConditionedRelease, requested: ConditionWish): boolean {
  return !conditions || typeof requested !== 'string' || nameCondition(conditions, requested) !== undefined
}

function nameCondition({ list }: Conditions, requested: string): string | undefined {
  const key = wordKey(requested)
  return list.find(({ condition, title }) => wordKey(condition) === key || wordKey(title) === key)?.condition
}

/**
 * A condition of a release by its name or title, in any case. Undefined where the request names none.
 *
 * @throws {ApiError} INVALID_PARAMETERS with the names that there are
 */
function findCondition(conditions: Conditions, requested: string | undefined): string | undefined {
  if (requested === undefined) return undefined
  const meant = nameCondition(conditions, requested)
  if (meant !== undefined) return meant
  throw unknownCondition(conditions)
}

function unknownCondition({ list }: Conditions): ApiError {
  const names = list.map(({ condition }) => condition)
  return ApiError.invalid('condition', `must be one of ${names.join(', ')}`, names)
}

/** The error for a condition that a release does not have; undefined for any other. */
export function conditionError(
  release: ConditionedRelease,
  requested: string | undefined,
): ApiError | undefined {
  const { conditions } = release
  return conditions && !hasCondition(release, requested) ? unknownCondition(conditions) : undefined
}

/** The bands that answer for one condition. */
interface ConditionChoice {
  /** Indices of the layers of other conditions. */
  others: number[]
  /** The band of the landscape raster where it does not decide; undefined where it does. */
  unused: number | undefined
}

/**
 * The layers that do not answer: those of other conditions than the requested one, or than that of the place where the
 * release has a landscape raster. Without either all answer.
 *
 * @param readPixel the pixel of a band all over the place; NaN where it has none or several
 * @throws {ApiError} INVALID_PARAMETERS for a condition that the release does not have
 */
export function chooseCondition(
  release: ConditionedRelease,
  requested: ConditionWish,
  readPixel: (band: number) => number,
): ConditionChoice {
  if (requested === ALL_CONDITIONS) return { others: [], unused: undefined }
  const { layers, conditions } = release
  const named = conditions ? findCondition(conditions, requested) : undefined
  const landscape = findLandscape(release)
  const ofPlace =
    named === undefined && landscape !== undefined ? conditions?.codes?.[readPixel(landscape)] : undefined
  const condition = named ?? ofPlace
  const isOther = (layer: LayerLabel) =>
    condition !== undefined && layer.condition !== null && layer.condition !== condition
  return {
    others: layers.flatMap((layer, index) => (isOther(layer) ? [index] : [])),
    unused: ofPlace === undefined ? landscape : undefined,
  }
}

/** The members of an answer about conditions: that the place decided, or the question where several answer. */
export function conditionMembers(
  release: ConditionedRelease,
  read: (band: number) => number,
): { condition_source?: typeof LANDSCAPE_SOURCE; question?: string } {
  const { layers, conditions } = release
  if (!conditions) return {}
  const landscape = findLandscape(release)
  if (landscape !== undefined && !Number.isNaN(read(landscape))) return { condition_source: LANDSCAPE_SOURCE }
  const answering = layers.flatMap(({ condition }, index) =>
    Number.isNaN(read(index)) ? [] : (condition ?? []),
  )
  return new Set(answering).size > 1 ? { question: conditions.question } : {}
}
