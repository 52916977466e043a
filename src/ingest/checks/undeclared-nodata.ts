import { percentText, shortNumber } from '#src/lib/round.ts'
import { PIXEL_TYPES, type PixelType } from '#src/raster/pixels.ts'
import type { Extreme, Tally } from '../tally.ts'
import { type Check, labelsOf, layersOf, type ReadFacts, type ReadLayer } from './facts.ts'

/** A nodata value is seldom rare. */
const SMALLEST_PART = 0.01

/** Least distance, relative to the range of the others, of a value at the grid's edges or at the end of its type. */
const SMALLEST_GAP = 0.25

/** Relative to the largest value: nearer values differ by rounding. */
const SMALLEST_DIFFERENCE = 0.001

/** Share of the grid's edges. */
const SMALLEST_PART_OF_FRAME = 0.5
const CORNERS = 4

/** A frequent value apart from all others: -9999 would be answered as a rate. */
export const undeclaredNodata: Check<ReadFacts> = (release) =>
  layersOf(release).flatMap((layer) => {
    const { low, high } = layer.values
    if (low === null || high === null) return []
    const evidence = looksLikeNodata(layer, low, high) ?? looksLikeNodata(layer, high, low)
    if (evidence === undefined) return []
    const { value, part, others, atEdges } = evidence
    const range = [...new Set(others.map(shortNumber))].join(' to ')
    return {
      check: 'undeclared-nodata',
      level: 'error',
      sentence: `${layer.origin} has the pixel value ${shortNumber(value)} in ${percentText(part)} of its values, apart from all others (${range})${atEdges ? ', at the corners and edges of the grid' : ''}: does it mean none? The layer's nodata says so.`,
      layer: labelsOf(layer),
      figures: { value, part, othersFrom: others[0], othersTo: others[1] },
    }
  })

interface Evidence {
  value: number
  part: number
  others: [from: number, to: number]
  atEdges: boolean
}

function looksLikeNodata(
  { values, frame, pixelType }: ReadLayer,
  end: Extreme,
  otherEnd: Extreme,
): Evidence | undefined {
  const part = end.count / values.count
  if (part <= SMALLEST_PART || end.next === null) return undefined
  const others: [number, number] = [Math.min(end.next, otherEnd.value), Math.max(end.next, otherEnd.value)]
  const gap = Math.abs(end.next - end.value)
  const range = others[1] - others[0]
  if (gap < SMALLEST_DIFFERENCE * Math.max(Math.abs(end.value), ...others.map(Math.abs))) return undefined
  const atEdges = standsAtEdges(end.value, frame.corners, frame.values)
  const isEvident =
    hasOwnSign(end.value, others) ||
    (isFarther(gap, range, others) && hasThreeValues(end.next, otherEnd)) ||
    (gap > range * SMALLEST_GAP && (atEdges || isEndOfType(end.value, pixelType)))
  return isEvident ? { value: end.value, part, others, atEdges } : undefined
}

function isFarther(gap: number, range: number, others: number[]): boolean {
  return gap > Math.max(range, ...others.map(Math.abs))
}

/** Amounts are not negative. */
function hasOwnSign(value: number, others: number[]): boolean {
  return value < 0 && others.every((other) => other >= 0)
}

/** Two values show no range. */
function hasThreeValues(next: number, otherEnd: Extreme): boolean {
  return otherEnd.next !== null && next !== otherEnd.value && next !== otherEnd.next
}

function standsAtEdges(value: number, corners: number[], edges: Tally): boolean {
  const end = [edges.low, edges.high].find((extreme) => extreme?.value === value)
  return (
    corners.length === CORNERS &&
    corners.every((corner) => corner === value) &&
    (end?.count ?? 0) > edges.count * SMALLEST_PART_OF_FRAME
  )
}

/** Integer types often use their end for nodata; 0 is a real value. */
function isEndOfType(value: number, type: PixelType): boolean {
  const { BYTES_PER_ELEMENT: bytes } = PIXEL_TYPES[type].PixelArray
  if (type.endsWith('F') || value === 0) return false
  const span = 2 ** (8 * bytes)
  return type.endsWith('SI') ? value === -span / 2 || value === span / 2 - 1 : value === span - 1
}
