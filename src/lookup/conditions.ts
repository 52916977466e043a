import type { Conditions } from '#schemas/certainty.ts'
import { ApiError } from '#src/errors.ts'
import { wordKey } from '#src/lib/names.ts'
import { round } from '#src/lib/round.ts'
import { type Companion, type LayerLabel, listPairs } from './layers.ts'

/** Which condition of a field answers: one entry for each input and scenario, and the alternatives beside them. */

/** What decides which condition of a field answers. */
interface ConditionedRelease {
  layers: readonly LayerLabel[]
  companions: readonly Pick<Companion, 'role' | 'condition'>[]
  conditions: Conditions | null
}

/** Asks for the alternatives beside the answer. */
export const EVERY_CONDITION = 'all'

/** Of numbers that are no answer: the values of each layer are kept. */
export const ALL_LAYERS = Symbol('all layers')

/** A name or title in any case, or {@link EVERY_CONDITION}; undefined for the condition of the place. */
export type ConditionWish = string | typeof ALL_LAYERS | undefined

/** Where the condition of an answer comes from. */
type ConditionSource = 'request' | 'landscape layer' | 'default'

/** The condition that answers. */
interface Choice {
  /** Null for a mixture. */
  condition: string | null
  source: ConditionSource
  /** Whether the answer has the alternatives: those of a mixture, of a default, and where the request asks for them. */
  hasAlternatives: boolean
  /** Whether the place has parts of other conditions. */
  isOfSeveral?: boolean
}

/** The condition that answers at a place, and what there is of the others. */
export interface Chosen extends Choice {
  /** The number of a band at the place, of any condition; NaN for none. */
  read(band: number): number
}

/** The number of a band of a role in the order of layers and then of companions; undefined without one. */
export function findBand<Of extends Pick<Companion, 'role'>>(
  { layers, companions }: { layers: readonly LayerLabel[]; companions: readonly Of[] },
  role: Companion['role'],
  isMeant: (companion: Of) => boolean = () => true,
): number | undefined {
  const at = companions.findIndex((one) => one.role === role && isMeant(one))
  return at < 0 ? undefined : layers.length + at
}

function nameCondition({ list }: Conditions, requested: string): string | undefined {
  const key = wordKey(requested)
  return list.find(({ condition, title }) => wordKey(condition) === key || wordKey(title) === key)?.condition
}

/** The error for a condition that a release does not have; undefined for any other. A release without conditions has any. */
export function conditionError({ conditions }: ConditionedRelease, requested: ConditionWish) {
  if (!conditions || typeof requested !== 'string' || wordKey(requested) === EVERY_CONDITION) return undefined
  if (nameCondition(conditions, requested) !== undefined) return undefined
  const names = [...conditions.list.map(({ condition }) => condition), EVERY_CONDITION]
  return ApiError.invalid('condition', `must be one of ${names.join(', ')}`, names)
}

/** What the landscape raster has at a place: the code of a pixel, several codes, or nothing. */
type LandscapeAt = number | 'several' | undefined

/**
 * The condition that answers: the requested one, that of the place, or the default. A place of several conditions has
 * the mixture, or the default of a release that was loaded before releases had mixtures.
 *
 * @param readLandscape reads a band of the release
 * @throws {ApiError} INVALID_PARAMETERS for a condition that the release does not have
 */
export function chooseCondition(
  release: ConditionedRelease & { conditions: Conditions },
  requested: string | undefined,
  readLandscape: (band: number) => LandscapeAt,
): Choice {
  const error = conditionError(release, requested)
  if (error) throw error
  const { conditions } = release
  const asksAll = requested !== undefined && wordKey(requested) === EVERY_CONDITION
  const named = asksAll || requested === undefined ? undefined : nameCondition(conditions, requested)
  if (named !== undefined) return { condition: named, source: 'request', hasAlternatives: false }
  const landscape = findBand(release, 'landscape')
  const here = landscape === undefined ? undefined : readLandscape(landscape)
  const isOfSeveral = here === 'several'
  if (isOfSeveral && findBand(release, 'share') !== undefined) {
    return { condition: null, source: 'landscape layer', hasAlternatives: true }
  }
  const own = here === undefined || isOfSeveral ? undefined : conditions.codes?.[here]
  if (own !== undefined) return { condition: own, source: 'landscape layer', hasAlternatives: asksAll }
  // The first of a release that was loaded before releases named one.
  const condition = conditions.default ?? conditions.list[0]?.condition ?? null
  return { condition, source: 'default', hasAlternatives: true, isOfSeveral }
}

type Layered = Pick<ConditionedRelease, 'layers'>

/** By the layers of a release, which never change: the bands of each condition. */
const picked = new WeakMap<readonly LayerLabel[], Map<string | null, ReadonlySet<number>>>()

/** The layers that answer for a condition, or for a mixture: one of each input and scenario at most. */
function pickBands({ layers }: Layered, condition: string | null): ReadonlySet<number> {
  const known = picked.get(layers) ?? new Map<string | null, ReadonlySet<number>>()
  picked.set(layers, known)
  const stored = known.get(condition)
  if (stored) return stored
  const found = listPairs(layers).flatMap(({ bands }) => {
    const find = (named: string | null) => bands.find((band) => layers[band]?.condition === named)
    if (bands.length === 1 && find(null) !== undefined) return bands
    return find(condition) ?? []
  })
  const bands = new Set(found)
  known.set(condition, bands)
  return bands
}

/** The numbers of the layers that a choice leaves, by their bands: the others are `none`. */
export function narrow<Of>(release: Layered, { condition }: Choice, bands: readonly Of[], none: Of): Of[] {
  const answering = pickBands(release, condition)
  return bands.map((found, band) => (band < release.layers.length && !answering.has(band) ? none : found))
}

/** The members of an answer about the condition: where it is from, and the question where it is a guess. */
export function describeChoice(
  { conditions }: Pick<ConditionedRelease, 'conditions'>,
  { source }: Choice,
): { condition_source?: ConditionSource; question?: string } {
  if (!conditions || source === 'request') return {}
  return { condition_source: source, ...(source === 'default' && { question: conditions.question }) }
}

const SHARE_DECIMALS = 2

/** Undefined without a landscape raster. A mixture alone reads its bands. */
function readShare(release: ConditionedRelease, named: string, chosen: Chosen): number | undefined {
  if (findBand(release, 'landscape') === undefined) return undefined
  if (chosen.condition !== null && !chosen.isOfSeveral) return chosen.condition === named ? 1 : 0
  const share = findBand(release, 'share', ({ condition }) => condition === named)
  const part = share === undefined ? Number.NaN : chosen.read(share)
  return Number.isNaN(part) ? undefined : part
}

/**
 * What the answer would be under each condition, in the order of the release: the part of the place that has it, where
 * the landscape raster knows, and the layers that have a value then.
 */
export function describeAlternatives(release: ConditionedRelease, chosen: Chosen) {
  return (release.conditions?.list ?? []).map(({ condition, title }) => {
    const share = readShare(release, condition, chosen)
    return {
      condition,
      title,
      ...(share !== undefined && { share_percent: round(100 * share, SHARE_DECIMALS) }),
      bands: [...pickBands(release, condition)].filter((band) => !Number.isNaN(chosen.read(band))),
    }
  })
}
