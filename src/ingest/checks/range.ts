import { shortNumber } from '#src/lib/round.ts'
import { type Check, labelsOf, layersOf, type MeasuredLayer, type ReleaseFacts } from './facts.ts'

/** Values that no field has: of another unit, without their scale, or a nodata value that counts as one. */
export const range: Check<ReleaseFacts<MeasuredLayer>> = (release, { plausible }) =>
  layersOf(release).flatMap((layer) => {
    const { minimum, maximum } = layer.statistics
    if (minimum === null || maximum === null) return []
    if (minimum >= plausible.minimum && maximum <= plausible.maximum) return []
    const { product, cropCode } = release.series
    const found = `${shortNumber(minimum)} to ${shortNumber(maximum)} ${layer.unit}`
    const expected = `${shortNumber(plausible.minimum)} to ${shortNumber(plausible.maximum)}`
    return {
      check: 'range',
      level: 'error',
      sentence: `${layer.origin} has values of ${found}, but ${[product, cropCode].filter(Boolean).join(' of ')} is plausible from ${expected}: is its nodata value missing, or its scale or unit wrong?`,
      layer: labelsOf(layer),
      figures: {
        minimum,
        maximum,
        plausibleMinimum: plausible.minimum,
        plausibleMaximum: plausible.maximum,
      },
    }
  })
