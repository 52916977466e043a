import { ApiError } from '#src/errors.ts'

/** Digits are bounded: matching could otherwise take time that grows with the square of the text. */
const NUMBER = String.raw`[+-]?(?:\d{1,25}(?:\.\d{0,25})?|\.\d{1,25})(?:[eE][+-]?\d{1,4})?`
/** A position, with a height or not; the height is left out. */
const POSITION = new RegExp(String.raw`(${NUMBER})\s+(${NUMBER})(?:\s+${NUMBER})?`, 'g')
const GEOMETRY = /^\s*(POINT|MULTIPOINT|POLYGON|MULTIPOLYGON)\s*(?:Z\s*)?(\([-+\d\s.,eE()]*\))\s*$/i

const TYPES = {
  POINT: 'Point',
  MULTIPOINT: 'MultiPoint',
  POLYGON: 'Polygon',
  MULTIPOLYGON: 'MultiPolygon',
} as const

/**
 * Reads well-known text, with the coordinates of GeoJSON. Polygons are not checked.
 *
 * @param names of the allowed geometries
 * @throws {ApiError} INVALID_PARAMETERS for other text
 */
export function readWkt(
  field: string,
  text: string | undefined,
  names: readonly (keyof typeof TYPES)[],
): { type: (typeof TYPES)[keyof typeof TYPES]; coordinates: unknown } {
  const example = names[0] === 'POINT' ? 'POINT(38.5 9.5)' : 'POLYGON((38 9,39 9,39 10,38 9))'
  const refusal = ApiError.invalid(field, `must be well-known text, such as ${example}`)
  const [, keyword = '', body = ''] = GEOMETRY.exec(text ?? '') ?? []
  const name = names.find((one) => one === keyword.toUpperCase())
  const coordinates = readCoordinates(body)
  if (!name || coordinates === undefined) throw refusal
  if (name === 'MULTIPOINT') {
    const positions = coordinates.map(unwrapPosition)
    if (positions.length === 0 || !positions.every(isPosition)) throw refusal
    return { type: 'MultiPoint', coordinates: positions }
  }
  if (name !== 'POINT') return { type: TYPES[name], coordinates }
  const [position, ...more] = coordinates
  if (!isPosition(position) || more.length > 0) throw refusal
  return { type: 'Point', coordinates: position }
}

/** A point of several: with parentheses of its own, or without. */
function unwrapPosition(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value
}

function isPosition(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((item) => typeof item === 'number')
}

/** Lists of lists of positions, nested as the parentheses; undefined for unmatched ones and for broken numbers. */
function readCoordinates(body: string): unknown[] | undefined {
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
