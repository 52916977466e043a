import type { ProductDefinition } from '#schemas/products/define.ts'
import type { AreaFilter, AreaRow, LoadedLevel } from '#src/catalog/area-queries.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { anchor } from '#src/http/plain-page.ts'
import { roundedAmount } from '#src/lib/round.ts'
import { makeReleaseMembers, type PublishedRelease } from '#src/lookup/releases.ts'
import { countryNamed } from '#src/lookup/snapshot.ts'
import { nameMonth, sortByCode } from '#src/maps/published.ts'
import {
  type Api,
  addOperation,
  type CollectionApi,
  GEOJSON_AND_PAGE,
  GEOJSON_TYPE,
  HTML_TYPE,
  jsonLink,
  type Link,
  mapsLink,
  OGC_PATH,
  type OgcAnswer,
  type OgcRequest,
  type Operation,
  pageOf,
  withQuery,
} from './api.ts'
import { type Areas, chooseShapeFormat } from './areas.ts'
import {
  CRS_URIS,
  DEFAULT_CRS,
  makeMonthPeriod,
  overlaps,
  type Period,
  readAllowableOffset,
  readBbox,
  readCrs,
  readDatetime,
  readLimit,
  readOffset,
} from './parameters.ts'

/** Levels with more areas are no collections: a map program could not hold them. */
const MOST_AREAS = 50_000

/** A collection of features: the areas of one level of a country, or a release in them. */
export interface Collection {
  id: string
  title: string
  description: string
  loaded: LoadedLevel
  countryName: string
  /** The month of its release; null for areas alone. */
  period: Period | null
  /** The release with statistics in the areas; null for areas alone. */
  release: PublishedRelease | null
}

function describeAreas(loaded: LoadedLevel, countryName: string): Collection {
  const { countryCode, level, approximate } = loaded
  const title = level === 0 ? `Outline of ${countryName}` : `Areas of level ${level} of ${countryName}`
  const warning = approximate ? ' They are approximate: made for the demo, not boundaries.' : ''
  return {
    id: `areas-${countryCode}-${level}`,
    title,
    description: `${title}, in the order of their codes.${warning}`,
    loaded,
    countryName,
    period: null,
    release: null,
  }
}

function describeAdvice(
  areas: Collection,
  release: PublishedRelease,
  { names }: ProductDefinition,
): Collection {
  const { loaded, countryName } = areas
  const { code, cropCode, forecastPeriod, synthetic } = release
  const crop = cropCode === null ? '' : ` of ${cropCode}`
  const title = `${names.title}${crop}${nameMonth(forecastPeriod)}, by areas of level ${loaded.level} of ${countryName}`
  const warning = synthetic ? ' The values are synthetic: made by a formula, not by agronomists.' : ''
  return {
    ...areas,
    id: `advisory-${code}-${loaded.level}`,
    title,
    description: `${title}: for each layer of the release ${code} the mean, the least and the greatest value, the standard deviation and how much of the area has values. Each pixel counts by the part of it that lies inside.${warning}`,
    period: forecastPeriod === null ? null : makeMonthPeriod(forecastPeriod),
    release,
  }
}

const ADVICE_ID = /^advisory-(.+)-(\d)$/

export type FeatureCollections = ReturnType<typeof createFeatureCollections>

/** The collections of features: the areas of each level, then each release in them. */
export function createFeatureCollections({ app: { products } }: Api, areas: Areas) {
  async function ofAreas(request: OgcRequest): Promise<Collection[]> {
    const loaded = await areas.loaded(request)
    return loaded
      .filter((level) => level.areas <= MOST_AREAS)
      .flatMap((level) => {
        const name = countryNamed(request.snapshot, level.countryCode)
        return name === undefined ? [] : [describeAreas(level, name)]
      })
  }

  function ofRelease(all: readonly Collection[], release: PublishedRelease): Collection[] {
    return all
      .filter(({ loaded }) => loaded.countryCode === release.countryCode)
      .map((one) => describeAdvice(one, release, products.of(release.product)))
  }

  return {
    /** There may be thousands: each is described when it is taken. */
    async list(request: OgcRequest): Promise<Iterable<Collection>> {
      const all = await ofAreas(request)
      const { published } = request.snapshot
      return (function* () {
        yield* all
        for (const release of sortByCode(published)) yield* ofRelease(all, release)
      })()
    },
    /** The levels of the country of a release. */
    async levels(request: OgcRequest, { countryCode }: PublishedRelease): Promise<number[]> {
      const all = await ofAreas(request)
      return all.flatMap(({ loaded }) => (loaded.countryCode === countryCode ? [loaded.level] : []))
    },
    /** @throws {ApiError} NOT_FOUND for another id */
    async one(request: OgcRequest, id: string): Promise<Collection> {
      const all = await ofAreas(request)
      const [, code] = ADVICE_ID.exec(id) ?? []
      const release = request.snapshot.published.find((one) => one.code === code)
      const found = (release ? ofRelease(all, release) : all).find((collection) => collection.id === id)
      if (found) return found
      const list = `\`GET ${BASE}${OGC_PATH}/collections\` lists those that there are`
      throw new ApiError('NOT_FOUND', `There is no collection ${id}; ${list}.`)
    },
  }
}

/** The properties of a feature. Programs that draw maps want them flat, and the same of every feature of a collection. */
export type Properties = Record<string, string | number | boolean | null>

export function describeArea(
  { code, name, level, parents }: AreaRow,
  countryCode: string,
  country: string,
): Properties {
  const parent = parents.at(-1)?.code ?? null
  return { code, name, level, country_code: countryCode, country, parent }
}

/** The properties of features of some areas; of the first of them where computing takes long. */
export async function readProperties(
  areas: Areas,
  { loaded: { countryCode }, countryName, release }: Collection,
  found: readonly AreaRow[],
  request: OgcRequest,
): Promise<Properties[]> {
  const ofAreas = found.map((area) => describeArea(area, countryCode, countryName))
  if (release === null) return ofAreas
  const members = makeReleaseMembers(release)
  const columns = areas.columnsOf(release)
  const regions = await areas.statistics(release, found, request, performance.now() + COMPUTING_MS)
  const properties: Properties[] = []
  for (const [at, { statistics: values }] of regions.entries()) {
    if (at % FEATURES_A_SLICE === 0) await request.pause()
    const ofRelease = Object.fromEntries(columns.map((column, index) => [column, values[index] ?? null]))
    properties.push({ ...ofAreas[at], ...members, ...ofRelease })
  }
  return properties
}

/** Features that are written without letting others go on: a tenth of a millisecond. */
const FEATURES_A_SLICE = 20

/** How long a page waits for computing; then it ends, and the next one goes on. */
const COMPUTING_MS = 5000

const FEATURES = 'http://www.opengis.net/spec/ogcapi-features-1/1.0/conf'
const FEATURES_CRS = 'http://www.opengis.net/spec/ogcapi-features-2/1.0/conf'

/** The declaration of features: OGC API Features. */
export function declareFeatures(collections: FeatureCollections): CollectionApi<Collection> {
  return {
    base: '',
    name: 'OGC API',
    description:
      'Administrative areas as features, and what the published releases come to in them: for programs that draw maps, open to all, without a token.',
    // The tests try each class.
    conformance: [
      ...['core', 'oas30', 'html', 'geojson'].map((name) => `${FEATURES}/${name}`),
      `${FEATURES_CRS}/crs`,
    ],
    tag: 'Capabilities',
    operations: {
      landing: ['getLandingPage', 'The landing page'],
      conformance: ['getConformanceDeclaration', 'What of the standards is kept'],
      list: ['getCollections', 'The collections'],
      one: ['describeCollection', 'A collection'],
    },
    idParameter: 'collectionId',
    related: (root) => [
      jsonLink('related', `${root}/edr`, 'Releases at points and in areas: OGC API EDR'),
      {
        ...jsonLink(
          'related',
          `${root.slice(0, -OGC_PATH.length)}/releases/{release}/layers/{layer}/tiles.json`,
          'Layers as maps: TileJSON of XYZ tiles',
        ),
        templated: true,
      },
    ],
    list: collections.list,
    one: collections.one,
    members: { crs: CRS_URIS },
    describe: (_request, { id, title, description, loaded: { source, licence, extent }, period }) => ({
      id,
      title,
      description,
      attribution: `${source} (${licence})`,
      extent: {
        ...(extent && { spatial: { bbox: [extent], crs: DEFAULT_CRS.uri } }),
        ...(period && { temporal: { interval: [period.map((time) => new Date(time).toISOString())] } }),
      },
      itemType: 'feature',
      crs: CRS_URIS,
      storageCrs: DEFAULT_CRS.uri,
    }),
    links(root, { id, title, release }) {
      const items = `${root}/collections/${id}/items`
      return [
        jsonLink('items', withQuery(items, { f: 'json' }), `${title}: features as GeoJSON`, GEOJSON_TYPE),
        jsonLink('items', pageOf(items), `${title}: features as a page`, HTML_TYPE),
        ...(release ? [mapsLink(root, release.code)] : []),
      ]
    },
    facts: ({ loaded: { areas, source, licence, extent } }) => ({
      features: areas,
      source: `${source} (${licence})`,
      extent: extent?.join(', ') ?? '',
    }),
  }
}

/** Features as a buffer, so that GeoJSON has no charset. */
export function writeCollection(head: object, features: readonly string[]): Buffer {
  const start = JSON.stringify({ type: 'FeatureCollection', ...head }).slice(0, -1)
  return Buffer.from(`${start},"features":[${features.join(',\n')}]}`)
}

/** Features of the first areas, as many as there are properties. */
export async function writeFeatures(
  { pause }: Pick<OgcRequest, 'pause'>,
  areas: readonly (Pick<AreaRow, 'shape'> & { id: string })[],
  properties: readonly Properties[],
): Promise<string[]> {
  const features: string[] = []
  for (const [at, ofArea] of properties.entries()) {
    if (at % FEATURES_A_SLICE === 0) await pause()
    const { id, shape } = areas[at] as (typeof areas)[number]
    features.push(writeFeature(id, shape, ofArea))
  }
  return features
}

/** A feature, with further members where it stands alone. */
function writeFeature(
  id: string,
  shape: string | null,
  properties: Properties,
  members: object = {},
): string {
  const start = JSON.stringify({ type: 'Feature', id, ...members }).slice(0, -1)
  return `${start},"geometry":${shape},"properties":${JSON.stringify(properties)}}`
}

/** Properties as a page shows them: totals without the digits that only computing has given them. */
function roundTotals(properties: Properties): Properties {
  const shown = Object.entries(properties).map(([name, value]) => [
    name,
    typeof value === 'number' && name.startsWith('total_') ? roundedAmount(value) : value,
  ])
  return Object.fromEntries(shown)
}

const ITEM: Operation = {
  path: '/collections/{collectionId}/items/{featureId}',
  id: 'getFeature',
  summary: 'A feature',
  tag: 'Data',
  schema: 'featureGeoJSON',
  formats: GEOJSON_AND_PAGE,
  parameters: ['collectionId', 'featureId', 'f', 'crs', 'max-allowable-offset'],
}

const ITEMS: Operation = {
  path: '/collections/{collectionId}/items',
  id: 'getFeatures',
  summary: 'Features of a collection',
  tag: 'Data',
  schema: 'featureCollectionGeoJSON',
  formats: GEOJSON_AND_PAGE,
  parameters: [
    'collectionId',
    'f',
    'limit',
    'offset',
    'bbox',
    'bbox-crs',
    'crs',
    'datetime',
    'max-allowable-offset',
  ],
}

const ABOVE = [
  ['', 'OGC API'],
  ['/collections', 'Collections'],
] as const

/** Reads how a request wants shapes: pages have none. */
function readShapeOptions({ query, isHtml }: OgcRequest) {
  const crs = readCrs('crs', query.crs)
  const format = chooseShapeFormat(crs.kind, readAllowableOffset(query['max-allowable-offset']))
  return { shape: isHtml ? null : format, headers: { 'content-crs': `<${crs.uri}>` } }
}

function linkToCollection(root: string, { id, title }: Collection): Link {
  return jsonLink('collection', withQuery(`${root}/collections/${id}`, { f: 'json' }), title)
}

function addItem(api: Api, collections: FeatureCollections, areas: Areas): void {
  addOperation(api, ITEM, async (request) => {
    const { shape, headers } = readShapeOptions(request)
    const code = request.part('feature')
    const collection = await collections.one(request, request.part('collection'))
    const filter = { ...selectLevel(collection), code, limit: 1, shape }
    const [area] = (await areas.page(filter, request)).areas
    if (!area) throw new ApiError('NOT_FOUND', `${collection.title}: there is no feature ${code}.`)
    const [properties = {}] = await readProperties(areas, collection, [area], request)
    const above = [`/collections/${collection.id}/items`, collection.title] as const
    return {
      links: [linkToCollection(request.root, collection)],
      headers,
      json: (links) => Buffer.from(writeFeature(code, area.shape, properties, { links })),
      page: {
        title: area.name,
        above: [...ABOVE, above],
        columns: ['property', 'value'],
        rows: Object.entries(roundTotals(properties)),
      },
    }
  })
}

function selectLevel({
  loaded: { countryCode, level },
}: Collection): Pick<AreaFilter, 'countryCode' | 'levels'> {
  return { countryCode, levels: [level] }
}

function addItems(api: Api, collections: FeatureCollections, areas: Areas): void {
  addOperation(api, ITEMS, async (request): Promise<OgcAnswer> => {
    const { query, address } = request
    const [limit, offset] = [readLimit(query.limit), readOffset(query.offset)]
    const period = readDatetime(query.datetime)
    const rectangle = readBbox(query.bbox, readCrs('bbox-crs', query['bbox-crs']))
    const { shape, headers } = readShapeOptions(request)
    const collection = await collections.one(request, request.part('collection'))
    const isOfTime = !period || !collection.period || overlaps(collection.period, period)
    const filter = { ...selectLevel(collection), rectangle, offset, limit, shape }
    const found = isOfTime ? await areas.page(filter, request) : { matched: 0, areas: [] }
    const properties = await readProperties(areas, collection, found.areas, request)
    const ids = found.areas.map((area) => ({ id: area.code, shape: area.shape }))
    const features = request.isHtml ? [] : await writeFeatures(request, ids, properties)
    const head = {
      timeStamp: new Date().toISOString(),
      numberMatched: found.matched,
      numberReturned: properties.length,
    }
    const shown = { offset, limit, returned: properties.length, matched: found.matched }
    return {
      links: [...linksToPages(request, shown), linkToCollection(request.root, collection)],
      headers,
      json: (links) => writeCollection({ ...head, links }, features),
      page: {
        title: `${collection.title}: features`,
        above: [...ABOVE, [`/collections/${collection.id}`, collection.title]],
        text: `${properties.length} of ${found.matched} features, from number ${offset + 1} on.`,
        columns: ['id', ...Object.keys(properties[0] ?? {})],
        rows: properties.map(roundTotals).map((row) => {
          const code = String(row.code)
          return [anchor(pageOf(`${address}/${encodeURIComponent(code)}`), code), ...Object.values(row)]
        }),
      },
    }
  })
}

interface Shown {
  offset: number
  limit: number
  returned: number
  matched: number
}

export function linksToPages(
  { address, query, isHtml }: OgcRequest,
  { offset, limit, returned, matched }: Shown,
): Link[] {
  const page = (rel: string, title: string, from: number): Link => ({
    href: withQuery(address, { ...query, offset: from, limit }),
    rel,
    type: isHtml ? HTML_TYPE : GEOJSON_TYPE,
    title,
  })
  return [
    ...(offset + returned < matched ? [page('next', 'The next page', offset + returned)] : []),
    ...(offset > 0 ? [page('prev', 'The page before', Math.max(0, offset - limit))] : []),
  ]
}

export function addFeatures(api: Api, collections: FeatureCollections, areas: Areas): void {
  addItems(api, collections, areas)
  addItem(api, collections, areas)
}
