import type { LayerSummary } from '#src/catalog/release-queries.ts'
import type { Surroundings } from '#src/ingest/checks/rules.ts'
import type { Band, Measured } from './bands.ts'
import type { Guess } from './labels.ts'
import type { Answers, Question } from './questions.ts'
import type { DraftLayer } from './releases.ts'

/** A layer with what its pixels say. */
export interface CheckedLayer extends DraftLayer {
  scale: Guess | undefined
  nodata: Guess | undefined
  /** For a person, where no question is. */
  note?: string
}

/** What is published of the same product, country and crop. */
export interface Published {
  code: string
  layers: readonly LayerSummary[]
}

export interface Around {
  surroundings: Surroundings | undefined
  published: Published | undefined
  answers: Answers
  /** Files for one layer that lie side by side, by the ids of their questions. */
  adjacent: ReadonlySet<string>
  /** Layers of the likeliest season that are none of the seasons, with the share of values that are one's. */
  unlike: ReadonlyMap<DraftLayer, number>
}

export const keyOf = ({ members: { input, scenario, condition, role } }: DraftLayer) =>
  JSON.stringify([input?.value, scenario?.value, condition?.value, role?.value])

/** Layers that differ by their scenario alone. */
export const sisterKey = ({ members: { input, condition, role } }: DraftLayer) =>
  JSON.stringify([input?.value, condition?.value, role?.value])

export type Ask = (question: Question) => void

export const measuredOf = (layer: CheckedLayer) => layer.band.measured as Measured

export function isMeasured({ band, members }: CheckedLayer): boolean {
  return band.measured !== undefined && members.role?.value !== 'probability'
}

/** Of two the lower one: a fill makes shares larger. */
export function median(numbers: readonly number[]): number | undefined {
  return numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) / 2)]
}

export function alsoText({ length }: readonly Band[]): string {
  return length > 1 ? ` The same holds for ${length - 1} more.` : ''
}
