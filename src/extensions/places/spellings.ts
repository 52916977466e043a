import { ApiError } from '#src/errors.ts'
import { areSwapped } from '#src/lib/names.ts'
import { roundDegrees } from '#src/lib/round.ts'

/** A position as somebody wrote it, in decimal degrees. */
export interface WrittenPosition {
  lat: number
  lng: number
}

/** RFC 5870: latitude, longitude, maybe a height and parameters; Android adds a query. */
const GEO_URI = /^geo:([^,;?]+,[^,;?]+)(?:,[^,;?]+)?((?:;[^?]*)?)(?:\?(.*))?$/is

/** The address of a place on a map. */
const LINK =
  /^(?:(?:https?|comgooglemaps|maps|waze|om|osmand\.api|google\.navigation|intent):|geo:|(?:www\.)?(?:maps|google|openstreetmap|osm|waze)\.[\w.]+\/)/i

/** Services whose links have the latitude first. */
const HOSTS =
  /^(?:[\w-]+\.)*(?:google\.[a-z.]+|goo\.gl|openstreetmap\.org|osm\.org|apple\.com|waze\.com|bing\.com|here\.com|osmand\.net|organicmaps\.app|whatsapp\.com)$/i

const NUMBER = String.raw`[+-]?\d+(?:\.\d+)?`

const PAIR = new RegExp(`^(?:loc:)?\\s*(${NUMBER})\\s*[,~]\\s*(${NUMBER})`, 'i')

/** Parameters that have both coordinates, those of a pin before those of a view. */
const PAIR_PARAMETERS = 'q query coordinate pin destination daddr ll sll cp center map'.split(' ')

/** Where paths and fragments have both coordinates, those of a pin before those of a view. */
const PLACES: readonly RegExp[] = [
  new RegExp(`!3d(${NUMBER})!4d(${NUMBER})`),
  new RegExp(`/(?:search|place|dir|l)/+(${NUMBER})\\s*,\\s*(${NUMBER})`),
  new RegExp(`/@(${NUMBER}),(${NUMBER})`),
  new RegExp(`#(?:map=)?${NUMBER}/(${NUMBER})/(${NUMBER})`),
]

/** Degrees, minutes and seconds in the path of Google's pins. */
const PATH_OF_PIN = /\/(?:search|place)\/([^/@?#]*°[^/@?#]*)/

/** The coordinates in a link to a map, the latitude first; undefined where it has none, or their order is not certain. */
function coordinatesInLink(link: string): string | undefined {
  const [, base, options = '', query] = GEO_URI.exec(link) ?? []
  if (base !== undefined) {
    if (/;crs=(?!wgs84)/i.test(options)) return undefined
    const [, lat, lng] = PAIR.exec(new URLSearchParams(query).get('q') ?? '') ?? []
    // "geo:0,0?q=" searches: the query has the place.
    return /^\s*0(?:\.0+)?\s*,\s*0(?:\.0+)?\s*$/.test(base) && query
      ? lat && `${lat} ${lng}`
      : base.replace(',', ' ')
  }
  const address = /^[a-z.]+:/i.test(link) ? link : `https://${link}`
  if (!URL.canParse(address)) return undefined
  const url = new URL(address)
  if (/^https?:$/.test(url.protocol) && !HOSTS.test(url.hostname)) return undefined
  return coordinatesInParameters(url.searchParams) ?? coordinatesInPath(link)
}

function coordinatesInParameters(parameters: URLSearchParams): string | undefined {
  const first = (...names: string[]) => names.map((name) => parameters.get(name)).find(Boolean)
  const [lat, lng] = [first('mlat', 'lat'), first('mlon', 'lon', 'lng')]
  if (lat && lng) return `${lat} ${lng}`
  for (const name of PAIR_PARAMETERS) {
    const [, lat, lng] = PAIR.exec(parameters.get(name) ?? '') ?? []
    if (lat) return `${lat} ${lng}`
  }
  return undefined
}

function coordinatesInPath(link: string): string | undefined {
  // A % without two digits behind it is no reason for an error.
  const path = link.replace(/%[\da-f]{2}/gi, (code) => (code < '%80' ? decodeURIComponent(code) : code))
  const plain = path.replaceAll('%C2%B0', '°').replaceAll('+', ' ')
  for (const place of PLACES) {
    const [, lat, lng] = place.exec(plain) ?? []
    if (lat) return `${lat} ${lng}`
  }
  return PATH_OF_PIN.exec(plain)?.[1]
}

/** Characters and words that phones, forms and documents write for those of the spellings. */
const VARIANTS: readonly [RegExp, string][] = [
  [/[\u00a0\u2000-\u200f\u202f\ufeff]/g, ' '],
  [/[−–]/g, '-'],
  [/[′’‘ʼ´`]/g, "'"],
  [/''|[″”“]/g, '"'],
  [/[º˚]|\s*\bdeg(?:rees?)?\b/gi, '°'],
  [/\s*\bmin(?:utes?)?\b/gi, "'"],
  [/\s*\bsec(?:onds?)?\b/gi, '"'],
  [/\bnor(?:th|d|te)\b/gi, 'N'],
  [/\b(?:south|sud|sul|sur)\b/gi, 'S'],
  [/\b(?:east|est|este|leste)\b/gi, 'E'],
  [/\b(?:west|ouest|oeste)\b/gi, 'W'],
  // Heights behind them.
  [/[\s,;]+(?:alt\w*\.?\s*[:=]?\s*-?\d+(?:\.\d+)?(?:\s*m)?|-?\d+(?:\.\d+)?\s*m(?:asl)?\.?)\s*$/i, ''],
]

const inUsualSigns = (text: string) =>
  VARIANTS.reduce((so, [variant, usual]) => so.replace(variant, usual), text).trim()

/** Words before both coordinates. */
const HEADING =
  /^(?:gps|coord(?:inate)?s?|coordonn[ée]es|position|location|point|wgs ?84|lat(?:itude)?\s*[,/&]?\s*lo?ng?(?:itude)?)\s*[:=]?\s*(?=[-+([NSEW\d])/i

const LATITUDE = /(?<!\p{L})(?:lat(?:itud[eo]?)?|breite(?:ngrad)?|ኬክሮስ|خط العرض|y)\.?(?!\p{L})\s*[:=]?\s*/iu
const LONGITUDE =
  /(?<!\p{L})(?:lo?ng?(?:itud[eo]?)?|länge(?:ngrad)?|ኬንትሮስ|خط الطول|x)\.?(?!\p{L})\s*[:=]?\s*/iu

/** Well-Known Text, maybe with the SRID of PostGIS: the longitude is first. */
const WKT =
  /^(?:SRID\s*=\s*4326\s*;\s*)?POINT\s*(?:Z|M|ZM)?\s*\(\s*([+-]?[\d.]+)[\s,]+([+-]?[\d.]+)(?:\s+[+-]?[\d.]+){0,2}\s*\)\s*;?$/i

/** A Point of GeoJSON: the longitude is first. */
const GEOJSON = /^\{.*"type"\s*:\s*"Point".*\}$/s
const GEOJSON_POSITION = /"coordinates"\s*:\s*\[\s*([+-]?[\d.]+)\s*,\s*([+-]?[\d.]+)\s*[,\]]/

/** Decimals by points, which ODK follows with height and accuracy; decimals by commas. */
const POINTS = /^([+-]?\d+(?:\.\d+)?)°?(?:\s*[,;]\s*|\s+)([+-]?\d+(?:\.\d+)?)°?$/
const POINTS_AND_HEIGHT =
  /^(?=\S*\.|\S+\s+\S*\.)([+-]?\d+(?:\.\d+)?)(?:\s*[,;]\s*|\s+)([+-]?\d+(?:\.\d+)?)(?:(?:\s*[,;]\s*|\s+)-?\d+(?:\.\d+)?){1,2}$/
const COMMAS =
  /^([+-]?\d+(?:,\d+)?)°?(?:\s*;\s*|,?\s+)([+-]?\d+(?:,\d+)?)°?(?:(?:\s*;\s*|,?\s+)-?\d+(?:,\d+)?){0,2}$/

const LETTER_FIRST = /^([NSEW])([^NSEW]+)([NSEW])([^NSEW]+)$/
const LETTER_LAST = /^([^NSEW]+)([NSEW])([^NSEW]+)([NSEW])$/

/** Two angles with signs: each has a sign of degrees, or colons. */
const DEGREES = /^([+-]?\d{1,3}(?:[.,]\d+)?°[^°]*?)[\s,;]*([+-]?\d{1,3}(?:[.,]\d+)?°[^°]*)$/
const COLONS = /^([+-]?\d{1,3}(?::\d+(?:\.\d+)?){1,2})[\s,;]+([+-]?\d{1,3}(?::\d+(?:\.\d+)?){1,2})$/

/** Degrees, minutes and seconds, the last of them with decimals. */
const ANGLE =
  /^([+-]?)(\d{1,3}(?:[.,]\d+)?)(?:[°:]\s*|\s+|$)(?:(\d{1,2}(?:[.,]\d+)?)(?:[':]\s*|\s+|$)(?:(\d{1,2}(?:[.,]\d+)?)"?)?)?$/

const toNumber = (text: string) => Number(text.replace(',', '.'))

/**
 * Reads coordinates in usual spellings: "9.5 38.5", "9,5 38,5", "9.5N 38.5E", "38°30'15"E 9°30'N", "Lat 9.5 Long 38.5",
 * "9.5 38.5 2200 4.9" of ODK, "geo:9.5,38.5", links to maps, and "POINT(38.5 9.5)".
 *
 * @returns undefined for a text that is none
 * @throws {ApiError} INVALID_PARAMETERS for coordinates beyond the earth
 */
export function readCoordinates(text: string, field: string): WrittenPosition | undefined {
  const sent = text.trim()
  const [, x, y] = WKT.exec(sent) ?? ((GEOJSON.test(sent) && GEOJSON_POSITION.exec(sent)) || [])
  if (x !== undefined) return checkRange({ lat: Number(y), lng: Number(x) }, field)
  const linked = LINK.test(sent) ? coordinatesInLink(sent) : sent
  return linked === undefined ? undefined : readPair(linked, field)
}

function readPair(text: string, field: string): WrittenPosition | undefined {
  const written = inUsualSigns(text)
    .replace(HEADING, '')
    .replace(/^[([]\s*|\s*[)\]]$/g, '')
  // Whole numbers may be degrees and minutes, or a position with its height.
  const signed = /^[+-]?\d+ +\d+ +\d+(?: +\d+)?$/.test(written)
    ? null
    : (POINTS.exec(written) ?? POINTS_AND_HEIGHT.exec(written) ?? COMMAS.exec(written))
  if (signed) {
    const position = { lat: toNumber(signed[1] as string), lng: toNumber(signed[2] as string) }
    return checkRange(position, field, areSwapped(position) ? ' (did you mean lng, lat?)' : '')
  }
  const found = readLabelled(written) ?? readLettered(written.toUpperCase()) ?? readSigned(written)
  return found && checkRange(found, field)
}

/** Reads two angles behind the words latitude and longitude, in either order. */
function readLabelled(text: string): WrittenPosition | undefined {
  const [first, other] = [LATITUDE.exec(text), LONGITUDE.exec(text)]
  if (!first || !other) return undefined
  const [start, end] = [first, other].sort((a, b) => a.index - b.index) as [RegExpExecArray, RegExpExecArray]
  if (start.index > 0) return undefined
  const angles = [text.slice(start[0].length, end.index), text.slice(end.index + end[0].length)]
  const [lat, lng] = (start === first ? angles : angles.reverse()).map((part) => {
    const [, letter, size, behind] =
      /^([NSEW])?([^NSEW]+)([NSEW])?$/.exec(part.toUpperCase().replace(EDGES, '')) ?? []
    return readAngle(letter ?? behind, size)
  })
  const isRight = lat && lng && lat.isLatitude !== false && lng.isLatitude !== true
  return isRight ? { lat: roundDegrees(lat.degrees), lng: roundDegrees(lng.degrees) } : undefined
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

/** Reads two angles with signs and degrees, the latitude first. */
function readSigned(text: string): WrittenPosition | undefined {
  const [, one, other] = DEGREES.exec(text) ?? COLONS.exec(text) ?? []
  const [lat, lng] = [readAngle(undefined, one), readAngle(undefined, other)]
  return lat && lng && { lat: roundDegrees(lat.degrees), lng: roundDegrees(lng.degrees) }
}

/** What surrounds an angle. */
const EDGES = /^[\s,;&]+|[\s,;&]+$/g

interface Angle {
  degrees: number
  /** Null without a letter. */
  isLatitude: boolean | null
}

function readAngle(letter: string | undefined, text = ''): Angle | undefined {
  const [sign, ...parts] = ANGLE.exec(text.replace(EDGES, ''))?.slice(1) ?? []
  const given = parts.filter((part) => part !== undefined)
  // Decimals of degrees leave no room for minutes, nor a letter for a sign.
  if (given.length === 0 || given.slice(0, -1).some((part) => /[.,]/.test(part))) return undefined
  const [degrees = 0, minutes = 0, seconds = 0] = given.map(toNumber)
  if (minutes >= 60 || seconds >= 60 || (sign && letter)) return undefined
  const size = degrees + minutes / 60 + seconds / 3600
  const isNegative = sign === '-' || letter === 'S' || letter === 'W'
  return {
    degrees: isNegative && size > 0 ? -size : size,
    isLatitude: letter === undefined ? null : 'NS'.includes(letter),
  }
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

/** What a text that is plainly a position has beside its numbers. */
const BESIDE_NUMBERS =
  /(?<!\p{L})(?:lat(?:itud[eo]?)?|lo?ng?(?:itud[eo]?)?|alt(?:itude)?|gps|utm|wgs|coord(?:inate)?s?|point[zm]*|srid|[nsewxyzdm])(?!\p{L})|[\s\d.,;:°'"()[\]{}=|&/+-]/giu

/** Grid codes: short ones of Google, and those of UTM and MGRS. */
const OTHER_GRIDS = [
  new RegExp(`^[${DIGITS}]{2,8}\\+[${DIGITS}]{2,3}(?![\\p{L}\\d])`, 'iu'),
  /^\d{1,2}\s?[C-X](?:\s?[A-Z]{2})?\s?\d{4,}(?:[\s,]*\d{4,})?$/i,
  /^\/{3}[\p{L}\p{M}]+\.[\p{L}\p{M}]+\.[\p{L}\p{M}]+$/u,
]

/** Whether a text that is not read is plainly a position, and no name. */
export function isLikePosition(text: string): boolean {
  const plain = inUsualSigns(text)
  if (LINK.test(plain) || OTHER_GRIDS.some((grid) => grid.test(plain))) return true
  const numbers = plain.match(/\d+(?:\.\d+)?/g) ?? []
  return numbers.length > 1 && plain.replace(BESIDE_NUMBERS, '') === ''
}

/** How positions are written, for errors. */
export const POSITION_RULE =
  "a position is such as 9.5 38.5 (latitude, then longitude), 9°30'N 38°30'E, or the grid code 6GCRMQ2F"
