import type { FastifyReply, FastifyRequest } from 'fastify'
import { SERVICE_NAME } from '#schemas/service.ts'
import type { Figures, RegionFigures } from '#src/advice/polygon/region-figures.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { untilGone } from '#src/http/deadline.ts'
import { anchor, list, paragraph, sendPage, table } from '#src/http/plain-page.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { Position } from '#src/lookup/queries.ts'
import { retryIfReplaced } from '#src/lookup/releases.ts'
import {
  CRS84_WKT,
  DEFAULT_CRS,
  forbidKeeping,
  formOf,
  GEOJSON_TYPE,
  isCached,
  JSON_TYPE,
  type Link,
  limitOf,
  listRoute,
  mapsLink,
  offsetOf,
  openRoute,
  parametersOf,
  rectangleOf,
  rootOf,
  selfLinks,
  withQuery,
} from '../answers.ts'
import { WHOLE_DOCUMENT_TYPE } from '../document-parts.ts'
import { type AreaLevel, type InTurn, shapeFormOf } from '../features/areas.ts'
import type { Collection, Finder } from '../features/collections.ts'
import { featuresAt } from '../features/page.ts'
import {
  collectionParameter,
  DATA_PARAMETERS,
  dataRequestOf,
  EDR_PATH,
  extentOf,
  isDataCached,
  type Located,
  noCollection,
  OUTPUT_FORMATS,
  type ReleaseCollection,
  type Releases,
  readWkt,
  sendData,
} from './answers.ts'

const DESCRIPTION =
  'What the published releases say at a point, in a polygon and in administrative areas: OGC API Environmental Data Retrieval, open to all, without a token.'

const EDR = 'http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf'

/** What of the standard is kept; the tests try each. Values are no pages, so that its HTML is not. */
const EDR_CONFORMANCE = [
  'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
  'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
  `${EDR}/core`,
  `${EDR}/collections`,
  `${EDR}/json`,
  `${EDR}/geojson`,
  `${EDR}/covjson`,
  `${EDR}/oas30`,
  `${EDR}/queries`,
]

const HOME = { rel: 'root', title: 'OGC API EDR' }

export function edrLandingRoutes(app: App): void {
  async function landing(request: FastifyRequest, reply: FastifyReply) {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    if (isCached(request, reply, form, '')) return reply.code(304).send()
    const root = rootOf(request)
    const edr = root + EDR_PATH
    const links: Link[] = [
      ...selfLinks(edr, query, form, JSON_TYPE),
      {
        href: `${root}/api`,
        rel: 'service-desc',
        type: WHOLE_DOCUMENT_TYPE,
        title: 'This API as OpenAPI 3.0',
      },
      {
        href: withQuery(`${root}/api`, { f: 'html' }),
        rel: 'service-doc',
        type: 'text/html',
        title: 'Paths',
      },
      { href: `${edr}/conformance`, rel: 'conformance', type: JSON_TYPE, title: 'Conformance' },
      { href: `${edr}/collections`, rel: 'data', type: JSON_TYPE, title: 'The collections' },
    ]
    if (form.isHtml) {
      return sendPage(reply, { title: HOME.title, above: [], parts: [paragraph(DESCRIPTION)], links })
    }
    const body = { title: SERVICE_NAME, description: DESCRIPTION, links }
    return reply.type(form.type).send(JSON.stringify(body))
  }
  for (const path of [EDR_PATH, `${EDR_PATH}/`]) app.get(path, openRoute(), landing)

  app.get(`${EDR_PATH}/conformance`, openRoute(), async (request, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    if (isCached(request, reply, form, '')) return reply.code(304).send()
    if (!form.isHtml) return reply.type(form.type).send(JSON.stringify({ conformsTo: EDR_CONFORMANCE }))
    const edr = rootOf(request) + EDR_PATH
    return sendPage(reply, {
      title: 'Conformance',
      above: [{ href: withQuery(edr, { f: 'html' }), ...HOME }],
      parts: [list(EDR_CONFORMANCE.map((uri) => anchor(uri, uri)))],
      links: selfLinks(`${edr}/conformance`, query, form, JSON_TYPE),
    })
  })
}

export function edrCollectionRoutes(app: App, releases: Releases): void {
  listRoute(app, `${EDR_PATH}/collections`, releases.all, {
    title: 'Releases',
    above: { path: EDR_PATH, title: HOME.title },
    bodiesOf: (root, one) => [collectionBody(root, one)],
    columns: ['id', 'title', 'source'],
    rowsOf: (root, { release: { code }, title, facts }) => [
      [
        anchor(withQuery(`${root}${EDR_PATH}/collections/${code}`, { f: 'html' }), code),
        title,
        `${facts.source} (${facts.licence})`,
      ],
    ],
  })

  type Call = FastifyRequest<{ Params: { collection: string } }>
  app.get(`${EDR_PATH}/collections/:collection`, openRoute(), async (request: Call, reply) => {
    const query = parametersOf(request, ['f'])
    const form = formOf(request, reply, query.f, [JSON_TYPE])
    const found = await releases.named(request, reply, request.params.collection)
    if (isCached(request, reply, form, JSON.stringify([found.release.code, found.title])))
      return reply.code(304).send()
    const edr = rootOf(request) + EDR_PATH
    const { links: own, ...body } = collectionBody(rootOf(request), found)
    const address = `${edr}/collections/${body.id}`
    const links = [...selfLinks(address, query, form, JSON_TYPE), ...own.filter(({ rel }) => rel !== 'self')]
    if (!form.isHtml) return reply.type(form.type).send(JSON.stringify({ ...body, links }))
    return sendPage(reply, {
      title: found.title,
      above: [{ href: withQuery(`${edr}/collections`, { f: 'html' }), rel: 'data', title: 'Releases' }],
      parts: [
        paragraph(body.description),
        table(
          ['parameter', 'what it is', 'unit'],
          found.parameters.map(({ id, title, unit }) => [id, title, unit]),
        ),
      ],
      links,
    })
  })
}

const QUERIES = {
  position: 'The values of the pixel at a point, or at each of several',
  area: 'The means in a polygon, each pixel by the part of it that lies inside',
  locations: 'The means in administrative areas, by their codes',
}

/** A release as its document has it. */
function collectionBody(root: string, collection: ReleaseCollection) {
  const { release, facts, title, description, parameters } = collection
  const address = `${root}${EDR_PATH}/collections/${release.code}`
  const formats = Object.keys(OUTPUT_FORMATS)
  const queries = Object.entries(QUERIES).map(([name, what]) => ({
    name,
    link: {
      href: `${address}/${name}`,
      rel: 'data',
      type: OUTPUT_FORMATS.CoverageJSON,
      title: what,
      variables: {
        title: what,
        query_type: name,
        output_formats: formats,
        default_output_format: formats[0],
        crs_details: [{ crs: 'CRS84', wkt: CRS84_WKT }],
      },
    },
  }))
  const links: Link[] = [
    { href: withQuery(address, { f: 'json' }), rel: 'self', type: JSON_TYPE, title },
    ...queries.map(({ link: { href, rel, type, title: name } }) => ({ href, rel, type, title: name })),
    mapsLink(root, release.code),
  ]
  return {
    id: release.code,
    title,
    description,
    links,
    extent: extentOf(collection, facts.extent),
    data_queries: Object.fromEntries(queries.map(({ name, link }) => [name, { link }])),
    crs: ['CRS84'],
    output_formats: formats,
    parameter_names: Object.fromEntries(parameters.map((one) => [one.id, collectionParameter(one)])),
  }
}

type DataCall = FastifyRequest<{ Params: { collection: string } }>

/** So many points are answered at once; `POST /advisory/{product}/points` takes more. */
const MOST_POINTS = 100

/** So many polygons of one request are computed, one after the other. */
const MOST_POLYGONS = 10

export function positionRoute(app: App, releases: Releases, lookup: Lookup): void {
  app.get(`${EDR_PATH}/collections/:collection/position`, openRoute(), async (request: DataCall, reply) => {
    const query = parametersOf(request, [...DATA_PARAMETERS, 'coords'])
    const positions = positionsOf(query.coords)
    const collection = await releases.named(request, reply, request.params.collection)
    const data = dataRequestOf(request, reply, query, collection)
    if (isDataCached(request, reply, data)) return reply.code(304).send()

    const clientKey = clientKeyOf(request)
    const { code } = collection.release
    const found = await withTimeout(request, reply, () =>
      lookup.inSnapshotQueued(clientKey, async (snapshot) => {
        const release = snapshot.published.find((one) => one.code === code)
        if (!release) throw noCollection(code)
        await app.turns.next(clientKey, untilGone(reply))
        const values = await lookup.valuesAt(release, positions, clientKey)
        // One point is told why it has no value; of several, each that has none is answered so.
        if (positions.length > 1 || values[0]) return values
        throw await lookup.reasons.noValue(snapshot, release, positions[0] as Position, 'point', clientKey)
      }),
    )
    await app.turns.next(clientKey, untilGone(reply))
    const located = positions.map(({ longitude, latitude }, at): Located => {
      const values = found[at] ?? collection.parameters.map(() => Number.NaN)
      return {
        place: { type: 'Point', coordinates: [longitude, latitude] },
        values: Array.from(values, (value) => (Number.isNaN(value) ? null : value)),
      }
    })
    const [{ longitude, latitude }] = positions as [Position]
    const label =
      positions.length === 1 ? `Longitude ${longitude}, latitude ${latitude}` : `${positions.length} points`
    return sendData(reply, data, located, { label, endpoint: endpointOf(request, 'position') })
  })
}

/** @throws {ApiError} INVALID_PARAMETERS where they are no points of the earth, or too many */
function positionsOf(coords: string | undefined): Position[] {
  const { type, coordinates } = readWkt('coords', coords, ['POINT', 'MULTIPOINT'])
  const points = (type === 'Point' ? [coordinates] : coordinates) as [number, number][]
  if (points.length > MOST_POINTS) throw ApiError.invalid('coords', `may have ${MOST_POINTS} points`)
  return points.map(positionOf)
}

function positionOf([longitude, latitude]: [number, number]): Position {
  if (Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90) return { longitude, latitude }
  throw ApiError.invalid('coords', 'must have a longitude from -180 to 180, then a latitude from -90 to 90')
}

export function areaRoute(app: App, releases: Releases, figures: RegionFigures): void {
  app.get(`${EDR_PATH}/collections/:collection/area`, openRoute(), async (request: DataCall, reply) => {
    const query = parametersOf(request, [...DATA_PARAMETERS, 'coords'])
    const { type, coordinates } = readWkt('coords', query.coords, ['POLYGON', 'MULTIPOLYGON'])
    const polygons = (type === 'Polygon' ? [coordinates] : coordinates) as unknown[]
    if (polygons.length > MOST_POLYGONS) {
      throw ApiError.invalid('coords', `must have ${MOST_POLYGONS} polygons or fewer`)
    }
    const collection = await releases.named(request, reply, request.params.collection)
    const data = dataRequestOf(request, reply, query, collection)
    if (isDataCached(request, reply, data)) return reply.code(304).send()

    const { release } = collection
    const located: Located[] = []
    for (const rings of polygons) {
      const place = { type: 'Polygon', coordinates: rings } as const
      const sent = { value: place, at: 'coords' }
      const found = await retryIfReplaced(() => figures.inPolygon(release, sent, request, reply))
      located.push({ place, values: meansIn(found, release.layers.length) })
    }
    return sendData(reply, data, located, { label: 'Area', endpoint: endpointOf(request, 'area') })
  })
}

/** The means of layers, each of which has its mean first. */
function meansIn(figures: Figures, layers: number): (number | null)[] {
  const columns = figures.length / layers
  return Array.from({ length: layers }, (_, layer) => figures[layer * columns] ?? null)
}

function endpointOf(request: DataCall, query: string): string {
  return `${rootOf(request)}${EDR_PATH}/collections/${request.params.collection}/${query}`
}

type ListCall = FastifyRequest<{ Params: { collection: string } }>
type LocationCall = FastifyRequest<{ Params: { collection: string; location: string } }>

/** By how many degrees the borders of locations in their list may be off: about a kilometre. */
const OFFSET = 0.01

/** A level of areas, of which each is a location. */
interface Level {
  collection: Collection
  level: AreaLevel
}

/** The areas of the country of a release, from the highest level down. */
async function levelsOf(
  find: Finder,
  { release }: ReleaseCollection,
  request: FastifyRequest,
  reply: FastifyReply,
  inTurn: InTurn,
): Promise<Level[]> {
  const all = await find.collections(request, reply)
  const own = all.filter((one) => one.release?.id === release.id)
  const levels: Level[] = []
  for (const collection of own) levels.push({ collection, level: await find.level(collection, inTurn) })
  return levels
}

/** Names an area: by its code, and where an area of a level above has the same one, by its level and code. */
function idIn(levels: readonly Level[], depth: number, code: string): string {
  const isTaken = levels.slice(0, depth).some(({ level }) => level.placeOf.has(code))
  return isTaken ? `${levels[depth]?.level.loaded.level}:${code}` : code
}

/** The area that is named so. */
function locationIn(levels: readonly Level[], id: string): (Level & { place: number }) | undefined {
  const [, depth, rest] = /^(\d+):(.*)$/s.exec(id) ?? []
  for (const one of levels) {
    const place = one.level.placeOf.get(id)
    if (place !== undefined) return { ...one, place }
  }
  const one = levels.find(({ level }) => String(level.loaded.level) === depth)
  const place = one?.level.placeOf.get(rest ?? '')
  return one && place !== undefined ? { ...one, place } : undefined
}

export function locationsRoute(app: App, releases: Releases, find: Finder): void {
  app.get(`${EDR_PATH}/collections/:collection/locations`, openRoute(), async (request: ListCall, reply) => {
    const query = parametersOf(request, ['f', 'bbox', 'limit', 'offset'])
    const form = formOf(request, reply, query.f, [GEOJSON_TYPE, JSON_TYPE])
    if (form.isHtml) throw ApiError.invalid('f', 'must be json')
    const [limit, offset] = [limitOf(query.limit), offsetOf(query.offset)]
    const rectangle = rectangleOf(query.bbox, DEFAULT_CRS)
    const collection = await releases.named(request, reply, request.params.collection)
    const inTurn: InTurn = (read) => app.inTurn(request, reply, read)
    const levels = await levelsOf(find, collection, request, reply, inTurn)
    const version = levels.map((one) => one.collection.version).join()
    if (isCached(request, reply, form, version)) return reply.code(304).send()

    const pause = () => app.turns.next(clientKeyOf(request))
    const common = { shapes: find.shapes, form: shapeFormOf(DEFAULT_CRS, OFFSET), inTurn, pause }
    const features: string[] = []
    let matched = 0
    let isOver = false
    for (const [depth, { collection: areas, level }] of levels.entries()) {
      const places = await find.places(level, rectangle, inTurn)
      const from = Math.max(0, offset - matched)
      const shown = places.slice(from, from + limit - features.length)
      matched += places.length
      if (isOver || shown.length === 0) continue
      const properties = find.properties({ ...areas, release: null }, level, { request, reply, inTurn })
      const idOf = (code: string) => idIn(levels, depth, code)
      const { isLate, isFull, ...more } = await featuresAt(
        { ...common, level, properties, idOf },
        shown,
        features,
      )
      features.push(...more.features)
      isOver = isLate || isFull
      if (isLate) forbidKeeping(reply)
    }
    const address = `${rootOf(request)}${EDR_PATH}/collections/${collection.release.code}/locations`
    const next = offset + features.length
    const links = [
      ...selfLinks(address, query, form, GEOJSON_TYPE).filter(({ rel }) => rel === 'self'),
      ...(next < matched
        ? [{ href: withQuery(address, { ...query, limit, offset: next }), rel: 'next', type: GEOJSON_TYPE }]
        : []),
    ]
    const counts = { numberMatched: matched, numberReturned: features.length }
    const head = JSON.stringify({ type: 'FeatureCollection', ...counts, links }).slice(0, -1)
    return reply.type(form.type).send(Buffer.from(`${head},"features":[${features.join(',\n')}]}`))
  })
}

export function locationRoute(app: App, releases: Releases, find: Finder): void {
  app.get(
    `${EDR_PATH}/collections/:collection/locations/:location`,
    openRoute(),
    async (request: LocationCall, reply) => {
      const query = parametersOf(request, DATA_PARAMETERS)
      const { collection: code, location } = request.params
      const collection = await releases.named(request, reply, code)
      const data = dataRequestOf(request, reply, query, collection)
      const inTurn: InTurn = (read) => app.inTurn(request, reply, read)
      const levels = await levelsOf(find, collection, request, reply, inTurn)
      const found = locationIn(levels, location)
      const area = found?.level.areas[found.place]
      if (!found || !area) {
        throw new ApiError(
          'NOT_FOUND',
          `There is no location ${location}: \`locations\` lists those that there are.`,
        )
      }
      if (isDataCached(request, reply, data, found.collection.version)) return reply.code(304).send()
      const { release } = collection
      const asking = { request, reply, inTurn }
      const { value: figures } = await find.figures(release, found.level, [found.place], asking).next()
      const values = meansIn(figures ?? [], release.layers.length)
      // Of the whole area, which may be of several parts: a coverage of polygons would have a value for each.
      const place = { type: 'Point', coordinates: [area.longitude, area.latitude] } as const
      return sendData(reply, data, [{ place, values }], {
        label: area.name,
        endpoint: endpointOf(request, 'locations'),
      })
    },
  )
}
