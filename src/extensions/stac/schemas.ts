import { type Static, Type } from 'typebox'
import * as t from '#schemas/common.ts'

/** The version of STAC, and of its extensions, that is spoken here. */
export const STAC_VERSION = '1.1.0'
export const PROJECTION = 'https://stac-extensions.github.io/projection/v2.0.0/schema.json'
export const RASTER = 'https://stac-extensions.github.io/raster/v2.0.0/schema.json'

export const GEOJSON_TYPE = 'application/geo+json'

export const COG_TYPE = 'image/tiff; application=geotiff; profile=cloud-optimized'

const CollectionId = t.string(
  'The id of a collection: a product and a country, as `GET /stac` links them.',
  'yield-eth',
)

const ItemId = t.string('The code of a published release.', 'synthetic-yield-eth-wheat-2026-07-v1')

export const StacCollectionParams = Type.Object({ collection: CollectionId })

export const StacItemParams = Type.Object({ collection: CollectionId, item: ItemId })

export const StacLink = t.component('StacLink', {
  rel: Type.String({ examples: ['root'] }),
  href: Type.String({ format: 'uri', examples: ['https://advice.example.org/stac'] }),
  type: Type.Optional(Type.String({ examples: ['application/json'] })),
  title: Type.Optional(Type.String()),
})
export type StacLink = Static<typeof StacLink>

export const StacProvider = t.component('StacProvider', {
  name: Type.String({ examples: ['CIAT'] }),
  roles: Type.Array(t.oneOf(['producer', 'licensor', 'host'], 'The role of the provider.')),
  url: Type.Optional(Type.String({ format: 'uri', examples: ['https://advice.example.org'] })),
})
export type StacProvider = Static<typeof StacProvider>

const License = Type.String({
  pattern: String.raw`^[\w\-.+]+$`,
  description:
    'As it was loaded, where that may be a code of SPDX; `other` where it is a text, which `GET /catalog` has.',
  examples: ['CC-BY-4.0'],
})

const Links = Type.Array(t.ref(StacLink))
const Version = Type.Literal(STAC_VERSION)
const Providers = Type.Array(t.ref(StacProvider))

const Bbox = t.extent([32.95, 3.4, 48, 14.9])

const Moment = Type.String({ format: 'date-time', examples: ['2026-07-01T00:00:00.000Z'] })
const Nullable = t.orNull(Moment)

export const StacCatalog = t.component('StacCatalog', 'A STAC Catalog: its children are collections.', {
  type: Type.Literal('Catalog'),
  stac_version: Version,
  id: Type.String({ examples: ['agro-advisory'] }),
  title: Type.String(),
  description: Type.String(),
  links: Links,
})
export type StacCatalog = Static<typeof StacCatalog>

const StacLinkTemplate = t.component(
  'StacLinkTemplate',
  'Addresses of a kind, as OGC API - Records has them.',
  {
    rel: Type.String({ examples: ['packs'] }),
    title: Type.String(),
    uriTemplate: t.string(
      'An address with names of `variables` in braces (RFC 6570).',
      'https://advice.example.org/packs/eth/{area}.{format}',
    ),
    variables: Type.Record(
      Type.String(),
      Type.Object({
        type: Type.String({ examples: ['string'] }),
        description: Type.Optional(Type.String()),
        enum: Type.Optional(Type.Array(Type.String())),
      }),
    ),
  },
)
export type StacLinkTemplate = Static<typeof StacLinkTemplate>

export const StacCollection = t.component(
  'StacCollection',
  'A STAC Collection: the releases of a product in a country.',
  {
    type: Type.Literal('Collection'),
    stac_version: Version,
    id: CollectionId,
    title: Type.String({ examples: ['Predicted yield in Ethiopia'] }),
    description: Type.String(),
    license: License,
    providers: Providers,
    extent: Type.Object({
      spatial: Type.Object({ bbox: Type.Array(Bbox, { minItems: 1, maxItems: 1 }) }),
      temporal: Type.Object({
        interval: Type.Array(Type.Array(Nullable, { minItems: 2, maxItems: 2 }), {
          minItems: 1,
          maxItems: 1,
        }),
      }),
    }),
    links: Links,
    linkTemplates: Type.Optional(
      t.array(
        StacLinkTemplate,
        'Of extensions, such as packs of areas of the country; none where the service offers no files.',
      ),
    ),
  },
)
export type StacCollection = Static<typeof StacCollection>

export const StacBand = t.component('StacBand', {
  name: Type.String({ examples: ['Normal'] }),
  data_type: Type.String({ examples: ['float32'] }),
  unit: Type.String({ examples: ['kg/ha'] }),
  nodata: Type.Optional(t.number('Of floats; that of whole numbers is in the file.', -3.4028234663852886e38)),
  statistics: Type.Optional(
    Type.Object({ minimum: Type.Number({ examples: [412] }), maximum: Type.Number({ examples: [5230] }) }),
  ),
  'raster:sampling': Type.Literal('area', { description: 'A value is that of the whole of its pixel.' }),
  'raster:scale': Type.Optional(t.number('The factor of a pixel.', 0.1)),
  'raster:offset': Type.Optional(t.number('The summand after it.', 0)),
})
export type StacBand = Static<typeof StacBand>

export const StacAsset = t.component('StacAsset', {
  href: Type.String({
    format: 'uri',
    examples: ['https://advice.example.org/releases/synthetic-yield-eth-wheat-2026-07-v1/layers/1.tif'],
  }),
  type: Type.String({ examples: [COG_TYPE] }),
  title: Type.String({ examples: ['Normal'] }),
  description: Type.Optional(Type.String()),
  roles: Type.Array(t.oneOf(['data', 'visual'], '`data`: the values; `visual`: a map of them.')),
  bands: Type.Optional(Type.Array(t.ref(StacBand))),
  'proj:code': Type.Optional(
    t.stringOrNull('Its CRS; null where that has no code of the EPSG.', 'EPSG:4326'),
  ),
  'proj:shape': Type.Optional(
    Type.Array(Type.Integer(), {
      minItems: 2,
      maxItems: 2,
      description: 'Rows, and pixels in a row.',
      examples: [[230, 301]],
    }),
  ),
  'proj:transform': Type.Optional(
    Type.Array(Type.Number(), {
      minItems: 6,
      maxItems: 6,
      description: 'From columns and rows to the CRS, as a matrix.',
      examples: [[0.05, 0, 32.95, 0, -0.05, 14.9]],
    }),
  ),
})
export type StacAsset = Static<typeof StacAsset>

export const StacItem = t.component('StacItem', 'A STAC Item: a release, and its layers.', {
  type: Type.Literal('Feature'),
  stac_version: Version,
  stac_extensions: Type.Array(Type.String({ format: 'uri', examples: [PROJECTION] })),
  id: ItemId,
  collection: CollectionId,
  bbox: Bbox,
  geometry: t.object('The extent of its grids.', {
    type: Type.Literal('Polygon'),
    coordinates: Type.Array(Type.Array(Type.Array(Type.Number(), { minItems: 2, maxItems: 2 }))),
  }),
  properties: Type.Object({
    title: Type.String({ examples: ['Predicted yield of wheat in Ethiopia, July 2026'] }),
    datetime: t.orNull(
      Moment,
      'The time of loading, for releases without a season; null for others, which have a beginning and an end.',
      null,
    ),
    start_datetime: Type.Optional(Moment),
    end_datetime: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'The end of its season, or of its month where that is not known.',
        examples: ['2027-06-30T23:59:59.000Z'],
      }),
    ),
    created: Type.String({
      format: 'date-time',
      description: 'When it was loaded.',
      examples: ['2026-07-01T08:30:00.000Z'],
    }),
    license: License,
    providers: Providers,
    synthetic: t.boolean('Whether its values are made by a formula: they are no advice.'),
  }),
  links: Links,
  assets: Type.Record(Type.String({ pattern: '^(layer|map)-([0-9]+|most-likely)$' }), t.ref(StacAsset), {
    description:
      '`layer-1`: the first layer as GeoTIFF, where the service allows downloads; `map-1`: its tiles as TileJSON.',
  }),
})
export type StacItem = Static<typeof StacItem>

export const stacSchemas = [
  StacLink,
  StacLinkTemplate,
  StacProvider,
  StacCatalog,
  StacCollection,
  StacBand,
  StacAsset,
  StacItem,
]
