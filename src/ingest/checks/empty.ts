import { percentText } from '#src/lib/round.ts'
import { type Check, labelsOf, type MeasuredLayer, type ReleaseFacts } from './facts.ts'

/** Layers with values in a smaller part of their pixels hold hardly any advice. */
const SMALLEST_PART = 0.001

/** Whether a layer has no values, or hardly any. */
export function isEmpty({ statistics }: MeasuredLayer, pixels: number): boolean {
  return statistics.validCount < pixels * SMALLEST_PART
}

/** Layers with no values, or hardly any: where they are published, everybody gets 404. */
export const empty: Check<ReleaseFacts<MeasuredLayer>> = ({ coverages }) =>
  coverages.flatMap(({ pixels, layers }) =>
    layers
      .filter((layer) => isEmpty(layer, pixels))
      .map((layer) => {
        const { validCount } = layer.statistics
        const sentence =
          validCount === 0
            ? `${layer.origin} has no value at all.`
            : `${layer.origin} has a value in ${validCount} of ${pixels} pixels (${percentText(validCount / pixels)}), which is hardly any (at least ${percentText(SMALLEST_PART)}).`
        return {
          check: 'empty',
          level: 'error',
          sentence,
          layer: labelsOf(layer),
          figures: { valid: validCount, pixels },
        }
      }),
  )
