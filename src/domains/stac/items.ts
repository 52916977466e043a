import {
  COG_TYPE,
  PROJECTION,
  RASTER,
  STAC_VERSION,
  type StacAsset,
  type StacBand,
  type StacItem,
} from '#schemas/stac.ts'
import { monthAndYear } from '#src/lib/month.ts'
import { type PixelType, storedNodata } from '#src/raster/pixels.ts'
import { sampleTypeOf } from '#src/tiles/granule.ts'
import { bboxOf, periodOf, polygonOf } from './extents.ts'
import { collectionIdOf, JSON_TYPE, licenseLinks, licenseOf, providersOf, stacLink } from './links.ts'
import type { StacLayer, StacRelease } from './queries.ts'

/** What an item is made with. */
export interface ItemFrame {
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
