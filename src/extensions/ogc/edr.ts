import type { Products } from '#schemas/products/define.ts'
import type { RegionStatistics } from '#src/advice/region-statistics.ts'
import { ApiError, BASE, refuseIfReplaced } from '#src/errors.ts'
import { readWkt } from '#src/http/wkt.ts'
import { ALL_LAYERS } from '#src/lookup/conditions.ts'
import { nameColumn } from '#src/lookup/entries.ts'
import type { Position } from '#src/lookup/layers.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { countryNamed, type Snapshot } from '#src/lookup/snapshot.ts'
import {
  boundReleases,
  describeCompanion,
  labelLayer,
  listLayers,
  nameRelease,
  selectPublished,
  sortByCode,
} from '#src/maps/published.ts'
import {
  type Api,
  addOperation,
  type CollectionApi,
  GEOJSON_ONLY,
  GEOJSON_TYPE,
  jsonLink,
  type Link,
  mapsLink,
  OGC_PATH,
  type OgcRequest,
  type Operation,
} from './api.ts'
import { type Areas, chooseShapeFormat } from './areas.ts'
import { type Located, type ReleaseParameter, writeCoverageJson, writeGeoJson } from './coverage-json.ts'
import {
  describeArea,
  type FeatureCollections,
  linksToPages,
  writeCollection,
  writeFeatures,
} from './features.ts'
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

/** The paths of EDR begin with it, below those of the OGC API. */
const EDR_PATH = '/edr'

/** CRS84 as well-known text (OGC 01-009), with the longitude first. */
const CRS84_WKT =
  'GEOGCS["WGS 84 (CRS84)",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433],AXIS["Longitude",EAST],AXIS["Latitude",NORTH]]'

/** A parameter a layer, and one for each band about layers. Ids are words that need no escaping. */
function listParameters({ of }: Products, release: PublishedRelease): ReleaseParameter[] {
  const product = of(release.product)
  const taken = new Set<string>()
  return listLayers(release).map((layer, at) => {
    const word = nameColumn(product, layer, layer.role ?? product.value.key)
      .toLowerCase()
      .replaceAll(/[^a-z0-9]+/g, '_')
    const id = taken.has(word) ? `${word}_${at + 1}` : word
    taken.add(id)
    const title = [product.names.title, labelLayer(layer)].filter((part) => part !== '').join(', ')
    const unit = layer.role === undefined ? product.unit : layer.unit
    return { id, layer: at, title, description: describeCompanion(release, layer) ?? title, unit }
  })
}

/** The first moment of the month of a release; null for one without. */
function readTime({ forecastPeriod }: PublishedRelease): string | null {
  return forecastPeriod && `${forecastPeriod.slice(0, 10)}T00:00:00Z`
}

/** @throws {ApiError} NOT_FOUND for a code that is not published */
function findCollectionRelease(snapshot: Snapshot, code: string): PublishedRelease {
  const list = `\`GET ${BASE}${OGC_PATH}${EDR_PATH}/collections\` lists those that there are`
  return selectPublished(snapshot, code, `There is no collection ${code}; ${list}.`)
}

const EDR = 'http://www.opengis.net/spec/ogcapi-edr-1/1.1/conf'

interface ValueQuery extends Pick<Operation, 'path' | 'id' | 'summary'> {
  /** As collections have it. */
  title: string
  parameter: ParameterKey
}

/** The queries for values. */
const QUERIES: Record<'position' | 'area' | 'locations', ValueQuery> = {
  position: {
    title: 'The values of the pixel at a point, or at each of several',
    path: '/position',
    id: 'getPosition',
    summary: 'Values at a point',
    parameter: 'pointCoords',
  },
  area: {
    title: 'The means in a polygon, each pixel by the part of it that lies inside',
    path: '/area',
    id: 'getArea',
    summary: 'Means in a polygon',
    parameter: 'areaCoords',
  },
  locations: {
    title: 'The means in administrative areas, by their codes',
    path: '/locations/{locationId}',
    id: 'getLocation',
    summary: 'Means in an area',
    parameter: 'locationId',
  },
}

const FORMAT_NAMES = Object.keys(VALUE_FORMATS)

/** Links to the values of a release, by query. */
function linkQueries(root: string, { code }: PublishedRelease): [name: string, link: Link][] {
  return Object.entries(QUERIES).map(([name, { title }]) => [
    name,
    jsonLink('data', `${root}${EDR_PATH}/collections/${code}/${name}`, title, VALUE_FORMATS.CoverageJSON),
  ])
}

function describeQuery(name: string, { href, rel, type, title }: Link) {
  const variables = {
    title,
    query_type: name,
    output_formats: FORMAT_NAMES,
    default_output_format: FORMAT_NAMES[0],
    crs_details: [{ crs: 'CRS84', wkt: CRS84_WKT }],
  }
  return { link: { href, rel, type, title, variables } }
}

function describeExtent(release: PublishedRelease) {
  const spatial = { bbox: [boundReleases([release])], crs: DEFAULT_CRS.uri }
  const time = readTime(release)
  if (time === null) return { spatial }
  const last = new Date(makeMonthPeriod(time)[1]).toISOString().replace('.000', '')
  return { spatial, temporal: { interval: [[time, last]], values: [time], trs: 'Gregorian' } }
}

/** The declaration of releases: OGC API Environmental Data Retrieval. */
export function declareReleases({ app: { products } }: Api): CollectionApi<PublishedRelease> {
  return {
    base: EDR_PATH,
    name: 'OGC API EDR',
    description:
      'What the published releases say at a point, in a polygon and in administrative areas: OGC API Environmental Data Retrieval, open to all, without a token.',
    // The tests try each class. Values are no pages: the class of HTML is not among them.
    conformance: [
      'http://www.opengis.net/spec/ogcapi-common-1/1.0/conf/core',
      'http://www.opengis.net/spec/ogcapi-common-2/1.0/conf/collections',
      ...['core', 'collections', 'json', 'geojson', 'covjson', 'oas30', 'queries'].map(
        (name) => `${EDR}/${name}`,
      ),
    ],
    tag: 'EDR',
    operations: {
      landing: ['getEdrLandingPage', 'The landing page of EDR'],
      conformance: ['getEdrConformance', 'What of EDR is kept'],
      list: ['getReleases', 'The published releases'],
      one: ['describeRelease', 'Get a release'],
    },
    idParameter: 'releaseId',
    related: () => [],
    list: async ({ snapshot }) => sortByCode(snapshot.published),
    one: async ({ snapshot }, code) => findCollectionRelease(snapshot, code),
    describe({ root, snapshot }, release) {
      const { code, source, licence, synthetic } = release
      const title = nameRelease(products.of(release.product).names.title, release, snapshot)
      const warning = synthetic ? 'The values are synthetic: made by a formula, not by agronomists. ' : ''
      const queries = linkQueries(root, release).map(([name, link]) => [name, describeQuery(name, link)])
      const parameters = listParameters(products, release)
      return {
        id: code,
        title,
        description: `${title}. ${warning}Source: ${source} (${licence}).`,
        extent: describeExtent(release),
        data_queries: Object.fromEntries(queries),
        crs: ['CRS84'],
        output_formats: FORMAT_NAMES,
        parameter_names: Object.fromEntries(parameters.map((one) => [one.id, describeParameter(one)])),
      }
    },
    links: (root, release) => [
      ...linkQueries(root, release).map(([, link]) => link),
      mapsLink(root, release.code),
    ],
    facts: (release) =>
      Object.fromEntries(
        listParameters(products, release).map(({ id, title, unit }) => [id, `${title} (${unit})`]),
      ),
  }
}

function describeParameter({ id, title, description, unit }: ReleaseParameter) {
  return {
    id,
    type: 'Parameter',
    description,
    'data-type': 'float',
    unit: { label: unit, symbol: unit },
    observedProperty: { label: title },
  }
}

type Edr = CollectionApi<PublishedRelease>

const COLLECTION = `${EDR_PATH}/collections/{releaseId}`

/** The names of the one system of positions and answers. */
const CRS_NAMES = ['CRS84', DEFAULT_CRS.uri]

/** Values of all bands of a release, of all conditions, at places, and what names the places. */
type FindValues = (
  request: OgcRequest,
  release: PublishedRelease,
) => Promise<{ label: string; located: readonly Located[] }>

/** Adds an operation that answers with values, which are no pages. */
function addValues(api: Api, edr: Edr, name: keyof typeof QUERIES, find: FindValues): void {
  const { path, id, summary, parameter } = QUERIES[name]
  const operation: Operation = {
    path: COLLECTION + path,
    id,
    summary,
    tag: 'EDR',
    formats: VALUE_FORMATS,
    schema: 'featureCollectionGeoJSON',
    parameters: ['releaseId', 'parameter-name', 'datetime', 'dataCrs', 'dataFormat', parameter],
  }

  addOperation(api, operation, async (request) => {
    const { crs, datetime, 'parameter-name': names } = request.query
    const release = await edr.one(request, request.part('collection'))
    if (crs !== undefined && !CRS_NAMES.includes(crs)) {
      throw ApiError.invalid('crs', `must be one of ${CRS_NAMES.join(', ')}`, CRS_NAMES)
    }
    const [time, period] = [readTime(release), readDatetime(datetime)]
    if (time !== null && period !== null && !overlaps(makeMonthPeriod(time), period)) {
      throw ApiError.invalid('datetime', `must meet the month of ${release.code}, which begins at ${time}`)
    }
    const parameters = chooseParameters(listParameters(api.app.products, release), names)
    const { label, located } = await find(request, release)
    const chosen = located.map(({ place, values }) => ({
      place,
      values: parameters.map(({ layer }) => values[layer] ?? null),
    }))
    const endpoint = `${request.root}${EDR_PATH}/collections/${release.code}/${name}`
    const body =
      request.type === GEOJSON_TYPE
        ? writeGeoJson({ parameters, time }, chosen, { label, endpoint })
        : writeCoverageJson({ parameters, time }, chosen)
    // As a buffer: the type of CoverageJSON has no parameters.
    return {
      headers: { 'advisory-release': release.code },
      json: () => Buffer.from(JSON.stringify(body)),
    }
  })
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

/** So many points are answered at once; `POST /advisory/{product}/points` takes more. */
const MOST_POINTS = 100

/** So many polygons of one request are computed, one after the other. */
const MOST_POLYGONS = 10

function addPosition(api: Api, edr: Edr): void {
  const { lookup } = api

  addValues(api, edr, 'position', async ({ exchange, pause, query }, { code, layers, companions }) => {
    const positions = readPositions(query.coords)
    const [{ longitude, latitude }] = positions as [Position]
    const found = await exchange.wait(() =>
      lookup.inSnapshotQueued(exchange.clientKey, async (snapshot) => {
        const release = findCollectionRelease(snapshot, code)
        await pause()
        const places = positions.map((position) => ({ ...position, condition: ALL_LAYERS }) as const)
        const ofPoints = await lookup.valuesAt(release, places)
        // The reason for a missing value is the answer to one point; of several, each is null.
        if (positions.length > 1 || ofPoints[0]) return ofPoints
        throw await lookup.reasons.noValue(snapshot, release, { longitude, latitude }, 'point')
      }),
    )
    await pause()
    const located = positions.map(
      (position, at): Located => ({
        place: { type: 'Point', coordinates: [position.longitude, position.latitude] },
        values: [...layers, ...companions].map((_, layer) => {
          const value = found[at]?.[layer] ?? Number.NaN
          return Number.isNaN(value) ? null : value
        }),
      }),
    )
    const label =
      positions.length === 1 ? `Longitude ${longitude}, latitude ${latitude}` : `${positions.length} points`
    return { label, located }
  })
}

/** @throws {ApiError} INVALID_PARAMETERS for points beyond the earth, and too many of them */
function readPositions(coords: string | undefined): Position[] {
  const points = readWkt('coords', coords, 'POINT') as [number, number][]
  if (points.length > MOST_POINTS) throw ApiError.invalid('coords', `may have ${MOST_POINTS} points`)
  return points.map(([longitude, latitude]) => {
    if (Math.abs(longitude) <= 180 && Math.abs(latitude) <= 90) return { longitude, latitude }
    throw ApiError.invalid('coords', 'must have a longitude from -180 to 180, then a latitude from -90 to 90')
  })
}

function addArea(api: Api, edr: Edr, figures: RegionStatistics): void {
  addValues(api, edr, 'area', async ({ exchange, query }, release) => {
    const polygons = readWkt('coords', query.coords, 'POLYGON')
    if (polygons.length > MOST_POLYGONS) {
      throw ApiError.invalid('coords', `must have ${MOST_POLYGONS} polygons or fewer`)
    }
    const located: Located[] = []
    for (const coordinates of polygons) {
      const place = { type: 'Polygon', coordinates } as const
      const sent = { value: place, at: 'coords' }
      const found = await refuseIfReplaced(() => figures.inPolygon(release, sent, exchange))
      located.push({ place, values: found.means })
    }
    return { label: 'Area', located }
  })
}

/** By how many degrees the borders of locations in their list may be off: about a kilometre. */
const OFFSET = 0.01

const LOCATIONS: Operation = {
  path: `${COLLECTION}/locations`,
  id: 'getLocations',
  summary: 'The areas',
  tag: 'EDR',
  formats: GEOJSON_ONLY,
  schema: 'featureCollectionGeoJSON',
  parameters: ['releaseId', 'bbox', 'limit', 'offset'],
}

interface LocationSource {
  collections: FeatureCollections
  areas: Areas
}

function addLocations(api: Api, edr: Edr, { collections, areas }: LocationSource): void {
  const shape = chooseShapeFormat(DEFAULT_CRS.kind, OFFSET)

  addOperation(api, LOCATIONS, async (request) => {
    const { query, snapshot } = request
    const [limit, offset] = [readLimit(query.limit), readOffset(query.offset)]
    const rectangle = readBbox(query.bbox, DEFAULT_CRS)
    const release = await edr.one(request, request.part('collection'))
    const { countryCode } = release
    const levels = await collections.levels(request, release)
    const page = await areas.page({ countryCode, levels, rectangle, offset, limit, shape }, request)
    const country = countryNamed(snapshot, countryCode) ?? countryCode
    const properties = page.areas.map((area) => describeArea(area, countryCode, country))
    // Named by its code; by level and code where an area of a level above has the same one.
    const ids = page.areas.map(({ level, firstLevel, code, shape }) => ({
      id: level === firstLevel ? code : `${level}:${code}`,
      shape,
    }))
    const features = await writeFeatures(request, ids, properties)
    const returned = features.length
    return {
      links: linksToPages(request, { offset, limit, returned, matched: page.matched }),
      json: (links) =>
        writeCollection({ numberMatched: page.matched, numberReturned: returned, links }, features),
    }
  })
}

const LOCATION_ID = /^(\d+):(.*)$/s

function addLocation(api: Api, edr: Edr, { collections, areas }: LocationSource): void {
  /** The area of the highest level with a code, or else that of a level and code. */
  async function findLocation(request: OgcRequest, release: PublishedRelease, id: string) {
    const { countryCode } = release
    const levels = await collections.levels(request, release)
    const find = async (among: number[], code: string) =>
      (await areas.page({ countryCode, levels: among, code, limit: 1 }, request)).areas[0]
    const [, level, code = ''] = LOCATION_ID.exec(id) ?? []
    const named = levels.filter((one) => String(one) === level)
    return (await find(levels, id)) ?? find(named, code)
  }

  addValues(api, edr, 'locations', async (request, release) => {
    const location = request.part('location')
    const area = await findLocation(request, release, location)
    if (!area) {
      const sentence = `There is no location ${location}: \`locations\` lists those that there are.`
      throw new ApiError('NOT_FOUND', sentence)
    }
    const { longitude, latitude, name } = area
    const [found] = await areas.statistics(release, [area], request, 0)
    // Of the whole area, which may have several parts: a coverage of polygons would have a value for each.
    const place = { type: 'Point', coordinates: [longitude, latitude] } as const
    return { label: name, located: [{ place, values: found?.means ?? [] }] }
  })
}

export function addQueries(api: Api, edr: Edr, figures: RegionStatistics, source: LocationSource): void {
  addPosition(api, edr)
  addArea(api, edr, figures)
  addLocations(api, edr, source)
  addLocation(api, edr, source)
}
