import { Type } from 'typebox'
import { ProductSchema, ref, Time } from './common.ts'

const Nullable = <Schema extends ReturnType<typeof Type.String>>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

export const CatalogCountry = Type.Object(
  {
    code: Type.String({ examples: ['eth'] }),
    name: Type.String({ examples: ['Ethiopia'] }),
    crops: Type.Array(Type.String(), { description: 'Codes of the crops it offers; forage needs none.' }),
  },
  { $id: 'CatalogCountry' },
)

export const CatalogCrop = Type.Object(
  { code: Type.String({ examples: ['wheat'] }), name: Type.String({ examples: ['Wheat'] }) },
  { $id: 'CatalogCrop' },
)

export const CatalogProduct = Type.Object(
  {
    product: ProductSchema,
    unit: Type.String({ description: 'The unit of its values.', examples: ['kg/ha'] }),
    needs_crop: Type.Boolean(),
    path: Type.String({ description: 'Its point endpoint.', examples: ['/advisory/yield/point'] }),
  },
  { $id: 'CatalogProduct' },
)

export const CatalogGrid = Type.Object(
  {
    srid: Type.Integer({ description: 'EPSG code of the CRS.' }),
    width: Type.Integer({ description: 'Pixels.' }),
    height: Type.Integer({ description: 'Pixels.' }),
    resolution: Type.Object({
      x: Type.Number(),
      y: Type.Number(),
      unit: Type.String({ examples: ['degree'], description: 'The unit of the CRS.' }),
    }),
    extent: Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'West, south, east and north in decimal degrees.',
      examples: [[33, 3.4, 48, 14.9]],
    }),
  },
  { $id: 'CatalogGrid', description: 'A grid that layers of the release are on.' },
)

export const CatalogRelease = Type.Object(
  {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    product: ProductSchema,
    country_code: Type.String(),
    crop: Nullable(Type.String()),
    forecast_period: Type.Union([Type.String(), Type.Null()], {
      description: 'The month, as `YYYY-MM`: what to ask for it by. None for forage.',
      examples: ['2026-07'],
    }),
    version: Type.Integer({
      description: 'Counts the releases for the same product, country, crop and month.',
    }),
    synthetic: Type.Boolean({ description: 'Demonstration data, made by a formula. Not advice.' }),
    inputs: Type.Array(Type.String(), { description: 'Fertilizers, organic inputs or species.' }),
    scenarios: Type.Array(Type.String()),
    units: Type.Array(Type.String()),
    grids: Type.Array(ref(CatalogGrid)),
    source: Type.String(),
    licence: Type.String(),
    published_at: Time,
  },
  { $id: 'CatalogRelease' },
)

export const CatalogBoundaries = Type.Object(
  {
    country_code: Type.String({ examples: ['rwa'] }),
    level: Type.Integer({ description: '0 is the country itself.' }),
    areas: Type.Integer({ description: 'How many there are.' }),
    approximate: Type.Boolean({ description: 'Made by this project for demonstration. Not boundaries.' }),
    source: Type.String(),
    licence: Type.String(),
    loaded_at: Time,
  },
  { $id: 'CatalogBoundaries', description: 'The administrative areas of one level of a country.' },
)

export const Catalog = Type.Object(
  {
    countries: Type.Array(ref(CatalogCountry)),
    crops: Type.Array(ref(CatalogCrop)),
    products: Type.Array(ref(CatalogProduct)),
    releases: Type.Array(ref(CatalogRelease)),
    boundaries: Type.Array(ref(CatalogBoundaries)),
  },
  { $id: 'Catalog' },
)

export const catalogSchemas = [
  CatalogCountry,
  CatalogCrop,
  CatalogProduct,
  CatalogGrid,
  CatalogRelease,
  CatalogBoundaries,
  Catalog,
]
