import { percentText } from '#src/lib/round.ts'
import type { Extent } from '#src/raster/grid.ts'
import { type Check, type CoverageFacts, type LayerFacts, labelsOf, type ReleaseFacts } from './facts.ts'

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
