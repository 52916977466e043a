import { ApiError } from '#src/errors.ts'

/** Digits are bounded: matching could otherwise take time that grows with the square of the text. */
const NUMBER = String.raw`[+-]?(?:\d{1,25}(?:\.\d{0,25})?|\.\d{1,25})(?:[eE][+-]?\d{1,4})?`
/** A position, with a height or not; the height is left out. */
const POSITION = new RegExp(String.raw`(${NUMBER})\s+(${NUMBER})(?:\s+${NUMBER})?`, 'g')
const LONG_DIGITS = /\d{26}/
const GEOMETRY = /^\s*(MULTI)?(POINT|POLYGON)\s*(?:Z\s*)?(\([-+\d\s.,eE()]*\))\s*$/i

/**
 * Reads one or several points or polygons as well-known text: positions, or rings, which are not checked.
 *
 * @throws {ApiError} INVALID_PARAMETERS for other text
 */
export function readWkt(field: string, text: string | undefined, kind: 'POINT' | 'POLYGON'): unknown[] {
  const [, many, keyword = '', body = ''] = GEOMETRY.exec(text ?? '') ?? []
  const coordinates = (keyword.toUpperCase() === kind && readCoordinates(body)) || []
  if (kind === 'POLYGON' && coordinates.length > 0) return many ? coordinates : [coordinates]
  // A point of several has parentheses of its own, or none.
  const positions = many
    ? coordinates.map((one: unknown) => (Array.isArray(one) && one.length === 1 ? one[0] : one))
    : coordinates
  const isCounted = many ? positions.length > 0 : positions.length === 1
  if (kind === 'POINT' && isCounted && positions.every(isPosition)) return positions
  const example = kind === 'POINT' ? 'POINT(38.5 9.5)' : 'POLYGON((38 9,39 9,39 10,38 9))'
  throw ApiError.invalid(field, `must be well-known text, such as ${example}`)
}

/** The longest GeoJSON that a sentence shows. */
const LONGEST_SHOWN = 200

/** A geometry in WKT as GeoJSON, or what to send for a longer one; undefined for other text. */
export function wktGeometry(text: string): string | undefined {
  const [, many = '', keyword = '', body = ''] = GEOMETRY.exec(text) ?? []
  if (keyword === '') return undefined
  const [first = '', ...others] = keyword.toLowerCase()
  const type = `${many && 'Multi'}${first.toUpperCase()}${others.join('')}`
  if (body.length > LONGEST_SHOWN) return `{"type":"${type}","coordinates":...}`
  const coordinates = readCoordinates(body)
  return coordinates && JSON.stringify({ type, coordinates: type === 'Point' ? coordinates[0] : coordinates })
}

function isPosition(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((item) => typeof item === 'number')
}

/** Lists of lists of positions, nested as the parentheses; undefined for unmatched ones and for broken numbers. */
function readCoordinates(body: string): unknown[] | undefined {
  if (LONG_DIGITS.test(body)) return undefined
  const json = body
    .replace(POSITION, (_, x: string, y: string) => `[${Number(x)},${Number(y)}]`)
    .replaceAll('(', '[')
    .replaceAll(')', ']')
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
