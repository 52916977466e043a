import type { ReleaseLink } from '#schemas/catalog.ts'
import { ref } from '#schemas/common.ts'
import { rectangle } from '#schemas/geojson.ts'
import { type LayerName, MOST_LIKELY } from '#schemas/map.ts'
import { SERVICE_NAME } from '#schemas/service.ts'
import { findDocumentation } from '#src/config.ts'
import { chooseSampleType } from '#src/data/tiles/tiff.ts'
import { ApiError, BASE } from '#src/errors.ts'
import { isOffered } from '#src/extensions/downloads/geotiff-writer.ts'
import { type App, errorResponses } from '#src/http/app.ts'
import { entityTag } from '#src/http/entity-tags.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { allowCaching } from '#src/http/plugins/caching.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { countryNamed, type Snapshot } from '#src/lookup/snapshot.ts'
import {
  boundReleases,
  describeCompanion,
  findSeasonOdds,
  type Layer,
  labelLayer,
  layersAddress,
  listLayers,
  nameRelease,
  selectPublished,
  sortByCode,
} from '#src/maps/published.ts'
import { PIXEL_TYPES, type PixelType, storedNodata } from '#src/raster/pixels.ts'
import {
  COG_TYPE,
  GEOJSON_TYPE,
  PROJECTION,
  RASTER,
  STAC_VERSION,
  type StacAsset,
  type StacBand,
  StacCatalog,
  StacCollection,
  StacCollectionParams,
  StacItem,
  StacItemParams,
  type StacLink,
  type StacLinkTemplate,
  type StacProvider,
  stacSchemas,
} from './schemas.ts'

const JSON_TYPE = 'application/json'

function makeLink(rel: string, href: string, type = JSON_TYPE, title?: string): StacLink {
  return { rel, href, type, ...(title !== undefined && { title }) }
}

/** The period of use of a release: its season, as far as that is known; the time of loading without one. */
function periodOf({ forecastPeriod, validUntil, createdAt }: PublishedRelease): [start: string, end: string] {
  if (forecastPeriod === null) return [createdAt.toISOString(), createdAt.toISOString()]
  const [year, month] = forecastPeriod.split('-').map(Number) as [number, number]
  // Day 0 of a month is the last one of the month before.
  const last = validUntil ?? new Date(Date.UTC(year, month, 0)).toISOString()
  return [`${forecastPeriod.slice(0, 10)}T00:00:00.000Z`, `${last.slice(0, 10)}T23:59:59.000Z`]
}

/** Texts that may be a code of SPDX. */
const LICENCE_CODE = /^[\w\-.+]+$/

/** The licence of releases: a code where all have the same, `other` for texts, with a link to them. */
function describeLicence(root: string, releases: readonly PublishedRelease[]) {
  const [first = '', ...others] = new Set(releases.map(({ licence }) => licence))
  if (others.length === 0 && LICENCE_CODE.test(first)) return { license: first, licenseLinks: [] }
  const link = makeLink('license', `${root}/catalog`, JSON_TYPE, 'The licence of each release')
  return { license: 'other', licenseLinks: [link] }
}

function describeProviders(root: string, releases: readonly PublishedRelease[]): StacProvider[] {
  const sources = new Set(releases.map(({ source }) => source))
  return [
    ...[...sources].map((name): StacProvider => ({ name, roles: ['producer', 'licensor'] })),
    { name: SERVICE_NAME, roles: ['host'], url: `${root}/` },
  ]
}

/** A collection: the releases of a product in a country. */
interface Series {
  /** No code of a country has a dash in it. */
  id: string
  title: string
  releases: readonly PublishedRelease[]
}

/** The whole catalog: a child a product and country. */
function writeCatalog({ config }: App, root: string, series: readonly Series[]): StacCatalog {
  const docs = findDocumentation(config)
  const self = `${root}/stac`
  return {
    type: 'Catalog',
    stac_version: STAC_VERSION,
    id: 'agro-advisory',
    title: SERVICE_NAME,
    description:
      'What is published: a collection for each product and country, in it an item for each release.',
    links: [
      makeLink('self', self),
      makeLink('root', self),
      ...series.map(({ id, title }) => makeLink('child', `${self}/collections/${id}`, JSON_TYPE, title)),
      makeLink('service-desc', `${root}/openapi.json`, JSON_TYPE, 'The OpenAPI document'),
      ...(docs === undefined
        ? []
        : [makeLink('service-doc', root + docs, 'text/html', 'The page on which operations can be tried')]),
    ],
  }
}

function describeAddresses(
  { config }: App,
  links: readonly ReleaseLink[],
  root: string,
  countryCode: string,
): StacLinkTemplate[] {
  return links.flatMap(({ name: rel, title, variables, address }) => {
    const uriTemplate = address(config, root, countryCode)
    return uriTemplate === null ? [] : [{ rel, title, uriTemplate, variables }]
  })
}

function writeCollection(
  root: string,
  { id, title, releases }: Series,
  linkTemplates: StacLinkTemplate[],
): StacCollection {
  const self = `${root}/stac/collections/${id}`
  const periods = releases.map(periodOf)
  const [starts, ends] = [periods.map(([start]) => start), periods.map(([, end]) => end)]
  const { license, licenseLinks } = describeLicence(root, releases)
  return {
    type: 'Collection',
    stac_version: STAC_VERSION,
    id,
    title,
    description: `${title}: the releases that are published.`,
    license,
    providers: describeProviders(root, releases),
    extent: {
      spatial: { bbox: [boundReleases(releases)] },
      temporal: {
        interval: [[starts.sort()[0] ?? null, ends.sort().at(-1) ?? null]],
      },
    },
    links: [
      makeLink('self', self),
      makeLink('root', `${root}/stac`),
      makeLink('parent', `${root}/stac`),
      ...releases.map(({ code }) =>
        makeLink('item', `${self}/items/${encodeURIComponent(code)}`, GEOJSON_TYPE, code),
      ),
      ...licenseLinks,
    ],
    ...(linkTemplates.length > 0 && { linkTemplates }),
  }
}

/** A release as an item, with its layers as assets. */
function writeItem(
  root: string,
  { id, title }: { id: string; title: string },
  release: PublishedRelease,
  assets: readonly (readonly [string, StacAsset])[],
): StacItem {
  const { code, forecastPeriod, createdAt, synthetic } = release
  const parent = `${root}/stac/collections/${id}`
  const bbox = boundReleases([release])
  const [start_datetime, end_datetime] = periodOf(release)
  const created = createdAt.toISOString()
  const { license, licenseLinks } = describeLicence(root, [release])
  return {
    type: 'Feature',
    stac_version: STAC_VERSION,
    stac_extensions: [PROJECTION, RASTER],
    id: code,
    collection: id,
    bbox,
    geometry: rectangle(...bbox),
    properties: {
      title,
      ...(forecastPeriod === null ? { datetime: created } : { datetime: null, start_datetime, end_datetime }),
      created,
      license,
      providers: describeProviders(root, [release]),
      synthetic,
    },
    links: [
      makeLink('self', `${parent}/items/${encodeURIComponent(code)}`, GEOJSON_TYPE),
      makeLink('root', `${root}/stac`),
      makeLink('parent', parent),
      makeLink('collection', parent),
      ...licenseLinks,
    ],
    assets: Object.fromEntries(assets),
  }
}

/** The ids that the EPSG gives; systems that were added to PostGIS have others. */
const LARGEST_EPSG = 32_766

/** A layer as a file, where the service offers it, and as a map. */
function describeAssets(
  { config }: App,
  root: string,
  release: PublishedRelease,
  layer: Layer,
): [string, StacAsset][] {
  const { code } = release
  const { number, coverage, pixelType } = layer
  const { srid, width, height, originX, originY, pixelWidth, pixelHeight } = coverage
  const label = labelLayer(layer) || `Layer ${number}`
  const description = describeCompanion(release, layer)
  const file: StacAsset = {
    href: `${layersAddress(root, code)}/${number}.tif`,
    type: COG_TYPE,
    title: label,
    ...(description !== undefined && { description }),
    roles: ['data'],
    bands: [describeBand(layer, label)],
    'proj:code': srid <= LARGEST_EPSG ? `EPSG:${srid}` : null,
    'proj:shape': [height, width],
    'proj:transform': [pixelWidth, 0, originX, 0, pixelHeight, originY],
  }
  const files: [string, StacAsset][] = isOffered(config, coverage, pixelType)
    ? [[`layer-${number}`, file]]
    : []
  return [...files, describeMap(root, code, number, label)]
}

function describeMap(root: string, code: string, name: LayerName, label: string): [string, StacAsset] {
  const href = `${layersAddress(root, code)}/${name}/tiles.json`
  return [`map-${name}`, { href, type: JSON_TYPE, title: `${label}: a map, as TileJSON`, roles: ['visual'] }]
}

/** STAC's name of a type of pixels, such as `int16`. */
function nameDataType(type: PixelType): string {
  return PIXEL_TYPES[type].PixelArray.name.replace('Array', '').toLowerCase()
}

/** As the file has it: pixels, before scale and offset. */
function describeBand(layer: Layer, name: string): StacBand {
  const { unit, pixelType, scale, offset, minimum, maximum } = layer
  const isPlain = scale === 1 && offset === 0
  const nodata = pixelType.endsWith('F') ? storedNodata(pixelType, undefined) : undefined
  return {
    name,
    data_type: nameDataType(chooseSampleType([{ pixelType, nodata }])),
    unit,
    ...(nodata !== undefined && { nodata }),
    ...(isPlain && minimum !== null && maximum !== null && { statistics: { minimum, maximum } }),
    'raster:sampling': 'area',
    ...(!isPlain && { 'raster:scale': scale, 'raster:offset': offset }),
  }
}

/** Everybody may read it; caches ask each time whether it has changed. */
const CONFIG = { public: true, caching: 'own', onlyReads: true } as const

function send(exchange: Exchange, type: string, body: object) {
  const { reply } = exchange
  if (allowCaching(exchange, entityTag(JSON.stringify(body)))) return reply.code(304).send()
  return reply.type(`${type}; charset=utf-8`).send(body)
}

function nameSeries({ product, countryCode }: PublishedRelease): string {
  return `${product}-${countryCode}`
}

/** The releases of a product in a country; undefined without any. */
function findSeries({ products }: App, snapshot: Snapshot, id: string): Series | undefined {
  const releases = sortByCode(snapshot.published.filter((release) => nameSeries(release) === id))
  const [first] = releases
  if (!first) return undefined
  const country = countryNamed(snapshot, first.countryCode) ?? first.countryCode
  const title = `${products.of(first.product).names.title} in ${country}`
  return { id, title, releases }
}

function addCatalog(app: App, lookup: Lookup): void {
  const schema = {
    operationId: 'getStacCatalog',
    summary: 'The published data as a STAC catalog',
    description:
      'The root of the SpatioTemporal Asset Catalog (1.1.0): a collection for each product and country, with an item for each published release and its layers as GeoTIFF and as maps.',
    tags: ['catalog'],
    response: {
      200: { ...ref(StacCatalog), description: 'The catalog.' },
      304: { type: 'null', description: 'The catalog is the one that `If-None-Match` names.' },
      ...errorResponses(),
    },
  }
  app.get('/stac', { config: CONFIG, schema }, async ({ exchange, rootUrl }) => {
    const snapshot = await lookup.current()
    const ids = [...new Set(snapshot.published.map(nameSeries))].sort()
    const series = ids.flatMap((id) => findSeries(app, snapshot, id) ?? [])
    return send(exchange, JSON_TYPE, writeCatalog(app, rootUrl, series))
  })
}

function addCollection(app: App, lookup: Lookup, links: readonly ReleaseLink[]): void {
  const schema = {
    operationId: 'getStacCollection',
    summary: 'The releases of a product in a country, as a STAC collection',
    description: 'Their extent in space and time, their sources and licences, and links to each.',
    tags: ['catalog'],
    params: StacCollectionParams,
    response: {
      200: { ...ref(StacCollection), description: 'The collection.' },
      304: { type: 'null', description: 'The collection is the one that `If-None-Match` names.' },
      ...errorResponses('NOT_FOUND'),
    },
  }
  app.get('/stac/collections/:collection', { config: CONFIG, schema }, async (request) => {
    const { exchange, rootUrl, params } = request
    const { collection: id } = params
    const series = findSeries(app, await lookup.current(), id)
    const [release] = series?.releases ?? []
    if (series && release) {
      const templates = describeAddresses(app, links, rootUrl, release.countryCode)
      return send(exchange, JSON_TYPE, writeCollection(rootUrl, series, templates))
    }
    const message = `There is no collection ${id}; \`GET ${BASE}/stac\` links those that there are.`
    throw new ApiError('NOT_FOUND', message)
  })
}

function addItem(app: App, lookup: Lookup): void {
  const schema = {
    operationId: 'getStacItem',
    summary: 'A release as a STAC item',
    description:
      'Where and when it is of, its source and licence, and its layers: as GeoTIFF with grid, type, unit and range, and as maps. Checksums are not in it: a file is made when it is asked for, and its `ETag` is that of its bytes.',
    tags: ['catalog'],
    params: StacItemParams,
    response: {
      200: {
        description: 'The item.',
        content: { [GEOJSON_TYPE]: { schema: ref(StacItem) } },
      },
      304: { type: 'null', description: 'The item is the one that `If-None-Match` names.' },
      ...errorResponses('NOT_FOUND'),
    },
  }
  app.get('/stac/collections/:collection/items/:item', { config: CONFIG, schema }, async (request) => {
    const { exchange, rootUrl, params } = request
    const { collection: id, item: code } = params
    const snapshot = await lookup.current()
    const message = `There is no item ${code} in the collection ${id}.`
    const release = selectPublished(snapshot, code, message)
    if (nameSeries(release) !== id) throw new ApiError('NOT_FOUND', message)
    const layers = listLayers(release)
    const assets = layers.flatMap((layer) => describeAssets(app, rootUrl, release, layer))
    if (findSeasonOdds(layers)) assets.push(describeMap(rootUrl, code, MOST_LIKELY, 'Most likely season'))
    const title = nameRelease(app.products.of(release.product).names.title, release, snapshot)
    return send(exchange, GEOJSON_TYPE, writeItem(rootUrl, { id, title }, release, assets))
  })
}

interface StacOptions {
  lookup: Lookup
  releaseLinks: readonly ReleaseLink[]
}

/** The published data for programs that read the SpatioTemporal Asset Catalog. */
export async function stac(app: App, { lookup, releaseLinks }: StacOptions): Promise<void> {
  for (const schema of stacSchemas) app.addSchema(schema)
  addCatalog(app, lookup)
  addCollection(app, lookup, releaseLinks)
  addItem(app, lookup)
}
