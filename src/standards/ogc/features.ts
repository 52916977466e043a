import type { AreaFilter, AreaRow } from '#src/catalog/area-queries.ts'
import { ApiError } from '#src/errors.ts'
import { anchor } from '#src/http/plain-page.ts'
import { roundedAmount } from '#src/lib/round.ts'
import { type Areas, chooseShapeFormat } from '../areas.ts'
import {
  type Api,
  addOperation,
  type Call,
  GEOJSON_AND_PAGE,
  GEOJSON_TYPE,
  HTML_TYPE,
  jsonLink,
  type Link,
  type OgcAnswer,
  type Operation,
  pageOf,
  withQuery,
} from './api.ts'
import {
  type Collection,
  FEATURES_A_SLICE,
  type FeatureCollections,
  type Properties,
  readProperties,
} from './feature-collections.ts'
import {
  overlaps,
  readAllowableOffset,
  readBbox,
  readCrs,
  readDatetime,
  readLimit,
  readOffset,
} from './parameters.ts'

/** Features as a buffer, so that GeoJSON has no charset. */
export function writeCollection(head: object, features: readonly string[]): Buffer {
  const start = JSON.stringify({ type: 'FeatureCollection', ...head }).slice(0, -1)
  return Buffer.from(`${start},"features":[${features.join(',\n')}]}`)
}

/** Features of the first areas, as many as there are properties. */
export async function writeFeatures(
  { pause }: Pick<Call, 'pause'>,
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
  ...{
    id: 'getFeature',
    summary: 'A feature',
    tag: 'Data',
    schema: 'featureGeoJSON',
    formats: GEOJSON_AND_PAGE,
  },
  parameters: ['collectionId', 'featureId', 'f', 'crs', 'max-allowable-offset'],
}

const ITEMS: Operation = {
  path: '/collections/{collectionId}/items',
  ...{ id: 'getFeatures', summary: 'Features of a collection', tag: 'Data' },
  ...{ schema: 'featureCollectionGeoJSON', formats: GEOJSON_AND_PAGE },
  parameters: [
    ...(['collectionId', 'f', 'limit', 'offset', 'bbox', 'bbox-crs'] as const),
    ...(['crs', 'datetime', 'max-allowable-offset'] as const),
  ],
}

const ABOVE = [
  ['', 'OGC API'],
  ['/collections', 'Collections'],
] as const

/** Reads how a request wants shapes: pages have none. */
function readShapeOptions({ query, isHtml }: Call) {
  const crs = readCrs('crs', query.crs)
  const format = chooseShapeFormat(crs.kind, readAllowableOffset(query['max-allowable-offset']))
  return { shape: isHtml ? null : format, headers: { 'content-crs': `<${crs.uri}>` } }
}

function linkToCollection(root: string, { id, title }: Collection): Link {
  return jsonLink('collection', withQuery(`${root}/collections/${id}`, { f: 'json' }), title)
}

function addItem(api: Api, collections: FeatureCollections, areas: Areas): void {
  addOperation(api, ITEM, async (call) => {
    const { shape, headers } = readShapeOptions(call)
    const code = call.part('feature')
    const collection = await collections.one(call, call.part('collection'))
    const filter = { ...selectLevel(collection), code, limit: 1, shape }
    const [area] = (await areas.page(filter, call)).areas
    if (!area) throw new ApiError('NOT_FOUND', `${collection.title}: there is no feature ${code}.`)
    const [properties = {}] = await readProperties(areas, collection, [area], call)
    const above = [`/collections/${collection.id}/items`, collection.title] as const
    return {
      links: [linkToCollection(call.root, collection)],
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
  addOperation(api, ITEMS, async (call): Promise<OgcAnswer> => {
    const { query, address } = call
    const [limit, offset] = [readLimit(query.limit), readOffset(query.offset)]
    const period = readDatetime(query.datetime)
    const rectangle = readBbox(query.bbox, readCrs('bbox-crs', query['bbox-crs']))
    const { shape, headers } = readShapeOptions(call)
    const collection = await collections.one(call, call.part('collection'))
    const isOfTime = !period || !collection.period || overlaps(collection.period, period)
    const filter = { ...selectLevel(collection), rectangle, offset, limit, shape }
    const found = isOfTime ? await areas.page(filter, call) : { matched: 0, areas: [] }
    const properties = await readProperties(areas, collection, found.areas, call)
    const ids = found.areas.map((area) => ({ id: area.code, shape: area.shape }))
    const features = call.isHtml ? [] : await writeFeatures(call, ids, properties)
    const head = {
      timeStamp: new Date().toISOString(),
      numberMatched: found.matched,
      numberReturned: properties.length,
    }
    const shown = { offset, limit, returned: properties.length, matched: found.matched }
    return {
      links: [...linksToPages(call, shown), linkToCollection(call.root, collection)],
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
  { address, query, isHtml }: Call,
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
