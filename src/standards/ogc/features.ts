import { ApiError } from '#src/errors.ts'
import { anchor, paragraph, renderCells } from '#src/http/plain-page.ts'
import { roundedAmount } from '#src/lib/round.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { ShapeFormat } from '../area-queries.ts'
import { type AreaLevel, type Areas, chooseShapeFormat } from '../areas.ts'
import {
  type Api,
  addOperation,
  type Call,
  forbidKeeping,
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

/** A page with more characters ends early. */
const MOST_CHARACTERS = 4_000_000

/** Features that are written without letting others go on: a tenth of a millisecond. */
const FEATURES_A_SLICE = 20

/** The codes of errors where an item is late. */
const LATE = ['OVERLOADED', 'QUERY_TIMEOUT', 'DATABASE_UNAVAILABLE']

export interface FeatureSource {
  /** The id of the feature at a place. */
  idAt(place: number): string
  shapes(places: readonly number[]): AsyncGenerator<string, void>
  properties(places: readonly number[]): AsyncGenerator<Properties, void>
  pause: Pause
}

/** The features of a collection, named by the codes of their areas. */
export function sourceFeatures(
  areas: Areas,
  collection: Collection,
  level: AreaLevel,
  format: ShapeFormat,
  call: Call,
): FeatureSource {
  return {
    idAt: (place) => level.areas[place]?.code ?? '',
    shapes: (places) => areas.shapes(level, places, format, call.inTurn),
    properties: (places) => readProperties(areas, collection, level, places, call),
    pause: call.pause,
  }
}

interface FeatureTexts {
  features: string[]
  /** Whether further ones take too long. */
  isLate: boolean
  /** Whether the page has no space for more. */
  isFull: boolean
}

/**
 * Writes the features at some places of a level, as far as one page has space and time for them.
 *
 * @param before features that the page has before these
 */
export async function writeFeatures(
  { idAt, shapes, properties, pause }: FeatureSource,
  places: readonly number[],
  before: readonly string[] = [],
): Promise<FeatureTexts> {
  const found = endWhenLate(shapes(places), before.length > 0)
  const features: string[] = []
  let space = before.reduce((left, { length }) => left - length, MOST_CHARACTERS)
  for await (const ofPlace of endWhenLate(properties(places), before.length > 0)) {
    const { value: shape, done } = await found.next()
    if (done) break
    if (features.length % FEATURES_A_SLICE === 0) await pause()
    const feature = writeFeature(idAt(places[features.length] as number), shape, ofPlace)
    features.push(feature)
    space -= feature.length
    if (space < 0) break
  }
  await found.return(undefined)
  const isFull = space < 0
  return { features, isLate: !isFull && features.length < places.length, isFull }
}

/** Reads the properties of features, as far as one page has space and time for them. */
export async function readRows(
  { properties, pause }: Pick<FeatureSource, 'properties' | 'pause'>,
  places: readonly number[],
): Promise<{ rows: Properties[]; isLate: boolean }> {
  const rows: Properties[] = []
  let space = MOST_CHARACTERS
  for await (const row of endWhenLate(properties(places), false)) {
    if (rows.length % FEATURES_A_SLICE === 0) await pause()
    rows.push(row)
    space -= JSON.stringify(row).length
    if (space < 0) break
  }
  return { rows, isLate: space >= 0 && rows.length < places.length }
}

/** Ends before a late item: the page keeps the others, and the next page goes on. */
async function* endWhenLate<Item>(
  items: AsyncGenerator<Item, void>,
  isPageBegun: boolean,
): AsyncGenerator<Item, void> {
  let isBegun = isPageBegun
  try {
    for await (const item of items) {
      isBegun = true
      yield item
    }
  } catch (error) {
    if (!isBegun || !(error instanceof ApiError && LATE.includes(error.code))) throw error
  }
}

/** A feature, with further members where it stands alone. */
function writeFeature(id: string, shape: string, properties: Properties, members: object = {}): string {
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
  ...{ id: 'getFeature', summary: 'A feature', tag: 'Data', schema: 'Feature', formats: GEOJSON_AND_PAGE },
  parameters: ['collectionId', 'featureId', 'f', 'crs', 'max-allowable-offset'],
}

const ITEMS: Operation = {
  path: '/collections/{collectionId}/items',
  ...{ id: 'getFeatures', summary: 'Features of a collection', tag: 'Data' },
  ...{ schema: 'FeatureCollection', formats: GEOJSON_AND_PAGE },
  parameters: [
    ...(['collectionId', 'f', 'limit', 'offset', 'bbox', 'bbox-crs'] as const),
    ...(['crs', 'datetime', 'max-allowable-offset'] as const),
  ],
}

const ABOVE = [
  ['', 'OGC API'],
  ['/collections', 'Collections'],
] as const

/** Reads how a request wants shapes. */
function readShapeOptions({ query }: Call) {
  const crs = readCrs('crs', query.crs)
  const format = chooseShapeFormat(crs.kind, readAllowableOffset(query['max-allowable-offset']))
  return { format, headers: { 'content-crs': `<${crs.uri}>` } }
}

function linkToCollection(root: string, { id, title }: Collection): Link {
  return jsonLink('collection', withQuery(`${root}/collections/${id}`, { f: 'json' }), title)
}

function addItem(api: Api, collections: FeatureCollections, areas: Areas): void {
  addOperation(api, ITEM, async (call) => {
    const { root, inTurn } = call
    const { format, headers } = readShapeOptions(call)
    const code = call.part('feature')
    const collection = await collections.one(call, call.part('collection'))
    const level = await areas.level(collection.loaded, inTurn)
    const place = level.placeOf.get(code)
    if (place === undefined) {
      throw new ApiError('NOT_FOUND', `${collection.title}: there is no feature ${code}.`)
    }
    async function make(): Promise<OgcAnswer> {
      const source = sourceFeatures(areas, collection, level, format, call)
      const { value: properties } = await source.properties([place as number]).next()
      const links = [linkToCollection(root, collection)]
      if (call.isHtml) {
        const title = level.areas[place as number]?.name ?? code
        const above = [...ABOVE, [`/collections/${collection.id}/items`, collection.title] as const]
        const rows = Object.entries(roundTotals(properties || {}))
        return { links, page: { title, above, parts: [renderCells(['property', 'value'], rows)] } }
      }
      const { value: shape } = await source.shapes([place as number]).next()
      const json = (all: readonly Link[]) =>
        Buffer.from(writeFeature(code, shape || 'null', properties || {}, { links: all }))
      return { links, headers, json }
    }
    return { version: collection.version, make }
  })
}

interface Selection {
  collection: Collection
  level: AreaLevel
  /** Of all features that match. */
  places: readonly number[]
  offset: number
  limit: number
}

function addItems(api: Api, collections: FeatureCollections, areas: Areas): void {
  addOperation(api, ITEMS, async (call) => {
    const { query, inTurn } = call
    const [limit, offset] = [readLimit(query.limit), readOffset(query.offset)]
    const period = readDatetime(query.datetime)
    const rectangle = readBbox(query.bbox, readCrs('bbox-crs', query['bbox-crs']))
    const { format, headers } = readShapeOptions(call)
    const collection = await collections.one(call, call.part('collection'))

    async function make(): Promise<OgcAnswer> {
      const level = await areas.level(collection.loaded, inTurn)
      const isOfTime = !period || !collection.period || overlaps(collection.period, period)
      const places = isOfTime ? await areas.places(level, rectangle, inTurn) : []
      const selection = { collection, level, places, offset, limit }
      const source = sourceFeatures(areas, collection, level, format, call)
      const page = places.slice(offset, offset + limit)
      if (call.isHtml) return makeTable(call, selection, await readRows(source, page))
      const { features, isLate } = await writeFeatures(source, page)
      if (isLate) forbidKeeping(call)
      const head = {
        timeStamp: new Date().toISOString(),
        numberMatched: places.length,
        numberReturned: features.length,
      }
      return {
        links: linksToPages(call, selection, features.length),
        headers,
        json: (links) => writeCollection({ ...head, links }, features),
      }
    }
    return { version: collection.version, make }
  })
}

/** Features as a buffer: GeoJSON has no charset, and a text would be sent with one. */
export function writeCollection(head: object, features: readonly string[]): Buffer {
  const start = JSON.stringify({ type: 'FeatureCollection', ...head }).slice(0, -1)
  return Buffer.from(`${start},"features":[${features.join(',\n')}]}`)
}

function linksToPages(
  { root, address, query, isHtml }: Call,
  { collection, places, offset, limit }: Selection,
  returned: number,
): Link[] {
  const page = (rel: string, title: string, from: number): Link => ({
    href: withQuery(address, { ...query, offset: from, limit }),
    rel,
    type: isHtml ? HTML_TYPE : GEOJSON_TYPE,
    title,
  })
  return [
    ...(offset + returned < places.length ? [page('next', 'The next page', offset + returned)] : []),
    ...(offset > 0 ? [page('prev', 'The page before', Math.max(0, offset - limit))] : []),
    linkToCollection(root, collection),
  ]
}

function makeTable(
  call: Call,
  selection: Selection,
  { rows, isLate }: { rows: readonly Properties[]; isLate: boolean },
): OgcAnswer {
  const { collection, level, places, offset } = selection
  if (isLate) forbidKeeping(call)
  const columns = Object.keys(rows[0] ?? {})
  const cells = rows.map(roundTotals).map((row, at) => {
    const code = level.areas[places[offset + at] as number]?.code ?? ''
    const item = anchor(pageOf(`${call.address}/${encodeURIComponent(code)}`), code)
    return [item, ...columns.map((column) => row[column] ?? null)]
  })
  return {
    links: linksToPages(call, selection, rows.length),
    page: {
      title: `${collection.title}: features`,
      above: [...ABOVE, [`/collections/${collection.id}`, collection.title]],
      parts: [
        paragraph(`${rows.length} of ${places.length} features, from number ${offset + 1} on.`),
        renderCells(['id', ...columns], cells),
      ],
    },
  }
}

export function addFeatures(api: Api, collections: FeatureCollections, areas: Areas): void {
  addItems(api, collections, areas)
  addItem(api, collections, areas)
}
