import { percentText, shortNumber } from '#src/lib/round.ts'
import { PIXEL_TYPES, type PixelType } from '#src/raster/pixels.ts'
import type { Extreme, Tally } from '../tally.ts'
import { type Check, labelsOf, layersOf, type ReadFacts, type ReadLayer } from './facts.ts'

/** What means none is seldom rare. */
const SMALLEST_PART = 0.01

/**
 * How far from the others a value lies that stands at the edges of the grid, or is the last that its type can hold:
 * in parts of the range of the others.
 */
const SMALLEST_GAP = 0.25

/** In parts of the largest value: what lies nearer is the same value, rounded in another way. */
const SMALLEST_DIFFERENCE = 0.001

/** How much of the edges of the grid the value takes where it stands at them. */
const SMALLEST_PART_OF_FRAME = 0.5
const CORNERS = 4

/** A value that many pixels have and that lies apart from all others: -9999 would be answered as a rate. */
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

/** @param end the value that is judged, and the one at the other end */
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

/** Farther from the others than they are from each other, and than the largest of them is from 0. */
function isFarther(gap: number, range: number, others: number[]): boolean {
  return gap > Math.max(range, ...others.map(Math.abs))
}

/** No amount is below 0 where all others are not. */
function hasOwnSign(value: number, others: number[]): boolean {
  return value < 0 && others.every((other) => other >= 0)
}

/** Of one or two values nobody can tell how far from each other others may be. */
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

/** The last values that an integer type can hold are often taken for nodata; 0 is a value of its own. */
function isEndOfType(value: number, type: PixelType): boolean {
  const { BYTES_PER_ELEMENT: bytes } = PIXEL_TYPES[type].PixelArray
  if (type.endsWith('F') || value === 0) return false
  const span = 2 ** (8 * bytes)
  return type.endsWith('SI') ? value === -span / 2 || value === span / 2 - 1 : value === span - 1
}
