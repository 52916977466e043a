import type { RegionStatistics, RegionValues } from '#src/advice/polygon/region-figures.ts'
import { ApiError } from '#src/errors.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Position } from '#src/lookup/queries.ts'
import { refuseIfReplaced, versionOf } from '#src/lookup/releases.ts'
import type { Rectangle } from '../area-queries.ts'
import { type AreaLevel, type Areas, chooseShapeFormat } from '../areas.ts'
import {
  type Api,
  addOperation,
  type Call,
  forbidKeeping,
  GEOJSON_ONLY,
  GEOJSON_TYPE,
  type OgcAnswer,
  type Operation,
  withQuery,
} from './api.ts'
import { type Located, writeCoverageJson, writeGeoJson } from './coverage-json.ts'
import type { Collection, FeatureCollections } from './feature-collections.ts'
import { sourceFeatures, writeCollection, writeFeatures } from './features.ts'
import {
  DEFAULT_CRS,
  makeMonthPeriod,
  overlaps,
  type ParameterKey,
  readBbox,
  readDatetime,
  readLimit,
  readOffset,
  VALUE_FORMATS,
} from './parameters.ts'
import {
  EDR_PATH,
  findCollectionRelease,
  type ReleaseCollection,
  type ReleaseParameter,
  type Releases,
} from './releases.ts'

const COLLECTION = `${EDR_PATH}/collections/{releaseId}`

/** An operation that answers with values, which are no pages. */
function declareValues(path: string, id: string, summary: string, parameter: ParameterKey): Operation {
  return {
    ...{
      path: COLLECTION + path,
      id,
      summary,
      tag: 'EDR',
      formats: VALUE_FORMATS,
      schema: 'FeatureCollection',
    },
    parameters: ['releaseId', 'parameter-name', 'datetime', 'dataCrs', 'dataFormat', parameter],
  }
}

/** A request for values of a release. */
interface ValueRequest {
  collection: ReleaseCollection
  parameters: readonly ReleaseParameter[]
}

/** The names of the one system of positions and answers. */
const CRS_NAMES = ['CRS84', DEFAULT_CRS.uri]

/** @throws {ApiError} for wrong parameters, and where the release is of another time */
async function readRequest(call: Call, releases: Releases): Promise<ValueRequest> {
  const { crs, datetime, 'parameter-name': names } = call.query
  const collection = await releases.one(call, call.part('collection'))
  if (crs !== undefined && !CRS_NAMES.includes(crs)) {
    throw ApiError.invalid('crs', `must be one of ${CRS_NAMES.join(', ')}`, CRS_NAMES)
  }
  const { time, release } = collection
  const period = readDatetime(datetime)
  if (time !== null && period !== null && !overlaps(makeMonthPeriod(time), period)) {
    throw ApiError.invalid('datetime', `must meet the month of ${release.code}, which begins at ${time}`)
  }
  return { collection, parameters: chooseParameters(collection.parameters, names) }
}

/** @throws {ApiError} INVALID_PARAMETERS for the name of another parameter */
function chooseParameters(all: readonly ReleaseParameter[], text: string | undefined) {
  if (text === undefined) return all
  const names = text.split(',').map((name) => name.trim())
  const ids = all.map(({ id }) => id)
  if (names.some((name) => !ids.includes(name))) {
    throw ApiError.invalid('parameter-name', `must be some of ${ids.join(', ')}, with commas between`, ids)
  }
  return all.filter(({ id }) => names.includes(id))
}

/** Answers with values, which are those of all layers of the release. */
function answerValues(
  { root, type }: Call,
  { collection, parameters }: ValueRequest,
  located: readonly Located[],
  { label, query }: { label: string; query: string },
): OgcAnswer {
  const { release, time } = collection
  const frame = { parameters, time }
  const chosen = located.map(({ place, values }) => ({
    place,
    values: parameters.map(({ layer }) => values[layer] ?? null),
  }))
  const endpoint = `${root}${EDR_PATH}/collections/${release.code}/${query}`
  const body =
    type === GEOJSON_TYPE
      ? writeGeoJson(frame, chosen, { label, endpoint })
      : writeCoverageJson(frame, chosen)
  // As a buffer: the type of CoverageJSON has no parameters.
  return {
    headers: { 'advisory-release': release.code },
    json: () => Buffer.from(JSON.stringify(body)),
  }
}

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

/** So many points are answered at once; `POST /advisory/{product}/points` takes more. */
const MOST_POINTS = 100

/** So many polygons of one request are computed, one after the other. */
const MOST_POLYGONS = 10

function addPosition(api: Api, releases: Releases, lookup: Lookup): void {
  const operation = declareValues('/position', 'getPosition', 'Values at a point', 'pointCoords')

  async function make(call: Call, values: ValueRequest, positions: readonly Position[]): Promise<OgcAnswer> {
    const { request, reply, pause } = call
    const clientKey = clientKeyOf(request)
    const { code, layers } = values.collection.release
    const found = await withTimeout(request, reply, () =>
      lookup.inSnapshotQueued(clientKey, async (snapshot) => {
        const release = findCollectionRelease(snapshot, code)
        await pause()
        const ofPoints = await lookup.valuesAt(release, [...positions])
        // The reason for a missing value is the answer to one point; of several, each is null.
        if (positions.length > 1 || ofPoints[0]) return ofPoints
        throw await lookup.reasons.noValue(snapshot, release, positions[0] as Position, 'point')
      }),
    )
    await pause()
    const located = positions.map(
      ({ longitude, latitude }, at): Located => ({
        place: { type: 'Point', coordinates: [longitude, latitude] },
        values: layers.map((_, layer) => {
          const value = found[at]?.[layer] ?? Number.NaN
          return Number.isNaN(value) ? null : value
        }),
      }),
    )
    const [{ longitude, latitude }] = positions as [Position]
    const label =
      positions.length === 1 ? `Longitude ${longitude}, latitude ${latitude}` : `${positions.length} points`
    return answerValues(call, values, located, { label, query: 'position' })
  }

  addOperation(api, operation, async (call) => {
    const positions = readPositions(call.query.coords)
    const values = await readRequest(call, releases)
    return {
      version: `${versionOf(values.collection.release)} `,
      make: () => make(call, values, positions),
    }
  })
}

/** @throws {ApiError} INVALID_PARAMETERS for points beyond the earth, and too many of them */
function readPositions(coords: string | undefined): Position[] {
  const { type, coordinates } = readWkt('coords', coords, ['POINT', 'MULTIPOINT'])
  const points = (type === 'Point' ? [coordinates] : coordinates) as [number, number][]
  if (points.length > MOST_POINTS) throw ApiError.invalid('coords', `may have ${MOST_POINTS} points`)
  return points.map(([longitude, latitude]) => {
    if (Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90) return { longitude, latitude }
    throw ApiError.invalid('coords', 'must have a longitude from -180 to 180, then a latitude from -90 to 90')
  })
}

function addArea(api: Api, releases: Releases, figures: RegionStatistics): void {
  const operation = declareValues('/area', 'getArea', 'Means in a polygon', 'areaCoords')
  addOperation(api, operation, async (call) => {
    const { type, coordinates } = readWkt('coords', call.query.coords, ['POLYGON', 'MULTIPOLYGON'])
    const polygons = (type === 'Polygon' ? [coordinates] : coordinates) as unknown[]
    if (polygons.length > MOST_POLYGONS) {
      throw ApiError.invalid('coords', `must have ${MOST_POLYGONS} polygons or fewer`)
    }
    const values = await readRequest(call, releases)
    const { release } = values.collection
    async function make(): Promise<OgcAnswer> {
      const located: Located[] = []
      for (const rings of polygons) {
        const place = { type: 'Polygon', coordinates: rings } as const
        const sent = { value: place, at: 'coords' }
        const found = await refuseIfReplaced(() => figures.inPolygon(release, sent, call.request, call.reply))
        located.push({ place, values: meansOf(found, release.layers.length) })
      }
      return answerValues(call, values, located, { label: 'Area', query: 'area' })
    }
    return { version: `${versionOf(release)} `, make }
  })
}

/** The means of layers, each of which has its mean first. */
function meansOf(statistics: RegionValues, layers: number): (number | null)[] {
  const columns = statistics.length / layers
  return Array.from({ length: layers }, (_, layer) => statistics[layer * columns] ?? null)
}

/** By how many degrees the borders of locations in their list may be off: about a kilometre. */
const OFFSET = 0.01

/** A level of areas, of which each is a location. */
interface Level {
  collection: Collection
  level: AreaLevel
}

/** The areas of the country of a release, from the highest level down. */
async function readLevels(
  call: Call,
  { release }: ReleaseCollection,
  collections: FeatureCollections,
  areas: Areas,
): Promise<Level[]> {
  const levels: Level[] = []
  for (const collection of await collections.all(call)) {
    if (collection.release?.id !== release.id) continue
    levels.push({ collection, level: await areas.level(collection.loaded, call.inTurn) })
  }
  return levels
}

/** Names an area by its code; by level and code where an area of a level above has the same one. */
function nameLocation(levels: readonly Level[], depth: number, code: string): string {
  const isTaken = levels.slice(0, depth).some(({ level }) => level.placeOf.has(code))
  return isTaken ? `${levels[depth]?.level.loaded.level}:${code}` : code
}

/** The area with such a name. */
function findLocation(levels: readonly Level[], id: string): (Level & { place: number }) | undefined {
  const [, depth, rest] = /^(\d+):(.*)$/s.exec(id) ?? []
  const candidates = [
    ...levels.map((one) => ({ ...one, place: one.level.placeOf.get(id) })),
    ...levels
      .filter(({ level }) => String(level.loaded.level) === depth)
      .map((one) => ({ ...one, place: one.level.placeOf.get(rest ?? '') })),
  ]
  const found = candidates.find(({ place }) => place !== undefined)
  return found && { ...found, place: found.place as number }
}

const LOCATIONS: Operation = {
  path: `${COLLECTION}/locations`,
  ...{ id: 'getLocations', summary: 'The areas', tag: 'EDR' },
  ...{
    parameters: ['releaseId', 'bbox', 'limit', 'offset'],
    formats: GEOJSON_ONLY,
    schema: 'FeatureCollection',
  },
}

function addLocations(api: Api, releases: Releases, collections: FeatureCollections, areas: Areas): void {
  const format = chooseShapeFormat(DEFAULT_CRS.kind, OFFSET)

  /** Writes a page, level by level. */
  async function writePage(
    call: Call,
    levels: readonly Level[],
    { limit, offset, rectangle }: { limit: number; offset: number; rectangle: Rectangle | null },
  ) {
    const features: string[] = []
    let matched = 0
    let isOver = false
    for (const [depth, { collection, level }] of levels.entries()) {
      const places = await areas.places(level, rectangle, call.inTurn)
      const from = Math.max(0, offset - matched)
      const shown = places.slice(from, from + limit - features.length)
      matched += places.length
      if (isOver || shown.length === 0) continue
      const source = {
        ...sourceFeatures(areas, { ...collection, release: null }, level, format, call),
        idAt: (place: number) => nameLocation(levels, depth, level.areas[place]?.code ?? ''),
      }
      const { isLate, isFull, ...more } = await writeFeatures(source, shown, features)
      features.push(...more.features)
      isOver = isLate || isFull
      if (isLate) forbidKeeping(call)
    }
    return { features, matched, next: offset + features.length }
  }

  addOperation(api, LOCATIONS, async (call) => {
    const { query } = call
    const [limit, offset] = [readLimit(query.limit), readOffset(query.offset)]
    const rectangle = readBbox(query.bbox, DEFAULT_CRS)
    const collection = await releases.one(call, call.part('collection'))
    const levels = await readLevels(call, collection, collections, areas)
    async function make(): Promise<OgcAnswer> {
      const { features, matched, next } = await writePage(call, levels, { limit, offset, rectangle })
      const href = withQuery(call.address, { ...query, limit, offset: next })
      const head = { numberMatched: matched, numberReturned: features.length }
      return {
        links: next < matched ? [{ href, rel: 'next', type: GEOJSON_TYPE }] : [],
        json: (links) => writeCollection({ ...head, links }, features),
      }
    }
    return { version: levels.map((one) => one.collection.version).join(), make }
  })
}

function addLocation(api: Api, releases: Releases, collections: FeatureCollections, areas: Areas): void {
  const operation = declareValues('/locations/{locationId}', 'getLocation', 'Means in an area', 'locationId')
  addOperation(api, operation, async (call) => {
    const location = call.part('location')
    const values = await readRequest(call, releases)
    const { release } = values.collection
    const levels = await readLevels(call, values.collection, collections, areas)
    const found = findLocation(levels, location)
    const area = found?.level.areas[found.place]
    if (!found || !area) {
      const sentence = `There is no location ${location}: \`locations\` lists those that there are.`
      throw new ApiError('NOT_FOUND', sentence)
    }
    async function make(): Promise<OgcAnswer> {
      const { level, place } = found as Level & { place: number }
      const { value } = await areas.statistics(release, level, [place], call, 0).next()
      // Of the whole area, which may have several parts: a coverage of polygons would have a value for each.
      const { longitude, latitude, name } = area as NonNullable<typeof area>
      const point = { type: 'Point', coordinates: [longitude, latitude] } as const
      const located = { place: point, values: meansOf(value ?? [], release.layers.length) }
      return answerValues(call, values, [located], { label: name, query: 'locations' })
    }
    return { version: `${versionOf(release)} ${found.collection.version}`, make }
  })
}

/** Adds the queries for values of releases. */
export function addQueries(
  api: Api,
  lookup: Lookup,
  figures: RegionStatistics,
  { releases, collections, areas }: { releases: Releases; collections: FeatureCollections; areas: Areas },
): void {
  addPosition(api, releases, lookup)
  addArea(api, releases, figures)
  addLocations(api, releases, collections, areas)
  addLocation(api, releases, collections, areas)
}
