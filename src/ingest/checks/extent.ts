import { percentText } from '#src/lib/round.ts'
import type { Extent } from '#src/raster/grid.ts'
import { isEmpty } from './empty.ts'
import {
  type Check,
  type CoverageFacts,
  type LayerFacts,
  labelsOf,
  type MeasuredLayer,
  type ReleaseFacts,
} from './facts.ts'

/** A grid over less of its country is most likely one of another place. */
const SMALLEST_PART = 0.1

/** Grids that do not lie in the country of the release, or cover little of it. */
export const extent: Check<ReleaseFacts> = ({ coverages }, { country }) => {
  const { extent: ofCountry } = country
  if (ofCountry === null) return []
  return coverages.flatMap((coverage) => {
    const part = partCovered(ofCountry, coverage.extent)
    if (part >= SMALLEST_PART) return []
    const which = `The grid of ${originsIn(coverage)} (${text(coverage.extent)})`
    const where = `${country.name} (${text(ofCountry)})`
    const meets = part === 0 ? 'does not meet' : `covers ${percentText(part)} of the extent of`
    const swapped = partCovered(ofCountry, swap(coverage.extent)) >= SMALLEST_PART
    return {
      check: 'extent',
      level: 'error',
      sentence: `${which} ${meets} ${where}${part === 0 ? '' : ', less than a tenth'}${swapped ? '; with its axes the other way round it would: are they swapped?' : '.'}`,
      ...(coverage.layers.length === 1 && { layer: labelsOf(coverage.layers[0] as LayerFacts) }),
      figures: { ...coverage.extent, covered: part },
    }
  })
}

/** Values that lie outside of the country of the release, in little of it, or nobody knows where, though the grid lies there. */
export const spread: Check<ReleaseFacts<MeasuredLayer>> = ({ coverages }, { country }) =>
  coverages.flatMap((coverage) => {
    const { spread: part, layers, pixels } = coverage
    if (part !== null && part >= SMALLEST_PART) return []
    // The other checks say so.
    if (country.extent === null || partCovered(country.extent, coverage.extent) < SMALLEST_PART) return []
    if (layers.every((layer) => isEmpty(layer, pixels))) return []
    const layer = layers.length === 1 && { layer: labelsOf(layers[0] as LayerFacts) }
    if (part === null) {
      return {
        check: 'extent',
        level: 'note',
        sentence: `Where values of ${originsIn(coverage)} are is not known: it has no summaries, which \`agro migrate\` makes, or none of the places that are looked at is in ${country.name}.`,
        ...layer,
      }
    }
    const where = part === 0 ? 'no values in' : `values in ${percentText(part)} of`
    return {
      check: 'extent',
      level: 'error',
      sentence: `${originsIn(coverage)} has ${where} ${country.name}${part === 0 ? ', in whose extent its grid lies' : ', less than a tenth'}.`,
      ...layer,
      figures: { covered: part },
    }
  })

/** How much of one rectangle lies in another, from 0 to 1. */
function partCovered(whole: Extent, by: Extent): number {
  const width = Math.min(whole.east, by.east) - Math.max(whole.west, by.west)
  const height = Math.min(whole.north, by.north) - Math.max(whole.south, by.south)
  const area = (whole.east - whole.west) * (whole.north - whole.south)
  return (Math.max(width, 0) * Math.max(height, 0)) / area
}

function swap({ west, south, east, north }: Extent): Extent {
  return { west: south, south: west, east: north, north: east }
}

function originsIn({ layers: [first, ...others] }: CoverageFacts<LayerFacts>): string {
  return `${first?.origin}${others.length > 0 ? ` and ${others.length} more` : ''}`
}

function text({ west, south, east, north }: Extent): string {
  return [west, south, east, north].map((degrees) => Number(degrees.toFixed(2))).join(', ')
}
