import { ApiError } from '#src/api-error.ts'
import { areSwapped } from '#src/lib/names.ts'
import { roundDegrees } from '#src/lib/round.ts'

/** A position as somebody wrote it, in decimal degrees. */
export interface WrittenPosition {
  lat: number
  lng: number
}

/** Characters that phones and documents write for those of the spellings. */
const VARIANTS: readonly [RegExp, string][] = [
  [/^\s*[([]|[)\]]\s*$/g, ''],
  [/[−–]/g, '-'],
  [/[′’‘ʼ´`]/g, "'"],
  [/''|[″”“]/g, '"'],
  [/[º˚]/g, '°'],
  [/\u00a0/g, ' '],
]

/** RFC 5870: latitude, longitude, maybe a height and parameters. */
const GEO_URI = /^geo:([^,;]+),([^,;]+)(?:,[^,;]+)?(?:;.*)?$/i

const POINTS = /^([+-]?\d+(?:\.\d+)?)°?(?:\s*[,;]\s*|\s+)([+-]?\d+(?:\.\d+)?)°?$/
const COMMAS = /^([+-]?\d+(?:,\d+)?)°?(?:\s*;\s*|,?\s+)([+-]?\d+(?:,\d+)?)°?$/

const LETTER_FIRST = /^([NSEW])([^NSEW]+)([NSEW])([^NSEW]+)$/
const LETTER_LAST = /^([^NSEW]+)([NSEW])([^NSEW]+)([NSEW])$/

/** Degrees, minutes and seconds, the last of them with decimals. */
const ANGLE =
  /^(\d{1,3}(?:[.,]\d+)?)(?:°\s*|\s+|$)(?:(\d{1,2}(?:[.,]\d+)?)(?:'\s*|\s+|$)(?:(\d{1,2}(?:[.,]\d+)?)"?)?)?$/

const toNumber = (text: string) => Number(text.replace(',', '.'))

/**
 * Reads coordinates in usual spellings: "9.5 38.5", "9,5 38,5", "9.5N 38.5E", "38°30'15"E 9°30'N", "geo:9.5,38.5".
 *
 * @returns undefined for a text that is none
 * @throws {ApiError} INVALID_PARAMETERS for coordinates beyond the earth
 */
export function readCoordinates(text: string, field: string): WrittenPosition | undefined {
  const plain = VARIANTS.reduce((so, [variant, usual]) => so.replace(variant, usual), text).trim()
  const [, lat, lng] = GEO_URI.exec(plain) ?? []
  const written = lat === undefined ? plain : `${lat.trim()} ${lng?.trim()}`
  const signed = POINTS.exec(written) ?? COMMAS.exec(written)
  if (signed) {
    const position = { lat: toNumber(signed[1] as string), lng: toNumber(signed[2] as string) }
    return checkRange(position, field, areSwapped(position) ? ' (did you mean lng, lat?)' : '')
  }
  const lettered = readLettered(written.toUpperCase())
  return lettered && checkRange(lettered, field)
}

/** Reads two angles with the letters of their directions, in either order. */
function readLettered(text: string): WrittenPosition | undefined {
  const first = LETTER_FIRST.exec(text)
  const last = first ? null : LETTER_LAST.exec(text)
  const [one, other] = first
    ? [readAngle(first[1], first[2]), readAngle(first[3], first[4])]
    : [readAngle(last?.[2], last?.[1]), readAngle(last?.[4], last?.[3])]
  if (!one || !other || one.isLatitude === other.isLatitude) return undefined
  const [lat, lng] = one.isLatitude ? [one, other] : [other, one]
  return { lat: roundDegrees(lat.degrees), lng: roundDegrees(lng.degrees) }
}

function readAngle(letter = '', text = ''): { degrees: number; isLatitude: boolean } | undefined {
  const parts = ANGLE.exec(text.replace(/^[\s,;]+|[\s,;]+$/g, ''))?.slice(1)
  const given = parts?.filter((part) => part !== undefined) ?? []
  // Decimals of degrees leave no room for minutes.
  if (given.length === 0 || given.slice(0, -1).some((part) => /[.,]/.test(part))) return undefined
  const [degrees = 0, minutes = 0, seconds = 0] = given.map(toNumber)
  if (minutes >= 60 || seconds >= 60) return undefined
  const size = degrees + minutes / 60 + seconds / 3600
  return { degrees: 'SW'.includes(letter) && size > 0 ? -size : size, isLatitude: 'NS'.includes(letter) }
}

function checkRange(position: WrittenPosition, field: string, hint = ''): WrittenPosition {
  const { lat, lng } = position
  if (Math.abs(lat) <= 90 && Math.abs(lng) <= 180) return position
  const rule = 'must have a latitude from -90 to 90, then a longitude from -180 to 180'
  throw ApiError.invalid(field, `${rule}${hint}`)
}

const DIGITS = '23456789CFGHJMPQRVWX'
const GRID_CODE = new RegExp(`^[2-9C][2-9CFGHJMPQRV][${DIGITS}]{6}(?:\\+|\\+?[${DIGITS}]{2,3})?$`)

/** Digits in pairs, and the digit behind them, which divides a cell in rows and columns. */
const PAIRS = 5
const ROWS = 5
const COLUMNS = 4

/**
 * Reads an Open Location Code of 8, 10 or 11 digits, with or without its plus, as the centre of its cell. Undefined for
 * any other text.
 *
 * Each pair of digits divides a cell in 20 by 20, from 20 degrees on; an eleventh digit in 5 rows and 4 columns.
 * Source: Open Location Code specification, github.com/google/open-location-code/blob/main/Documentation/Specification.
 */
export function readGridCode(text: string): WrittenPosition | undefined {
  const written = text.trim().toUpperCase()
  if (!GRID_CODE.test(written)) return undefined
  const digits = [...written.replace('+', '')].map((digit) => DIGITS.indexOf(digit))
  let [south, west, height, width] = [-90, -180, 20 * DIGITS.length, 20 * DIGITS.length]
  for (let pair = 0; pair < PAIRS && 2 * pair < digits.length; pair++) {
    height /= DIGITS.length
    width /= DIGITS.length
    south += (digits[2 * pair] as number) * height
    west += (digits[2 * pair + 1] as number) * width
  }
  const last = digits[2 * PAIRS]
  if (last !== undefined) {
    height /= ROWS
    width /= COLUMNS
    south += Math.floor(last / COLUMNS) * height
    west += (last % COLUMNS) * width
  }
  return { lat: roundDegrees(south + height / 2), lng: roundDegrees(west + width / 2) }
}
