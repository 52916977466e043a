import { type Static, type TSchema, Type } from 'typebox'
import { COMPANION_ROLES, Conditions } from './certainty.ts'
import * as t from './common.ts'
import { FORECAST_MONTH, LOSSY, RESOLUTION, STALE, SYNTHETIC } from './glossary.ts'
import { ofSeasonless, type ProductContract, productSchema } from './product.ts'

const CatalogCrop = t.component('CatalogCrop', {
  code: Type.String({ examples: ['wheat'] }),
  name: Type.String({ examples: ['Wheat'] }),
})

const AboutMetres = (direction: string, example: number) =>
  t.integerOrNull(
    `About how many metres a pixel has ${direction}, in the middle of the grid. Null for a local CRS.`,
    example,
  )

const CatalogGrid = t.component('CatalogGrid', 'A grid that layers of the release are on.', {
  srid: t.integer('EPSG code of the CRS.', 4326),
  width: t.integer('Pixels.', 1500),
  height: t.integer('Pixels.', 1150),
  resolution: t.object(RESOLUTION, {
    x: Type.Number({ examples: [0.01] }),
    y: Type.Number({ examples: [0.01] }),
    unit: Type.String({ examples: ['degree'], description: 'The unit of the CRS.' }),
    metres_x: AboutMetres('from west to east', 1094),
    metres_y: AboutMetres('from south to north', 1106),
  }),
  extent: t.extent([33, 3.4, 48, 14.9]),
})

const CatalogValue = t.component('CatalogValue', 'The meaning of the values of a product.', {
  key: t.string('Its name in an entry of an answer.', 'yield_kg_ha'),
  unit: Type.String({ examples: ['kg/ha'] }),
  description: Type.String({ examples: ['The predicted yield, in kilograms per hectare.'] }),
})

const CatalogScenario = t.component('CatalogScenario', 'The season of a scenario.', {
  scenario: Type.String({ examples: ['Normal'] }),
  description: Type.String(),
})

const CatalogTerm = t.component('CatalogTerm', 'The meaning of a word in answers.', {
  term: Type.String({ examples: ['forecast_month'] }),
  description: Type.String(),
})

const CatalogRange = t.component(
  'CatalogRange',
  'The smallest and the largest value of a release, in its unit.',
  { min: Type.Number(), max: Type.Number() },
)

const CatalogBoundaries = t.component(
  'CatalogBoundaries',
  'The administrative areas of one level of a country.',
  {
    country_code: Type.String({ examples: ['rwa'] }),
    level: t.integer('0 is the country itself.'),
    areas: t.integer('How many there are.'),
    approximate: t.boolean('Made by this project for demonstration. Not boundaries.'),
    source: Type.String({ examples: ['Natural Earth'] }),
    licence: Type.String({ examples: ['Public domain'] }),
    loaded_at: t.Time,
  },
)
export type CatalogBoundaries = Static<typeof CatalogBoundaries>

const ON = 'The product of a release.'

function countryOf(products: readonly ProductContract[]) {
  const crops = ofSeasonless(products, (names, needs) => `; ${names} ${needs} none`)
  return t.component('CatalogCountry', {
    code: Type.String({ examples: ['eth'] }),
    name: Type.String({ examples: ['Ethiopia'] }),
    crops: Type.Array(Type.String(), {
      description: `Codes of the crops it offers${crops}.`,
      examples: [['wheat']],
    }),
  })
}

function productOf(products: readonly ProductContract[]) {
  return t.component('CatalogProduct', {
    product: productSchema(products, ON),
    unit: t.string('The unit of its values.', 'kg/ha'),
    value: t.ref(CatalogValue),
    needs_crop: Type.Boolean(),
    path: t.string('Its point endpoint.', '/advisory/yield/point'),
  })
}

function releaseOf(products: readonly ProductContract[]) {
  const noMonth = ofSeasonless(products, (names) => ` None for ${names}.`)
  return t.component('CatalogRelease', {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    product: productSchema(products, ON),
    country_code: Type.String({ examples: ['eth'] }),
    crop: t.orNull(Type.String({ examples: ['wheat'] })),
    forecast_period: t.stringOrNull(`${FORECAST_MONTH} As \`YYYY-MM\`, for requests.${noMonth}`, '2026-07'),
    version: t.integer('Counts the releases for the same product, country, crop and month.'),
    synthetic: t.boolean(SYNTHETIC),
    lossy: Type.Optional(Type.Literal(true, { description: LOSSY })),
    valid_until: t.orNull(
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
    conditions: Type.Optional(t.ref(Conditions)),
    units: Type.Array(Type.String(), { examples: [['kg/ha']] }),
    range: t.orNull(t.ref(CatalogRange), 'Null where it has no value.'),
    grids: t.array(CatalogGrid, 'Of its values.'),
    source: Type.String({ examples: ['Ministry of Agriculture, agronomy model 4.2'] }),
    licence: Type.String({ examples: ['CC BY 4.0'] }),
    published_at: t.Time,
  })
}
export type CatalogRelease = Static<ReturnType<typeof releaseOf>>

export function defineCatalogSchemas(products: readonly ProductContract[]) {
  const country = countryOf(products)
  const product = productOf(products)
  const release = releaseOf(products)
  const catalog = t.component('Catalog', {
    countries: Type.Array(t.ref(country)),
    crops: Type.Array(t.ref(CatalogCrop)),
    products: Type.Array(t.ref(product)),
    scenarios: t.array(CatalogScenario, 'The usual ones, in their order.'),
    glossary: Type.Array(t.ref(CatalogTerm)),
    releases: Type.Array(t.ref(release)),
    boundaries: Type.Array(t.ref(CatalogBoundaries)),
    extensions: t.Extensions,
  })
  const components = [
    ...[country, CatalogCrop, CatalogValue, product, CatalogScenario, CatalogTerm],
    ...[Conditions, CatalogGrid, CatalogRange, release, CatalogBoundaries, catalog],
  ]
  return { catalog, components }
}

export const RELEASE_STATES = ['published', 'replaced', 'unpublished', 'deleted'] as const

const STATE =
  '`published`: it answers now. `replaced`: it was published, and answers where it is named. `unpublished`: it never was; admins alone see it. `deleted`: its values are gone, and its description is left.'

/** The states that a list filters by, incomplete releases included. */
const LISTED_STATES = [...RELEASE_STATES, 'incomplete'] as const

const LISTED_STATE = `${STATE} \`incomplete\`: it is being loaded, or its load was cut off; admins alone see it, where they ask for it.`

export const RELEASES_DEFAULTS = { limit: 100 } as const

export function defineReleasesQuery(products: readonly ProductContract[]) {
  return Type.Object({
    product: Type.Optional(productSchema(products, 'Only this product.')),
    country_code: t.filter('Only this country, in any case.', 'eth'),
    crop: t.filter('Only this crop, in any case.'),
    state: t.choice(
      LISTED_STATES,
      `Only such: ${LISTED_STATE} Without it, all but those that are deleted or incomplete.`,
    ),
    limit: t.pageLimit(1000, RELEASES_DEFAULTS.limit, 'The most items to answer with.'),
    cursor: t.Cursor,
  })
}

export const ReleaseParams = Type.Object({
  release: t.string('The code of a release.', 'synthetic-yield-eth-wheat-2026-07-v1'),
})

const ReleaseLayer = t.component('ReleaseLayer', 'A layer of a release.', {
  layer: Type.Integer({ minimum: 1, description: 'Its number, in the order of answers.', examples: [1] }),
  input: t.stringOrNull('The fertilizer, organic input or species; null where the product has none.'),
  scenario: t.orNull(Type.String({ examples: ['Normal'] })),
  condition: Type.Optional(t.string('Of the field, where it is for one.', 'foot slope')),
  role: t.choice(
    COMPANION_ROLES,
    'Of a band about layers: the `probability` of a scenario; `low` and `high` end or `stddev` of the layer with its names; the `landscape` that a condition comes from; the `share` of the condition that values without one are taken of.',
  ),
  probability: Type.Optional(t.number('Of its scenario, where the release has one for all places.', 0.4)),
  range: Type.Optional(
    Type.Array(Type.Number(), {
      description: 'The quantiles that the range of its values lies between.',
      examples: [[0.1, 0.9]],
    }),
  ),
  unit: Type.String({ examples: ['kg/ha'] }),
  decimals: t.integer('To so many digits its values are rounded.', 0),
  scale: t.number('Value = pixel * `scale` + `offset`.', 1),
  offset: Type.Number({ examples: [0] }),
  pixel_type: t.string('How pixels are stored, in the words of PostGIS.', '32BF'),
  grid: t.integer('Which of the `grids` it is on, from 1.', 1),
  pixels: t.integer('How many pixels have a value.', 1_182_114),
  minimum: t.orNull(Type.Number({ examples: [1200] })),
  maximum: t.orNull(Type.Number({ examples: [4800] })),
  mean: t.orNull(Type.Number({ examples: [2710.4] }), 'Of the pixels; null where none has a value.'),
})
export type ReleaseLayer = Static<typeof ReleaseLayer>

const ReleasePeriod = t.component('ReleasePeriod', 'When a release was published.', {
  from: t.Time,
  to: t.orNull(t.Time, 'Null while it is published.'),
})
export type ReleasePeriod = Static<typeof ReleasePeriod>

function membersOf(products: readonly ProductContract[]) {
  const none = ofSeasonless(products, (names) => ` None for ${names}.`)
  return {
    release: Type.String({ examples: ['yield-eth-wheat-2026-07-v1'] }),
    product: productSchema(products, 'Its product.'),
    country_code: Type.String({ examples: ['eth'] }),
    crop: t.orNull(Type.String({ examples: ['wheat'] })),
    forecast_period: t.orNull(
      Type.String({ examples: ['2026-07'] }),
      `${FORECAST_MONTH} As \`YYYY-MM\`.${none}`,
    ),
    version: t.integer('Counts the releases for the same product, country, crop and month.', 1),
    state: t.oneOf(RELEASE_STATES, STATE),
    synthetic: t.boolean(SYNTHETIC),
    lossy: Type.Optional(Type.Literal(true, { description: LOSSY })),
    valid_until: t.orNull(
      Type.String({ format: 'date' }),
      'The last day (UTC) of its season; null where it has none.',
    ),
    stale: Type.Optional(Type.Literal(true, { description: STALE })),
    source: Type.String({ examples: ['Ministry of Agriculture, agronomy model 4.2'] }),
    licence: Type.String({ examples: ['CC BY 4.0'] }),
    checksum: t.string(
      'SHA-256 of the definitions of its layers and of the files that it was loaded from.',
      '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
    ),
    loaded_at: t.Time,
    published_from: t.orNull(t.Time, 'When it was first published; null where it never was.'),
    published_to: t.orNull(
      t.Time,
      'When it was last replaced, withdrawn or deleted; null where it is published or never was.',
    ),
    deleted_at: t.orNull(t.Time, 'Null where it is there, or that was not recorded.'),
  }
}

/** Addresses of something of a release, as a template (RFC 6570), which an extension adds. */
export interface ReleaseLink {
  /** Its member in a release, and its relation in other documents. */
  name: string
  title: string
  description: string
  example: string
  /** The names in its braces. */
  variables: Record<string, { type: string; description?: string; enum?: string[] }>
  /** Null where the service has none. */
  address(settings: object, rootUrl: string, countryCode: string): string | null
}

/** Of extensions. */
export interface ReleaseAdditions {
  releaseLinks: readonly ReleaseLink[]
  releaseMembers: readonly { name: string; schema: TSchema }[]
}

export function defineReleasesSchemas(products: readonly ProductContract[], added: ReleaseAdditions) {
  const members = membersOf(products)
  const summary = t.component('ReleaseSummary', 'A release.', {
    ...members,
    state: t.oneOf(LISTED_STATES, LISTED_STATE),
    load: t.choice(
      ['running', 'cut_off', 'unknown'],
      'Of an `incomplete` one, whether a process still loads it; `loaded_at` is when that began. `cut_off`: none does, and the next load of the same data clears its rest away. `unknown`: an older version has begun it, which does not say.',
    ),
  })
  const release = t.component('ReleaseDescription', 'All that the service has of a release.', {
    ...members,
    periods: t.array(
      ReleasePeriod,
      'When it was published, the first time first: it may have been rolled back to.',
    ),
    ...(Object.fromEntries(added.releaseMembers.map(({ name, schema }) => [name, schema])) as object),
    conditions: Type.Optional(t.ref(Conditions)),
    grids: t.array(CatalogGrid, 'None where it is deleted.'),
    layers: t.array(ReleaseLayer, 'In the order of answers. None where it is deleted.'),
    ...(Object.fromEntries(
      added.releaseLinks.map(({ name, description, example }) => [
        name,
        t.stringOrNull(description, example),
      ]),
    ) as object),
  })
  const list = t.component('ReleaseList', {
    items: t.array(summary, 'In the order of their codes.'),
    next_cursor: t.stringOrNull('The `cursor` of the next page; null where this is the last one.'),
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
