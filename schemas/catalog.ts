import { type Static, Type } from 'typebox'
import {
  array,
  boolean,
  Cursor,
  component,
  extent,
  filter,
  integer,
  number,
  object,
  oneOf,
  orNull,
  pageLimit,
  ref,
  string,
  Time,
} from './common.ts'
import { FORECAST_MONTH, LOSSY, RESOLUTION, STALE, SYNTHETIC } from './glossary.ts'
import { ofSeasonless, type ProductContract, productSchema } from './product.ts'

const CatalogCrop = component('CatalogCrop', {
  code: Type.String({ examples: ['wheat'] }),
  name: Type.String({ examples: ['Wheat'] }),
})

const AboutMetres = (direction: string, example: number) =>
  orNull(
    Type.Integer(),
    `About how many metres a pixel has ${direction}, in the middle of the grid. Null where the CRS is not known.`,
    example,
  )

const CatalogGrid = component('CatalogGrid', 'A grid that layers of the release are on.', {
  srid: integer('EPSG code of the CRS.', 4326),
  width: integer('Pixels.', 1500),
  height: integer('Pixels.', 1150),
  resolution: object(RESOLUTION, {
    x: Type.Number({ examples: [0.01] }),
    y: Type.Number({ examples: [0.01] }),
    unit: Type.String({ examples: ['degree'], description: 'The unit of the CRS.' }),
    metres_x: AboutMetres('from west to east', 1094),
    metres_y: AboutMetres('from south to north', 1106),
  }),
  extent: extent([33, 3.4, 48, 14.9]),
})

const CatalogValue = component('CatalogValue', 'The meaning of the values of a product.', {
  key: string('Its name in an entry of an answer.', 'yield_kg_ha'),
  unit: Type.String({ examples: ['kg/ha'] }),
  description: Type.String({ examples: ['The predicted yield, in kilograms per hectare.'] }),
})

const CatalogScenario = component('CatalogScenario', 'The season of a scenario.', {
  scenario: Type.String({ examples: ['Normal'] }),
  description: Type.String(),
})

const CatalogTerm = component('CatalogTerm', 'The meaning of a word in answers.', {
  term: Type.String({ examples: ['forecast_month'] }),
  description: Type.String(),
})

const CatalogRange = Type.Object(
  { min: Type.Number(), max: Type.Number() },
  { $id: 'CatalogRange', description: 'The smallest and the largest value of a release, in its unit.' },
)

const CatalogBoundaries = Type.Object(
  {
    country_code: Type.String({ examples: ['rwa'] }),
    level: integer('0 is the country itself.'),
    areas: integer('How many there are.'),
    approximate: boolean('Made by this project for demonstration. Not boundaries.'),
    source: Type.String({ examples: ['Natural Earth'] }),
    licence: Type.String({ examples: ['Public domain'] }),
    loaded_at: Time,
  },
  { $id: 'CatalogBoundaries', description: 'The administrative areas of one level of a country.' },
)
export type CatalogBoundaries = Static<typeof CatalogBoundaries>

const ON = 'The product of a release.'

function countryOf(products: readonly ProductContract[]) {
  const crops = ofSeasonless(products, (names, needs) => `; ${names} ${needs} none`)
  return component('CatalogCountry', {
    code: Type.String({ examples: ['eth'] }),
    name: Type.String({ examples: ['Ethiopia'] }),
    crops: Type.Array(Type.String(), {
      description: `Codes of the crops it offers${crops}.`,
      examples: [['wheat']],
    }),
  })
}

function productOf(products: readonly ProductContract[]) {
  return component('CatalogProduct', {
    product: productSchema(products, ON),
    unit: string('The unit of its values.', 'kg/ha'),
    value: ref(CatalogValue),
    needs_crop: Type.Boolean(),
    path: string('Its point endpoint.', '/advisory/yield/point'),
  })
}

function releaseOf(products: readonly ProductContract[]) {
  const noMonth = ofSeasonless(products, (names) => ` None for ${names}.`)
  return component('CatalogRelease', {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    product: productSchema(products, ON),
    country_code: Type.String({ examples: ['eth'] }),
    crop: orNull(Type.String({ examples: ['wheat'] })),
    forecast_period: orNull(
      Type.String(),
      `${FORECAST_MONTH} As \`YYYY-MM\`, for requests.${noMonth}`,
      '2026-07',
    ),
    version: integer('Counts the releases for the same product, country, crop and month.'),
    synthetic: boolean(SYNTHETIC),
    lossy: Type.Optional(Type.Literal(true, { description: LOSSY })),
    valid_until: orNull(
      Type.String({ format: 'date' }),
      'The last day (UTC) of its season; null where it has none.',
      '2027-07-31',
    ),
    stale: Type.Optional(Type.Literal(true, { description: STALE })),
    inputs: Type.Array(Type.String(), {
      description: 'Fertilizers, organic inputs or species.',
      examples: [['DAP', 'Urea']],
    }),
    scenarios: Type.Array(Type.String(), { examples: [['Normal', 'Below Normal']] }),
    units: Type.Array(Type.String(), { examples: [['kg/ha']] }),
    range: orNull(ref(CatalogRange), 'Null where it has no value.'),
    grids: Type.Array(ref(CatalogGrid)),
    source: Type.String({ examples: ['Ministry of Agriculture, agronomy model 4.2'] }),
    licence: Type.String({ examples: ['CC BY 4.0'] }),
    published_at: Time,
  })
}
export type CatalogRelease = Static<ReturnType<typeof releaseOf>>

export function defineCatalogSchemas(products: readonly ProductContract[]) {
  const country = countryOf(products)
  const product = productOf(products)
  const release = releaseOf(products)
  const catalog = component('Catalog', {
    countries: Type.Array(ref(country)),
    crops: Type.Array(ref(CatalogCrop)),
    products: Type.Array(ref(product)),
    scenarios: array(CatalogScenario, 'The usual ones, in the order of answers; releases may have others.'),
    glossary: Type.Array(ref(CatalogTerm)),
    releases: Type.Array(ref(release)),
    boundaries: Type.Array(ref(CatalogBoundaries)),
  })
  const components = [
    ...[country, CatalogCrop, CatalogValue, product, CatalogScenario, CatalogTerm],
    ...[CatalogGrid, CatalogRange, release, CatalogBoundaries, catalog],
  ]
  return { catalog, components }
}

export const RELEASE_STATES = ['published', 'replaced', 'unpublished', 'deleted'] as const

const STATE =
  '`published`: it answers now. `replaced`: it was published, and answers where it is named. `unpublished`: it never was; admins alone see it. `deleted`: its values are gone, and what is said of it is all that is left.'

/** The states that a list filters by, incomplete releases included. */
const LISTED_STATES = [...RELEASE_STATES, 'incomplete'] as const

const LISTED_STATE = `${STATE} \`incomplete\`: it is being loaded, or its load was cut off; admins alone see it, where they ask for it.`

export const RELEASES_DEFAULTS = { limit: 100 } as const

export function defineReleasesQuery(products: readonly ProductContract[]) {
  return Type.Object({
    product: Type.Optional(productSchema(products, 'Only this product.')),
    country_code: filter('Only this country, in any case.', 'eth'),
    crop: filter('Only this crop, in any case.'),
    state: Type.Optional(
      oneOf(
        LISTED_STATES,
        `Only such: ${LISTED_STATE} Without it, all but those that are deleted or incomplete.`,
      ),
    ),
    limit: pageLimit(1000, RELEASES_DEFAULTS.limit, 'The most items to answer with.'),
    cursor: Cursor,
  })
}

export const ReleaseParams = Type.Object({
  release: string('The code of a release.', 'synthetic-yield-eth-wheat-2026-07-v1'),
})

const ReleaseLayer = component('ReleaseLayer', 'A layer of a release.', {
  layer: Type.Integer({ minimum: 1, description: 'Its number, in the order of answers.', examples: [1] }),
  input: orNull(Type.String(), 'The fertilizer, organic input or species; null where the product has none.'),
  scenario: orNull(Type.String({ examples: ['Normal'] })),
  unit: Type.String({ examples: ['kg/ha'] }),
  decimals: integer('To so many digits its values are rounded.', 0),
  scale: number('Value = pixel * `scale` + `offset`.', 1),
  offset: Type.Number({ examples: [0] }),
  pixel_type: string('How pixels are stored, in the words of PostGIS.', '32BF'),
  grid: integer('Which of the `grids` it is on, from 1.', 1),
  pixels: integer('How many pixels have a value.', 1_182_114),
  minimum: orNull(Type.Number({ examples: [1200] })),
  maximum: orNull(Type.Number({ examples: [4800] })),
  mean: orNull(Type.Number({ examples: [2710.4] }), 'Of the pixels; null where none has a value.'),
})

const ReleasePeriod = component('ReleasePeriod', 'When a release was published.', {
  from: Time,
  to: orNull(Time, 'Null while it is published.'),
})

function membersOf(products: readonly ProductContract[]) {
  const none = ofSeasonless(products, (names) => ` None for ${names}.`)
  return {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    product: productSchema(products, 'Its product.'),
    country_code: Type.String({ examples: ['eth'] }),
    crop: orNull(Type.String({ examples: ['wheat'] })),
    forecast_period: orNull(
      Type.String({ examples: ['2026-07'] }),
      `${FORECAST_MONTH} As \`YYYY-MM\`.${none}`,
    ),
    version: integer('Counts the releases for the same product, country, crop and month.', 1),
    state: oneOf(RELEASE_STATES, STATE),
    synthetic: boolean(SYNTHETIC),
    lossy: Type.Optional(Type.Literal(true, { description: LOSSY })),
    valid_until: orNull(
      Type.String({ format: 'date' }),
      'The last day (UTC) of its season; null where it has none.',
    ),
    stale: Type.Optional(Type.Literal(true, { description: STALE })),
    source: Type.String({ examples: ['Ministry of Agriculture, agronomy model 4.2'] }),
    licence: Type.String({ examples: ['CC BY 4.0'] }),
    checksum: string(
      'SHA-256 of the definitions of its layers and of the files that it was loaded from.',
      '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    ),
    loaded_at: Time,
    published_from: orNull(Time, 'When it was first published; null where it never was.'),
    published_to: orNull(
      Time,
      'When it was last replaced, withdrawn or deleted; null where it is published or never was.',
    ),
    deleted_at: orNull(Time, 'Null where it is there, or that was not recorded.'),
  }
}

export function defineReleasesSchemas(products: readonly ProductContract[]) {
  const members = membersOf(products)
  const summary = component('ReleaseSummary', 'A release.', {
    ...members,
    state: oneOf(LISTED_STATES, LISTED_STATE),
    load: Type.Optional(
      oneOf(
        ['running', 'cut_off', 'unknown'],
        'Of an `incomplete` one, whether a process still loads it; `loaded_at` is when that began. `cut_off`: none does, and the next load of the same data clears away what is left. `unknown`: an older version has begun it, which does not say.',
      ),
    ),
  })
  const release = component('ReleaseDescription', 'All that is known of a release.', {
    ...members,
    periods: array(
      ReleasePeriod,
      'When it was published, the first time first: it may have been rolled back to.',
    ),
    grids: Type.Array(ref(CatalogGrid), { description: 'None where it is deleted.' }),
    layers: array(ReleaseLayer, 'In the order of answers. None where it is deleted.'),
  })
  const list = component('ReleaseList', {
    items: Type.Array(ref(summary), { description: 'In the order of their codes.' }),
    next_cursor: orNull(Type.String(), 'The `cursor` of the next page; null where this is the last one.'),
  })
  return {
    release,
    list,
    components: [ReleaseLayer, ReleasePeriod, summary, release, list],
  }
}
type ReleasesSchemas = ReturnType<typeof defineReleasesSchemas>
export type ReleaseSummary = Static<ReleasesSchemas['list']>['items'][number]
export type ReleaseDescription = Static<ReleasesSchemas['release']>
