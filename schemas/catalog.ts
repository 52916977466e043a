import { type TSchema, Type } from 'typebox'
import { ref, Time } from './common.ts'
import { ofSeasonless, type ProductContract, productSchema } from './product.ts'

const Nullable = <Schema extends ReturnType<typeof Type.String>>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

export const CatalogCrop = Type.Object(
  { code: Type.String({ examples: ['wheat'] }), name: Type.String({ examples: ['Wheat'] }) },
  { $id: 'CatalogCrop' },
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

const ON = 'What a release gives advice on.'

function countryOf(products: readonly ProductContract[]) {
  const crops = ofSeasonless(products, (names, needs) => `; ${names} ${needs} none`)
  return Type.Object(
    {
      code: Type.String({ examples: ['eth'] }),
      name: Type.String({ examples: ['Ethiopia'] }),
      crops: Type.Array(Type.String(), { description: `Codes of the crops it offers${crops}.` }),
    },
    { $id: 'CatalogCountry' },
  )
}

function productOf(products: readonly ProductContract[]) {
  return Type.Object(
    {
      product: productSchema(products, ON),
      unit: Type.String({ description: 'The unit of its values.', examples: ['kg/ha'] }),
      needs_crop: Type.Boolean(),
      path: Type.String({ description: 'Its point endpoint.', examples: ['/advisory/yield/point'] }),
    },
    { $id: 'CatalogProduct' },
  )
}

function releaseOf(products: readonly ProductContract[]) {
  const noMonth = ofSeasonless(products, (names) => ` None for ${names}.`)
  return Type.Object(
    {
      release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
      product: productSchema(products, ON),
      country_code: Type.String(),
      crop: Nullable(Type.String()),
      forecast_period: Type.Union([Type.String(), Type.Null()], {
        description: `The month, as \`YYYY-MM\`: what to ask for it by.${noMonth}`,
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
}

export interface CatalogSchemas {
  catalog: TSchema
  /** In the order of the document. */
  components: TSchema[]
}

export function catalogSchemasOf(products: readonly ProductContract[]): CatalogSchemas {
  const country = countryOf(products)
  const product = productOf(products)
  const release = releaseOf(products)
  const catalog = Type.Object(
    {
      countries: Type.Array(ref(country)),
      crops: Type.Array(ref(CatalogCrop)),
      products: Type.Array(ref(product)),
      releases: Type.Array(ref(release)),
      boundaries: Type.Array(ref(CatalogBoundaries)),
    },
    { $id: 'Catalog' },
  )
  const components = [country, CatalogCrop, product, CatalogGrid, release, CatalogBoundaries, catalog]
  return { catalog, components }
}
