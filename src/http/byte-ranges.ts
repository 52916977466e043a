/** Bytes of an answer, with the last. */
export interface ByteRange {
  first: number
  last: number
}

const RANGE = /^bytes\s*=\s*(\d{0,15})\s*-\s*(\d{0,15})$/i

/**
 * The one range that a Range header asks for (RFC 9110, 14.2).
 *
 * @param size of the whole, which is not empty
 * @returns null where the whole is the answer: nothing is asked for, several ranges are, or what is asked for is no range
 * of bytes; `unsatisfiable` where nothing lies there
 */
export function byteRangeOf(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = RANGE.exec(header?.trim() ?? '') ?? []
  if (first === '' && last === '') return null
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { first: size - length, last: size - 1 }
  }
  if (last !== '' && Number(last) < Number(first)) return null
  if (Number(first) >= size) return 'unsatisfiable'
  return { first: Number(first), last: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}

/**
 * Whether a range may be answered with: not where an If-Range header names something else than what there is. A date
 * never does: answers with ranges have none.
 */
export function isRangeOf(ifRange: string | undefined, tag: string): boolean {
  return ifRange === undefined || ifRange.trim() === tag
}
