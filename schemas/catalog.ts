import { type TSchema, Type } from 'typebox'
import { ref, Time } from './common.ts'
import { FORECAST_MONTH, LOSSY, RESOLUTION, STALE, SYNTHETIC } from './glossary.ts'
import { ofSeasonless, type ProductContract, productSchema } from './product.ts'

const Nullable = <Schema extends ReturnType<typeof Type.String>>(schema: Schema) =>
  Type.Union([schema, Type.Null()])

export const CatalogCrop = Type.Object(
  { code: Type.String({ examples: ['wheat'] }), name: Type.String({ examples: ['Wheat'] }) },
  { $id: 'CatalogCrop' },
)

const AboutMetres = (direction: string, example: number) =>
  Type.Union([Type.Integer(), Type.Null()], {
    description: `About how many metres a pixel has ${direction}, in the middle of the grid. Null where the CRS is not known.`,
    examples: [example],
  })

export const CatalogGrid = Type.Object(
  {
    srid: Type.Integer({ description: 'EPSG code of the CRS.', examples: [4326] }),
    width: Type.Integer({ description: 'Pixels.', examples: [1500] }),
    height: Type.Integer({ description: 'Pixels.', examples: [1150] }),
    resolution: Type.Object(
      {
        x: Type.Number({ examples: [0.01] }),
        y: Type.Number({ examples: [0.01] }),
        unit: Type.String({ examples: ['degree'], description: 'The unit of the CRS.' }),
        metres_x: AboutMetres('from west to east', 1094),
        metres_y: AboutMetres('from south to north', 1106),
      },
      { description: RESOLUTION },
    ),
    extent: Type.Array(Type.Number(), {
      minItems: 4,
      maxItems: 4,
      description: 'West, south, east and north in decimal degrees.',
      examples: [[33, 3.4, 48, 14.9]],
    }),
  },
  { $id: 'CatalogGrid', description: 'A grid that layers of the release are on.' },
)

export const CatalogValue = Type.Object(
  {
    key: Type.String({ description: 'Its name in an entry of an answer.', examples: ['yield_kg_ha'] }),
    unit: Type.String({ examples: ['kg/ha'] }),
    description: Type.String({ examples: ['The predicted yield, in kilograms per hectare.'] }),
  },
  { $id: 'CatalogValue', description: 'The meaning of the values of a product.' },
)

export const CatalogScenario = Type.Object(
  { scenario: Type.String({ examples: ['Normal'] }), description: Type.String() },
  { $id: 'CatalogScenario', description: 'The season of a scenario.' },
)

export const CatalogTerm = Type.Object(
  { term: Type.String({ examples: ['forecast_month'] }), description: Type.String() },
  { $id: 'CatalogTerm', description: 'The meaning of a word in answers.' },
)

export const CatalogRange = Type.Object(
  { min: Type.Number(), max: Type.Number() },
  { $id: 'CatalogRange', description: 'The smallest and the largest value of a release, in its unit.' },
)

export const CatalogBoundaries = Type.Object(
  {
    country_code: Type.String({ examples: ['rwa'] }),
    level: Type.Integer({ description: '0 is the country itself.' }),
    areas: Type.Integer({ description: 'How many there are.' }),
    approximate: Type.Boolean({ description: 'Made by this project for demonstration. Not boundaries.' }),
    source: Type.String({ examples: ['Natural Earth'] }),
    licence: Type.String({ examples: ['Public domain'] }),
    loaded_at: Time,
  },
  { $id: 'CatalogBoundaries', description: 'The administrative areas of one level of a country.' },
)

const ON = 'The product of a release.'

function countryOf(products: readonly ProductContract[]) {
  const crops = ofSeasonless(products, (names, needs) => `; ${names} ${needs} none`)
  return Type.Object(
    {
      code: Type.String({ examples: ['eth'] }),
      name: Type.String({ examples: ['Ethiopia'] }),
      crops: Type.Array(Type.String(), {
        description: `Codes of the crops it offers${crops}.`,
        examples: [['wheat']],
      }),
    },
    { $id: 'CatalogCountry' },
  )
}

function productOf(products: readonly ProductContract[]) {
  return Type.Object(
    {
      product: productSchema(products, ON),
      unit: Type.String({ description: 'The unit of its values.', examples: ['kg/ha'] }),
      value: ref(CatalogValue),
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
      country_code: Type.String({ examples: ['eth'] }),
      crop: Nullable(Type.String({ examples: ['wheat'] })),
      forecast_period: Type.Union([Type.String(), Type.Null()], {
        description: `${FORECAST_MONTH} As \`YYYY-MM\`, for requests.${noMonth}`,
        examples: ['2026-07'],
      }),
      version: Type.Integer({
        description: 'Counts the releases for the same product, country, crop and month.',
      }),
      synthetic: Type.Boolean({ description: SYNTHETIC }),
      lossy: Type.Optional(Type.Literal(true, { description: LOSSY })),
      valid_until: Type.Union([Type.String({ format: 'date' }), Type.Null()], {
        description: 'The last day (UTC) of its season; null where it has none.',
        examples: ['2027-07-31'],
      }),
      stale: Type.Optional(Type.Literal(true, { description: STALE })),
      inputs: Type.Array(Type.String(), {
        description: 'Fertilizers, organic inputs or species.',
        examples: [['DAP', 'Urea']],
      }),
      scenarios: Type.Array(Type.String(), { examples: [['Normal', 'Below Normal']] }),
      units: Type.Array(Type.String(), { examples: [['kg/ha']] }),
      range: Type.Union([ref(CatalogRange), Type.Null()], { description: 'Null where it has no value.' }),
      grids: Type.Array(ref(CatalogGrid)),
      source: Type.String({ examples: ['Ministry of Agriculture, agronomy model 4.2'] }),
      licence: Type.String({ examples: ['CC BY 4.0'] }),
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
      scenarios: Type.Array(ref(CatalogScenario), {
        description: 'The usual ones, in the order of answers; releases may have others.',
      }),
      glossary: Type.Array(ref(CatalogTerm)),
      releases: Type.Array(ref(release)),
      boundaries: Type.Array(ref(CatalogBoundaries)),
    },
    { $id: 'Catalog' },
  )
  const components = [
    ...[country, CatalogCrop, CatalogValue, product, CatalogScenario, CatalogTerm],
    ...[CatalogGrid, CatalogRange, release, CatalogBoundaries, catalog],
  ]
  return { catalog, components }
}
