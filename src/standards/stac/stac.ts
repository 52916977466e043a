import { SERVICE_NAME } from '#schemas/service.ts'
import {
  COG_TYPE,
  PROJECTION,
  RASTER,
  STAC_VERSION,
  type StacAsset,
  type StacBand,
  type StacCatalog,
  type StacCollection,
  type StacItem,
  type StacLink,
  type StacProvider,
} from '#schemas/stac.ts'
import { sampleTypeOf } from '#src/data/tiles/granule.ts'
import { monthAndYear } from '#src/lib/dates.ts'
import { roundDegrees } from '#src/lib/round.ts'
import type { Extent } from '#src/raster/grid.ts'
import { type PixelType, storedNodata } from '#src/raster/pixels.ts'
import type { StacLayer, StacRelease, StacSeries } from './queries.ts'

/** West, south, east and north. */
type Bbox = [number, number, number, number]

/** The rectangle that some lie in, in decimal degrees as all answers have them. */
function bboxOf(extents: readonly Extent[]): Bbox {
  return [
    Math.min(...extents.map(({ west }) => west)),
    Math.min(...extents.map(({ south }) => south)),
    Math.max(...extents.map(({ east }) => east)),
    Math.max(...extents.map(({ north }) => north)),
  ].map(roundDegrees) as Bbox
}

/** A rectangle as a polygon, counterclockwise. */
function polygonOf([west, south, east, north]: Bbox) {
  const ring = [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ]
  return { type: 'Polygon' as const, coordinates: [ring] }
}

/** What tells when a release is of use. ISO dates. */
interface Season {
  forecastPeriod: string | null
  validUntil: string | null
  created: string
}

/** From when to when a release is of use: its season, as far as that is known; when it was loaded, where it has none. */
function periodOf({ forecastPeriod, validUntil, created }: Season): [start: string, end: string] {
  if (forecastPeriod === null) return [created, created]
  const [year, month] = forecastPeriod.split('-').map(Number) as [number, number]
  // Day 0 of a month is the last one of the month before.
  const last = validUntil ?? new Date(Date.UTC(year, month, 0)).toISOString()
  return [`${forecastPeriod.slice(0, 10)}T00:00:00.000Z`, `${last.slice(0, 10)}T23:59:59.000Z`]
}

export const JSON_TYPE = 'application/json'

function stacLink(rel: string, href: string, type: string, title?: string): StacLink {
  return { rel, href, type, ...(title !== undefined && { title }) }
}

/** A collection is a product and a country; no code of a country has a dash in it. */
function collectionIdOf({ product, countryCode }: Pick<StacSeries, 'product' | 'countryCode'>): string {
  return `${product}-${countryCode}`
}

/** What may be a code of SPDX. */
const CODE = /^[\w\-.+]+$/

/** A licence as STAC has it: a code where all have the same, and `other` for texts. */
function licenseOf(licences: readonly string[]): string {
  const [first = '', ...others] = new Set(licences)
  return others.length === 0 && CODE.test(first) ? first : 'other'
}

/** Where licences are that have no code. */
function licenseLinks(root: string, licences: readonly string[]): StacLink[] {
  if (licenseOf(licences) !== 'other') return []
  return [stacLink('license', `${root}/catalog`, JSON_TYPE, 'The licence of each release')]
}

function providersOf(root: string, sources: readonly string[]): StacProvider[] {
  return [
    ...[...new Set(sources)].map((name): StacProvider => ({ name, roles: ['producer', 'licensor'] })),
    { name: SERVICE_NAME, roles: ['host'], url: `${root}/` },
  ]
}

/** The whole catalog: a child a product and country. */
export function catalogOf(
  root: string,
  series: readonly StacSeries[],
  titleOf: (product: string) => string,
): StacCatalog {
  const self = `${root}/stac`
  return {
    type: 'Catalog',
    stac_version: STAC_VERSION,
    id: 'agro-advisory',
    title: SERVICE_NAME,
    description:
      'What is published: a collection for each product and country, in it an item for each release.',
    links: [
      stacLink('self', self, JSON_TYPE),
      stacLink('root', self, JSON_TYPE),
      ...series.map((one) =>
        stacLink(
          'child',
          `${self}/collections/${collectionIdOf(one)}`,
          JSON_TYPE,
          `${titleOf(one.product)} in ${one.country}`,
        ),
      ),
      stacLink('service-desc', `${root}/openapi.json`, JSON_TYPE, 'The OpenAPI document'),
      stacLink('service-doc', `${root}/docs`, 'text/html', 'The page on which operations can be tried'),
    ],
  }
}

/** @param releases those of a product in a country, of which there is one at least */
export function collectionOf(
  root: string,
  product: string,
  releases: readonly StacRelease[],
): StacCollection {
  const [first] = releases as [StacRelease]
  const id = collectionIdOf(first)
  const self = `${root}/stac/collections/${id}`
  const licences = releases.map(({ licence }) => licence)
  const periods = releases.map(periodOf)
  const start = periods.map(([from]) => from).reduce((one, other) => (other < one ? other : one))
  const end = periods.map(([, to]) => to).reduce((one, other) => (other > one ? other : one))
  const title = `${product} in ${first.country}`
  return {
    type: 'Collection',
    stac_version: STAC_VERSION,
    id,
    title,
    description: `${title}: the releases that are published.`,
    license: licenseOf(licences),
    providers: providersOf(
      root,
      releases.map(({ source }) => source),
    ),
    extent: {
      spatial: { bbox: [bboxOf(releases.flatMap(({ layers }) => layers))] },
      temporal: { interval: [[start, end]] },
    },
    links: [
      stacLink('self', self, JSON_TYPE),
      stacLink('root', `${root}/stac`, JSON_TYPE),
      stacLink('parent', `${root}/stac`, JSON_TYPE),
      ...releases.map(({ code }) =>
        stacLink('item', `${self}/items/${encodeURIComponent(code)}`, 'application/geo+json', code),
      ),
      ...licenseLinks(root, licences),
    ],
  }
}

/** What an item is made with. */
interface ItemFrame {
  /** What the paths of the service begin with for its clients. */
  root: string
  /** What the product is called. */
  product: string
  /** Whether a layer may be downloaded. */
  isOffered(layer: StacLayer): boolean
}

/** A release as an item, with its layers as assets. */
export function itemOf({ root, product, isOffered }: ItemFrame, release: StacRelease): StacItem {
  const { code, layers, licence, forecastPeriod, created, synthetic } = release
  const collection = collectionIdOf(release)
  const parent = `${root}/stac/collections/${collection}`
  const bbox = bboxOf(layers)
  const [start_datetime, end_datetime] = periodOf(release)
  const time =
    forecastPeriod === null ? { datetime: created } : { datetime: null, start_datetime, end_datetime }
  const assets = layers.flatMap((layer): [string, StacAsset][] => [
    ...(isOffered(layer)
      ? [[`layer-${layer.number}`, fileAsset(root, code, layer)] as [string, StacAsset]]
      : []),
    [`map-${layer.number}`, mapAsset(root, code, layer)],
  ])
  return {
    type: 'Feature',
    stac_version: STAC_VERSION,
    stac_extensions: [PROJECTION, RASTER],
    id: code,
    collection,
    bbox,
    geometry: polygonOf(bbox),
    properties: {
      title: titleOf(product, release),
      ...time,
      created,
      license: licenseOf([licence]),
      providers: providersOf(root, [release.source]),
      synthetic,
    },
    links: [
      stacLink('self', `${parent}/items/${encodeURIComponent(code)}`, 'application/geo+json'),
      stacLink('root', `${root}/stac`, JSON_TYPE),
      stacLink('parent', parent, JSON_TYPE),
      stacLink('collection', parent, JSON_TYPE),
      ...licenseLinks(root, [licence]),
    ],
    assets: Object.fromEntries(assets),
  }
}

function titleOf(product: string, { cropCode, country, forecastPeriod }: StacRelease): string {
  const crop = cropCode === null ? '' : ` of ${cropCode}`
  const month = forecastPeriod === null ? '' : `, ${monthAndYear(forecastPeriod)}`
  return `${product}${crop} in ${country}${month}`
}

function labelOf({ number, input, scenario }: StacLayer): string {
  return [input, scenario].filter((part) => part !== null).join(', ') || `Layer ${number}`
}

function addressOf(root: string, code: string, { number }: StacLayer): string {
  return `${root}/releases/${encodeURIComponent(code)}/layers/${number}`
}

function fileAsset(root: string, code: string, layer: StacLayer): StacAsset {
  const { srid, width, height, originX, originY, pixelWidth, pixelHeight } = layer
  return {
    href: `${addressOf(root, code, layer)}.tif`,
    type: COG_TYPE,
    title: labelOf(layer),
    roles: ['data'],
    bands: [bandOf(layer)],
    'proj:code': srid <= LARGEST_EPSG ? `EPSG:${srid}` : null,
    'proj:shape': [height, width],
    'proj:transform': [pixelWidth, 0, originX, 0, pixelHeight, originY],
  }
}

/** The ids that the EPSG gives; what was added to PostGIS has others. */
const LARGEST_EPSG = 32_766

function mapAsset(root: string, code: string, layer: StacLayer): StacAsset {
  return {
    href: `${addressOf(root, code, layer)}/tiles.json`,
    type: JSON_TYPE,
    title: `${labelOf(layer)}: a map, as TileJSON`,
    roles: ['visual'],
  }
}

/** STAC's names of the types of pixels. */
const DATA_TYPES: Record<PixelType, string> = {
  '8BSI': 'int8',
  '8BUI': 'uint8',
  '16BSI': 'int16',
  '16BUI': 'uint16',
  '32BSI': 'int32',
  '32BUI': 'uint32',
  '32BF': 'float32',
  '64BF': 'float64',
}

/** As the file has it: pixels, before scale and offset. */
function bandOf(layer: StacLayer): StacBand {
  const { unit, pixelType, scale, offset, minimum, maximum } = layer
  const isPlain = scale === 1 && offset === 0
  const nodata = pixelType.endsWith('F') ? storedNodata(pixelType, undefined) : undefined
  return {
    name: labelOf(layer),
    data_type: DATA_TYPES[sampleTypeOf([{ pixelType, nodata }])],
    unit,
    ...(nodata !== undefined && { nodata }),
    ...(isPlain && minimum !== null && maximum !== null && { statistics: { minimum, maximum } }),
    'raster:sampling': 'area',
    ...(!isPlain && { 'raster:scale': scale, 'raster:offset': offset }),
  }
}
