import type { Rectangle, ShapeFormat } from '#src/catalog/area-queries.ts'
import { ApiError } from '#src/errors.ts'
import { readNumber } from '#src/http/parameters.ts'
import { DAY_MS } from '#src/lib/dates.ts'

interface Crs {
  kind: ShapeFormat['crs']
  uri: string
}

/** The system of answers and of requests that name none. */
export const DEFAULT_CRS: Crs = { kind: 'lonlat', uri: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84' }

/** EPSG:4326 has the latitude first. */
const CRSS: readonly Crs[] = [
  DEFAULT_CRS,
  { kind: 'latlon', uri: 'http://www.opengis.net/def/crs/EPSG/0/4326' },
  { kind: 'mercator', uri: 'http://www.opengis.net/def/crs/EPSG/0/3857' },
]

export const CRS_URIS = CRSS.map(({ uri }) => uri)

/** How many features a page has where the request does not say, and at most. */
const DEFAULT_LIMIT = 100
const MOST_FEATURES = 1000

/** Pages begin with no later feature. */
const LARGEST_OFFSET = 1_000_000

export interface Parameter {
  name: string
  in: 'path' | 'query'
  [member: string]: unknown
}

const inQuery = (name: string, description: string, schema: object): Parameter => ({
  name,
  in: 'query',
  required: false,
  description,
  schema,
  style: 'form',
  explode: false,
})

const inPath = (name: string, description: string): Parameter => ({
  name,
  in: 'path',
  required: true,
  description,
  schema: { type: 'string' },
})

const CRS_SCHEMA = { type: 'string', format: 'uri', enum: CRS_URIS, default: DEFAULT_CRS.uri }

/** The formats that have values of EDR, by how `f` names them. */
export const VALUE_FORMATS = {
  CoverageJSON: 'application/prs.coverage+json',
  GeoJSON: 'application/geo+json',
} as const

/** All parameters of the API, by their names in the document; clients look for the limits of `limit` there. */
export const PARAMETERS = {
  collectionId: inPath('collectionId', 'The id of a collection.'),
  featureId: inPath('featureId', 'The id of a feature: the code of an area.'),
  f: inQuery('f', 'What to answer as; without it, `Accept` decides.', {
    type: 'string',
    enum: ['json', 'html'],
  }),
  limit: inQuery('limit', 'The most features of a page; a page may end before it.', {
    type: 'integer',
    minimum: 1,
    maximum: MOST_FEATURES,
    default: DEFAULT_LIMIT,
  }),
  offset: inQuery('offset', 'How many features come before the page: `next` links have it.', {
    type: 'integer',
    minimum: 0,
    default: 0,
  }),
  bbox: inQuery('bbox', 'Only features whose shapes meet this rectangle: its lower corner first.', {
    type: 'array',
    oneOf: [
      { minItems: 4, maxItems: 4 },
      { minItems: 6, maxItems: 6 },
    ],
    items: { type: 'number' },
  }),
  'bbox-crs': inQuery('bbox-crs', 'The system of the coordinates of `bbox`.', CRS_SCHEMA),
  crs: inQuery('crs', 'The system of the coordinates of the answer.', CRS_SCHEMA),
  datetime: inQuery(
    'datetime',
    'A time, or an interval with a slash in it that may be open (`..`): only collections of that time have features. Those of areas are of no time, and always have.',
    { type: 'string' },
  ),
  'max-allowable-offset': inQuery(
    'max-allowable-offset',
    'By how many degrees borders may be off: shapes are as simple as that allows, each area for itself.',
    { type: 'number', minimum: 0, default: 0 },
  ),
  releaseId: inPath('releaseId', 'The code of a published release.'),
  locationId: inPath(
    'locationId',
    'The code of an area; of one whose code an area of a level above has, `level:code`, as the list has it.',
  ),
  pointCoords: {
    ...inQuery('coords', 'A POINT or MULTIPOINT as well-known text: longitude, then latitude.', {
      type: 'string',
    }),
    required: true,
    example: 'POINT(38.5 9.5)',
  },
  areaCoords: {
    ...inQuery('coords', 'A POLYGON or MULTIPOLYGON as well-known text.', { type: 'string' }),
    required: true,
    example: 'POLYGON((38.5 9.5,38.6 9.5,38.6 9.6,38.5 9.5))',
  },
  'parameter-name': inQuery('parameter-name', 'Which parameters to answer with; all without it.', {
    type: 'array',
    items: { type: 'string' },
  }),
  dataFormat: inQuery('f', 'What to answer as; without it, `Accept` decides.', {
    type: 'string',
    enum: Object.keys(VALUE_FORMATS),
  }),
  dataCrs: inQuery('crs', 'The system of the coordinates.', { type: 'string', enum: ['CRS84'] }),
} satisfies Record<string, Parameter>

export type ParameterKey = keyof typeof PARAMETERS

export type Query = Partial<Record<ParameterKey | 'coords', string>>

/** Reads the query of an operation. The standards demand that unknown parameters are refused. */
export function readParameters(keys: readonly ParameterKey[], query: unknown): Query {
  const named = keys.map((key): Parameter => PARAMETERS[key]).filter((parameter) => parameter.in === 'query')
  const names = [...new Set(['f', ...named.map(({ name }) => name)])]
  for (const [name, value] of Object.entries(query as Record<string, string | string[]>)) {
    if (!names.includes(name)) {
      throw ApiError.invalid(name, `is no parameter of this path, which takes ${names.join(', ')}`, names)
    }
    if (Array.isArray(value)) throw ApiError.invalid(name, 'must be given once')
  }
  return query as Query
}

/** @throws {ApiError} INVALID_PARAMETERS for a system that features do not have */
export function readCrs(field: string, uri: string | undefined): Crs {
  const found = uri === undefined ? DEFAULT_CRS : CRSS.find((crs) => crs.uri === uri)
  if (found) return found
  throw ApiError.invalid(field, `must be one of ${CRS_URIS.join(', ')}`, CRS_URIS)
}

/** A limit above the greatest is that: the standard refuses none. */
export function readLimit(text: string | undefined): number {
  return Math.min(readWholeNumber('limit', text, 1) ?? DEFAULT_LIMIT, MOST_FEATURES)
}

export function readOffset(text: string | undefined): number {
  return Math.min(readWholeNumber('offset', text, 0) ?? 0, LARGEST_OFFSET)
}

function readWholeNumber(field: string, text: string | undefined, least: number): number | undefined {
  if (text === undefined) return undefined
  const number = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (number >= least) return number
  throw ApiError.invalid(field, `must be a whole number from ${least} on`)
}

/** Degrees by which borders may be off; 0 for as they are. */
export function readAllowableOffset(text: string | undefined): number {
  if (text === undefined) return 0
  const degrees = readNumber(text)
  if (typeof degrees === 'number' && degrees >= 0) return degrees
  throw ApiError.invalid('max-allowable-offset', 'must be a number of degrees from 0 on')
}

/** Metres from the centre of the spherical Mercator projection to its edge. */
const MERCATOR_EDGE = Math.PI * 6_378_137

function toDegrees({ kind }: Crs, [a, b, c, d]: Rectangle): Rectangle {
  if (kind === 'lonlat') return [a, b, c, d]
  if (kind === 'latlon') return [b, a, d, c]
  const longitude = (x: number) =>
    (180 * Math.max(-MERCATOR_EDGE, Math.min(MERCATOR_EDGE, x))) / MERCATOR_EDGE
  const latitude = (y: number) => (Math.atan(Math.sinh((Math.PI * y) / MERCATOR_EDGE)) * 180) / Math.PI
  return [longitude(a), latitude(b), longitude(c), latitude(d)]
}

/** The indices of a rectangle among four and six numbers: a height is ignored. */
const AXES: Record<number, readonly [number, number, number, number]> = { 4: [0, 1, 2, 3], 6: [0, 1, 3, 4] }

const BBOX_RULE =
  'must be four or six numbers with commas between them, of which the lower corner comes first'

/** The rectangle of a bbox parameter in degrees; null without one. */
export function readBbox(text: string | undefined, crs: Crs): Rectangle | null {
  if (text === undefined) return null
  const numbers = text.split(',').map((part) => readNumber(part.trim()))
  const axes = AXES[numbers.length]
  if (!axes || numbers.some((number) => typeof number !== 'number')) throw ApiError.invalid('bbox', BBOX_RULE)
  const [a, b, c, d] = axes.map((at) => numbers[at] as number) as [number, number, number, number]
  const rectangle = toDegrees(crs, [a, b, c, d])
  const [west, south, east, north] = rectangle
  if (south > north) throw ApiError.invalid('bbox', BBOX_RULE)
  if (Math.abs(west) > 180 || Math.abs(east) > 180 || Math.abs(south) > 90 || Math.abs(north) > 90) {
    throw ApiError.invalid(
      'bbox',
      'must lie between 180 degrees west and east, and 90 degrees south and north',
    )
  }
  return rectangle
}

/** A time in milliseconds, from and to; open ends are infinite. */
export type Period = readonly [from: number, to: number]

const DAY = /^\d{4}-\d\d-\d\d$/
const MOMENT = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** The period of a datetime parameter: an instant, or an interval that may be open; null without one. */
export function readDatetime(text: string | undefined): Period | null {
  if (text === undefined) return null
  const [first = '', last = first, ...more] = text.split('/')
  const isInterval = text.includes('/')
  const from = readEnd(first, isInterval, Number.NEGATIVE_INFINITY)
  const to = readEnd(last, isInterval, Number.POSITIVE_INFINITY)
  if (more.length > 0 || from === undefined || to === undefined || from[0] > to[1]) {
    throw ApiError.invalid(
      'datetime',
      'must be a time such as 2026-07-01T00:00:00Z, a date, or two of them with a slash between, of which one may be ..',
    )
  }
  return [from[0], to[1]]
}

/** The period of an end of an interval; undefined for other text. */
function readEnd(text: string, isInterval: boolean, open: number): Period | undefined {
  if (isInterval && (text === '' || text === '..')) return [open, open]
  const isDay = DAY.test(text)
  const time = isDay || MOMENT.test(text) ? Date.parse(isDay ? `${text}T00:00:00Z` : text) : Number.NaN
  return Number.isNaN(time) ? undefined : [time, isDay ? time + DAY_MS - 1 : time]
}

/** From the first moment to the last second of a month. */
export function makeMonthPeriod(firstDay: string): Period {
  const first = new Date(`${firstDay.slice(0, 10)}T00:00:00Z`)
  return [first.getTime(), Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1) - 1000]
}

export function overlaps(one: Period, other: Period): boolean {
  return one[0] <= other[1] && other[0] <= one[1]
}
