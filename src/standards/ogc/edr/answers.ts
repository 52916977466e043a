import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, BASE } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { negotiate } from '#src/http/formats.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { monthAndYear } from '#src/lib/dates.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { columnOf, type PublishedRelease, versionOf } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import {
  DEFAULT_CRS,
  GEOJSON_TYPE,
  isCached,
  JSON_TYPE,
  type Parameters,
  type Period,
  periodOf,
  type Rectangle,
} from '../answers.ts'
import { listReleaseFacts, type ReleaseFacts } from './queries.ts'

/** A layer of a release, as EDR has it. */
interface ReleaseParameter {
  id: string
  /** The place of its layer in the release. */
  layer: number
  title: string
  unit: string
}

/** The parameters of a release: one a layer. Ids are words that need no escaping. */
function parametersOfRelease(product: ProductDefinition, release: PublishedRelease): ReleaseParameter[] {
  const taken = new Set<string>()
  return release.layers.map((layer, at) => {
    const word = columnOf(product, layer, product.value.key)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
    const id = taken.has(word) ? `${word}_${at + 1}` : word
    taken.add(id)
    const labels = [layer.input, layer.scenario].filter((label) => label !== null)
    const title = [product.names.title, ...labels].join(', ')
    return { id, layer: at, title, unit: product.unit }
  })
}

/**
 * The parameters that a request names; all where it names none.
 *
 * @throws {ApiError} INVALID_PARAMETERS where there is no such parameter
 */
function namedParameters(all: ReleaseParameter[], text: string | undefined): ReleaseParameter[] {
  if (text === undefined) return all
  const names = text.split(',').map((name) => name.trim())
  const ids = all.map(({ id }) => id)
  if (names.some((name) => !ids.includes(name))) {
    throw ApiError.invalid('parameter-name', `must be some of ${ids.join(', ')}, with commas between`, ids)
  }
  return all.filter(({ id }) => names.includes(id))
}

/** A parameter as collections describe it. */
export function collectionParameter({ id, title, unit }: ReleaseParameter) {
  return {
    id,
    type: 'Parameter',
    description: title,
    'data-type': 'float',
    unit: { label: unit, symbol: unit },
    observedProperty: { label: title },
  }
}

/** A parameter as CoverageJSON describes it, where texts say their language. */
function coverageParameter({ title, unit }: ReleaseParameter) {
  return {
    type: 'Parameter',
    description: { en: title },
    unit: { label: { en: unit }, symbol: unit },
    observedProperty: { label: { en: title } },
  }
}

/** The paths of EDR begin with it, below those of the OGC API. */
export const EDR_PATH = '/edr'

/** Releases that are put together without letting others go on. */
const RELEASES_A_SLICE = 50

/** A release as a collection. */
export interface ReleaseCollection {
  release: PublishedRelease
  facts: ReleaseFacts
  title: string
  /** What it is, whether its values are synthetic, and whose they are. */
  description: string
  parameters: ReleaseParameter[]
  /** The first moment of the month that it is about; null where it is of no time. */
  time: string | null
}

/** Finds releases as collections. */
export interface Releases {
  /** In the order of their codes; the same array as long as nothing has changed. */
  all(request: FastifyRequest, reply: FastifyReply): Promise<readonly ReleaseCollection[]>
  /** @throws {ApiError} NOT_FOUND where no release with this code is published */
  named(request: FastifyRequest, reply: FastifyReply, code: string): Promise<ReleaseCollection>
}

export function createReleases(app: App, lookup: Lookup): Releases {
  /** Some hundred bytes each, for as long as they are published. */
  const known = new WeakMap<PublishedRelease, ReleaseFacts>()
  const lists = new WeakMap<Snapshot, readonly ReleaseCollection[]>()

  function collectionOf(release: PublishedRelease, snapshot: Snapshot): ReleaseCollection {
    const facts = known.get(release)
    // It has been deleted since the snapshot was taken, which soon will be another.
    if (!facts) throw overloaded()
    const product = app.products.of(release.product)
    const title = titleOf(product.names.title, release, snapshot)
    return {
      release,
      facts,
      title,
      description: descriptionOf(title, release, facts),
      parameters: parametersOfRelease(product, release),
      time: release.forecastPeriod && `${release.forecastPeriod.slice(0, 10)}T00:00:00Z`,
    }
  }

  /** Has the facts of some releases known, of those that have not been deleted. */
  async function learn(
    request: FastifyRequest,
    reply: FastifyReply,
    releases: readonly PublishedRelease[],
  ): Promise<void> {
    const missing = new Map(
      releases.filter((release) => !known.has(release)).map((release) => [release.id, release]),
    )
    if (missing.size === 0) return
    const read = () => listReleaseFacts(app.database.reader, [...missing.keys()])
    for (const facts of await app.inTurn(request, reply, read)) {
      known.set(missing.get(facts.id) as PublishedRelease, facts)
    }
  }

  return {
    async all(request, reply) {
      const snapshot = await withTimeout(request, reply, lookup.current)
      const before = lists.get(snapshot)
      if (before) return before
      const { published } = snapshot
      await learn(request, reply, published)
      const gone = untilGone(reply)
      const collections: ReleaseCollection[] = []
      for (const release of published.toSorted((one, other) => (one.code < other.code ? -1 : 1))) {
        if (collections.length % RELEASES_A_SLICE === 0) await app.turns.next(clientKeyOf(request), gone)
        collections.push(collectionOf(release, snapshot))
      }
      lists.set(snapshot, collections)
      return collections
    },
    async named(request, reply, code) {
      const snapshot = await withTimeout(request, reply, lookup.current)
      const release = snapshot.published.find((one) => one.code === code)
      if (!release) throw noCollection(code)
      await learn(request, reply, [release])
      return collectionOf(release, snapshot)
    },
  }
}

export function noCollection(code: string): ApiError {
  const list = `\`GET ${BASE}/ogc${EDR_PATH}/collections\` lists those that there are`
  return new ApiError('NOT_FOUND', `There is no collection ${code}; ${list}.`)
}

function titleOf(name: string, release: PublishedRelease, { countries }: Snapshot): string {
  const country = countries.find(({ code }) => code === release.countryCode)?.name ?? release.countryCode
  const crop = release.cropCode === null ? '' : ` of ${release.cropCode}`
  const month = release.forecastPeriod === null ? '' : `, ${monthAndYear(release.forecastPeriod)}`
  return `${name}${crop} in ${country}${month}`
}

function descriptionOf(title: string, { synthetic }: PublishedRelease, { source, licence }: ReleaseFacts) {
  const warning = synthetic ? 'The values are synthetic: made by a formula, not by agronomists. ' : ''
  return `${title}. ${warning}Source: ${source} (${licence}).`
}

/** Where a release or a layer of it lies, and of which month it is. */
export function extentOf({ time }: Pick<ReleaseCollection, 'time'>, bbox: Rectangle) {
  return {
    spatial: { bbox: [bbox.map(roundDegrees)], crs: DEFAULT_CRS.uri },
    ...(time !== null && {
      temporal: { interval: [[time, lastMomentOf(time)]], values: [time], trs: 'Gregorian' },
    }),
  }
}

/** The last second of the month that a time begins. */
function lastMomentOf(time: string): string {
  const first = new Date(time)
  const last = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1) - 1000
  return new Date(last).toISOString().replace('.000', '')
}

export const COVERAGE_JSON_TYPE = 'application/prs.coverage+json'

/** Where values are of: a point, or the rings of a polygon. */
type Place =
  | { type: 'Point'; coordinates: readonly [number, number] }
  | { type: 'Polygon'; coordinates: unknown }

/** Values at a place, in the order of the parameters; null where there is none. */
export interface Located {
  place: Place
  values: readonly (number | null)[]
}

/** What coverages have in common. */
interface CoverageFrame {
  parameters: readonly ReleaseParameter[]
  /** The first moment of the month that it is about; null where it is of no time. */
  time: string | null
}

/** A coverage, or a collection of them, as CoverageJSON 1.0. */
function coverageJsonOf(frame: CoverageFrame, located: readonly Located[]): object {
  const described = Object.fromEntries(
    frame.parameters.map((parameter) => [parameter.id, coverageParameter(parameter)]),
  )
  const [only, ...others] = located.map((one) => coverageOf(frame, one))
  if (only && others.length === 0) return { ...only, parameters: described }
  return {
    type: 'CoverageCollection',
    domainType: located[0]?.place.type ?? 'Polygon',
    parameters: described,
    referencing: referencingOf(frame),
    coverages: located.map((one) => coverageOf(frame, one)),
  }
}

function coverageOf(frame: CoverageFrame, { place, values }: Located): object {
  const axes =
    place.type === 'Point'
      ? { x: { values: [place.coordinates[0]] }, y: { values: [place.coordinates[1]] } }
      : {
          composite: { dataType: 'polygon', coordinates: ['x', 'y'], values: [place.coordinates] },
        }
  const time = frame.time === null ? {} : { t: { values: [frame.time] } }
  return {
    type: 'Coverage',
    domain: {
      type: 'Domain',
      domainType: place.type,
      axes: { ...axes, ...time },
      referencing: referencingOf(frame),
    },
    ranges: Object.fromEntries(
      frame.parameters.map(({ id }, at) => [
        id,
        { type: 'NdArray', dataType: 'float', axisNames: [], shape: [], values: [values[at] ?? null] },
      ]),
    ),
  }
}

function referencingOf({ time }: CoverageFrame): object[] {
  const space = { coordinates: ['x', 'y'], system: { type: 'GeographicCRS', id: DEFAULT_CRS.uri } }
  const withTimeout = { coordinates: ['t'], system: { type: 'TemporalRS', calendar: 'Gregorian' } }
  return time === null ? [space] : [space, withTimeout]
}

/** The same values as GeoJSON: a feature a place. */
function geoJsonOf(
  { parameters, time }: CoverageFrame,
  located: readonly Located[],
  label: string,
  endpoint: string,
): object {
  return {
    type: 'FeatureCollection',
    parameters: parameters.map((parameter) => ({ id: parameter.id, ...coverageParameter(parameter) })),
    features: located.map(({ place, values }, at) => ({
      type: 'Feature',
      id: String(at + 1),
      geometry: place,
      properties: {
        label,
        datetime: time,
        'parameter-name': parameters.map(({ id }) => id),
        edrqueryendpoint: endpoint,
        ...Object.fromEntries(parameters.map(({ id }, index) => [id, values[index] ?? null])),
      },
    })),
  }
}

/** What values are answered as, by how `f` names it. */
export const OUTPUT_FORMATS = { CoverageJSON: COVERAGE_JSON_TYPE, GeoJSON: GEOJSON_TYPE } as const

/** What all queries for values take. */
export const DATA_PARAMETERS = ['f', 'crs', 'datetime', 'parameter-name'] as const
type DataQuery = Parameters<(typeof DATA_PARAMETERS)[number]>

/** What a query asks of a collection. */
interface DataRequest {
  collection: ReleaseCollection
  parameters: ReleaseParameter[]
  type: string
}

/** Names of the one system that values are asked for and answered in. */
const CRS_NAMES = ['CRS84', DEFAULT_CRS.uri]

/** @throws {ApiError} where a parameter is not one, or the release is not of the time that is asked for */
export function dataRequestOf(
  request: FastifyRequest,
  reply: FastifyReply,
  query: DataQuery,
  collection: ReleaseCollection,
): DataRequest {
  const { f, crs } = query
  if (crs !== undefined && !CRS_NAMES.includes(crs)) {
    throw ApiError.invalid('crs', `must be one of ${CRS_NAMES.join(', ')}`, CRS_NAMES)
  }
  refuseOtherTime(collection, periodOf(query.datetime))
  const parameters = namedParameters(collection.parameters, query['parameter-name'])
  return { collection, parameters, type: typeOf(request, reply, f) }
}

function typeOf(request: FastifyRequest, reply: FastifyReply, f: string | undefined): string {
  if (f === undefined) return negotiate(request, reply, [COVERAGE_JSON_TYPE, GEOJSON_TYPE, JSON_TYPE])
  const formats = Object.entries(OUTPUT_FORMATS)
  const format = formats.find(([name]) => name.toLowerCase() === f.toLowerCase())
  const names = formats.map(([name]) => name)
  if (!format) throw ApiError.invalid('f', `must be one of ${names.join(', ')}`, names)
  return format[1]
}

function refuseOtherTime({ time, release }: ReleaseCollection, period: Period | null): void {
  if (time === null || period === null) return
  const first = new Date(time)
  const next = Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 1)
  if (period[0] < next && period[1] >= first.getTime()) return
  throw ApiError.invalid('datetime', `must meet the month of ${release.code}, which begins at ${time}`)
}

/**
 * @param version of what else it is made of
 * @returns whether the client has the answer already
 */
export function isDataCached(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, collection }: DataRequest,
  version = '',
): boolean {
  return isCached(request, reply, { type, isHtml: false }, `${versionOf(collection.release)} ${version}`)
}

/** Answers with values, which are those of all layers of the release. */
export function sendData(
  reply: FastifyReply,
  { collection, parameters, type }: DataRequest,
  located: readonly Located[],
  { label, endpoint }: { label: string; endpoint: string },
): FastifyReply {
  const frame = { parameters, time: collection.time }
  const chosen = located.map(({ place, values }) => ({
    place,
    values: parameters.map(({ layer }) => values[layer] ?? null),
  }))
  const body =
    type === GEOJSON_TYPE ? geoJsonOf(frame, chosen, label, endpoint) : coverageJsonOf(frame, chosen)
  // As a buffer: programs that know CoverageJSON know no parameters of its type.
  return reply
    .type(type)
    .header('advisory-release', collection.release.code)
    .send(Buffer.from(JSON.stringify(body)))
}

/** Digits are bounded: what matches could otherwise take time that grows with the square of the text. */
const NUMBER = String.raw`[+-]?(?:\d{1,25}(?:\.\d{0,25})?|\.\d{1,25})(?:[eE][+-]?\d{1,4})?`
/** A position, with a height or not; the height is left out. */
const POSITION = new RegExp(String.raw`(${NUMBER})\s+(${NUMBER})(?:\s+${NUMBER})?`, 'g')
const GEOMETRY = /^\s*(POINT|MULTIPOINT|POLYGON|MULTIPOLYGON)\s*(?:Z\s*)?(\([-+\d\s.,eE()]*\))\s*$/i

/** A geometry of well-known text, with the coordinates of GeoJSON. */
interface WktGeometry {
  type: 'Point' | 'MultiPoint' | 'Polygon' | 'MultiPolygon'
  coordinates: unknown
}

const TYPES = {
  POINT: 'Point',
  MULTIPOINT: 'MultiPoint',
  POLYGON: 'Polygon',
  MULTIPOLYGON: 'MultiPolygon',
} as const

/**
 * Reads well-known text. Whether a polygon is one is not looked at.
 *
 * @param names of the geometries that may be
 * @throws {ApiError} INVALID_PARAMETERS where it is none of them
 */
export function readWkt(
  field: string,
  text: string | undefined,
  names: readonly (keyof typeof TYPES)[],
): WktGeometry {
  const example = names[0] === 'POINT' ? 'POINT(38.5 9.5)' : 'POLYGON((38 9,39 9,39 10,38 9))'
  const refusal = ApiError.invalid(field, `must be well-known text, such as ${example}`)
  if (text === undefined) throw refusal
  const [, keyword = '', body = ''] = GEOMETRY.exec(text) ?? []
  const name = names.find((one) => one === keyword.toUpperCase())
  if (!name) throw refusal
  const coordinates = coordinatesOf(body)
  if (coordinates === undefined) throw refusal
  if (name === 'MULTIPOINT') {
    const positions = coordinates.map(positionOf)
    if (positions.length === 0 || !positions.every(isPosition)) throw refusal
    return { type: 'MultiPoint', coordinates: positions }
  }
  if (name !== 'POINT') return { type: TYPES[name], coordinates }
  const [position, ...more] = coordinates
  if (!isPosition(position) || more.length > 0) throw refusal
  return { type: 'Point', coordinates: position }
}

/** A point of several: with parentheses of its own, or without. */
function positionOf(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value
}

function isPosition(value: unknown): boolean {
  return Array.isArray(value) && value.length === 2 && value.every((item) => typeof item === 'number')
}

/** Lists of lists of positions, as the parentheses have them; undefined where they are not matched. */
function coordinatesOf(body: string): unknown[] | undefined {
  const json = body
    .replace(POSITION, (_, x: string, y: string) => `[${Number(x)},${Number(y)}]`)
    .replaceAll('(', '[')
    .replaceAll(')', ']')
  try {
    // What is left of a number that was none is no JSON.
    return JSON.parse(json)
  } catch {
    return undefined
  }
}
