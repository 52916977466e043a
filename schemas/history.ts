import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { Location } from './advisory.ts'
import { AdvisedArea } from './areas.ts'
import * as t from './common.ts'
import { Feedback } from './feedback.ts'
import { defineGeoJson, MultiPolygon, Point } from './geojson.ts'
import { type AnswerOptions, answeredMembers } from './point-request.ts'
import {
  ALL_PRODUCTS,
  componentOf,
  ofSeasonless,
  type ProductContract,
  recordedProductSchema,
} from './product.ts'
import { takesAll } from './quantities.ts'
import { releaseMembers } from './release.ts'

export const ItemParams = Type.Object({ id: Type.String({ description: 'The id of the item.' }) })

/** A component by its name alone. */
const named = ($id: string) => t.ref(Type.Unknown({ $id }))

/** The items by product, for the document alone: a stored answer is returned as it was. */
function defineHistoryItems(products: readonly ProductContract[], item: TObject, options: AnswerOptions) {
  const variants: [code: string, variant: TSchema][] = [
    ...products.map((product): [string, TSchema] => [product.code, defineItem(product, item)]),
    [ALL_PRODUCTS, itemOfAll(products, item, options)],
  ]
  const components = variants.map(([, variant]) => variant)
  const { description, examples } = item as TObject & { description: string; examples: unknown[] }
  const documented = Type.Unsafe({
    type: 'object',
    oneOf: components.map((variant) => t.ref(variant)),
    discriminator: {
      propertyName: 'product',
      mapping: Object.fromEntries(
        variants.map(([code, { $id }]: [string, { $id?: string }]) => [code, `${$id}#`]),
      ),
    },
    description,
    examples,
  })
  return { documented, components }
}

function defineItem(product: ProductContract, item: TObject) {
  const component = componentOf(product)
  const requests = takesAll(product) ? '' : component
  return defineVariant(item, component, product.code, {
    request: Type.Union([named(`${requests}PointRequest`), named(`${requests}PolygonRequest`)]),
    answer: defineAnswer(product, item),
  })
}

/** Answers that are older than a member of the release lack it. */
function defineAnswer(product: ProductContract, { properties }: TObject): TSchema {
  const component = componentOf(product)
  const release = Object.entries(releaseMembers(product))
  return Type.Object({
    location: properties.location as TSchema,
    ...Object.fromEntries(release.map(([name, schema]) => [name, Type.Optional(schema)])),
    [product.entries]: Type.Array(
      Type.Union([named(`Polygon${component}Entry`), named(`${component}Entry`)]),
    ),
  })
}

/** Answers that are older than what says the country lack that. */
function itemOfAll(products: readonly ProductContract[], item: TObject, options: AnswerOptions) {
  const { country_code, crop } = releaseMembers({ seasonal: false })
  return defineVariant(item, 'Everything', ALL_PRODUCTS, {
    request: named('PointRequest'),
    answer: Type.Object({
      location: t.ref(Location),
      country_code: Type.Optional(country_code as TSchema),
      crop: Type.Optional(crop as TSchema),
      country_source: t.CountrySource,
      ...Object.fromEntries(
        products.map((product) => [product.code, named(`${componentOf(product)}Section`)]),
      ),
      ...answeredMembers(options, 'pixels'),
    }),
  })
}

function defineVariant(
  { properties }: TObject,
  prefix: string,
  code: string,
  { request, answer }: { request: TSchema; answer: TSchema },
) {
  const describedAs = (name: string, schema: TSchema): TSchema => ({
    ...schema,
    description: (properties[name] as { description: string }).description,
  })
  return t.component(`${prefix}HistoryItem`, {
    ...properties,
    product: Type.Literal(code),
    request: describedAs('request', request),
    answer: describedAs('answer', answer),
  })
}

export const HISTORY_DEFAULTS = { limit: 50 } as const

const moment = (description: string) => Type.Optional(Type.String({ format: 'moment', description }))

export function defineHistoryQuery(products: readonly ProductContract[]) {
  return Type.Object({
    limit: t.pageLimit(
      100,
      HISTORY_DEFAULTS.limit,
      'The most items to answer with. A page of large items ends earlier.',
    ),
    cursor: t.Cursor,
    product: Type.Optional(
      recordedProductSchema(
        products,
        'Only this product; `all` is what was asked for every product in one call.',
      ),
    ),
    kind: t.choice(
      ['point', 'polygon'],
      'Only advice for points, or only for polygons and administrative areas.',
    ),
    all: t.choice(
      ['true', 'false'],
      'Whether to answer with all pages in one file, for CSV and GeoJSON; without `cursor`. Then `limit` does not matter.',
    ),
    country_code: t.filter('Only this country, in any case.'),
    from: moment('Only later answers: from the beginning of a date (UTC), or from a date and time.'),
    to: moment('Only earlier answers: up to the end of a date (UTC), or before a date and time.'),
  })
}

const HistoryLocation = t.component('HistoryLocation', 'The place; of a polygon, a point inside it.', {
  name: Type.String(),
  lat: Type.Number(),
  lng: Type.Number(),
  type: t.oneOf(['point', 'polygon'], 'The kind of place.'),
  area_ha: Type.Optional(t.number('Hectares, of a polygon.')),
  admin: Type.Optional(t.ref(AdvisedArea)),
})

export const AsItWas = (description: string) =>
  Type.Unsafe<object>({ type: 'object', additionalProperties: true, description })

function defineHistoryItem(products: readonly ProductContract[]) {
  return t.component(
    'HistoryItem',
    'An advisory as it was given.',
    {
      id: Type.String({ format: 'uuid' }),
      created_at: t.Time,
      kind: t.oneOf(['point', 'polygon'], 'The kind of place.'),
      product: recordedProductSchema(products, 'The product; `all` is every product in one call.'),
      country_code: Type.String({ examples: ['eth'] }),
      crop: t.stringOrNull(ofSeasonless(products, (names) => `None for ${names}.`)),
      releases: Type.Array(Type.String(), { description: 'The releases that answered, as they were then.' }),
      synthetic: Type.Optional(
        t.boolean('Whether one of them is demonstration data. Left out where the service has forgotten it.'),
      ),
      location: t.ref(HistoryLocation),
      forecast_period: Type.Optional(Type.String({ examples: ['July 2026'] })),
      forecast_month: Type.Optional(t.string('The same as `YYYY-MM`.', '2026-07')),
      request: AsItWas(
        'The request as the endpoint took it: its parameters, and the type, longitudes and latitudes of a polygon.',
      ),
      answer: AsItWas('The answer, without its `history_id`. It never changes.'),
      feedback: t.orNull(t.ref(Feedback), 'The feedback of the caller.'),
    },
    {
      id: '3f6d2a0e-0f7c-4b6e-9d1b-7c4f6f1f2a10',
      created_at: '2026-07-01T08:30:00.000Z',
      kind: 'point',
      product: 'yield',
      country_code: 'eth',
      crop: 'wheat',
      releases: ['yield-eth-wheat-2026-07-v1'],
      synthetic: false,
      location: { name: 'My field', lat: 9.5, lng: 38.5, type: 'point' },
      forecast_period: 'July 2026',
      forecast_month: '2026-07',
      request: { lat: 9.5, lng: 38.5, name: 'My field' },
      answer: {
        location: { name: 'My field', lat: 9.5, lng: 38.5, type: 'point' },
        forecast_period: 'July 2026',
        forecast_month: '2026-07',
        release: 'yield-eth-wheat-2026-07-v1',
        synthetic: false,
        yield_data: [{ scenario: 'Normal', yield_kg_ha: 4229 }],
      },
      feedback: null,
    },
  )
}
export type HistoryItem = Static<ReturnType<typeof defineHistoryItem>>

export const HistoryFeature = t.component('HistoryFeature', 'An item of the history as a GeoJSON Feature.', {
  type: Type.Literal('Feature'),
  id: Type.String({ format: 'uuid' }),
  created_at: t.Time,
  geometry: t.documentedAs(
    t.orNull(AsItWas('A Point or a MultiPolygon.')),
    t.orNull(
      defineGeoJson(
        [Point, MultiPolygon],
        'The point or polygon that was asked about; polygons are always MultiPolygons. Of an administrative area, the simplified outline that it has now, as in `GET /admin`; where it has none any more, a point inside, or null with `kind=polygon`.',
      ),
    ),
  ),
  properties: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Boolean()]), {
    description:
      'Flat, with names of at most ten characters: `date`, `kind`, `product`, `country`, `crop`, `name`, `lat`, `lng`, `area_ha`, `adm_level`, `adm_code`, `adm_name`, `month`, `release`, `synthetic`, `unit`, `rating`, `comment`, as far as the item has them, and a column a layer: the initials of its scenario and its input, so that `AN_Urea` is Urea for Above Normal, and `BN_yield` the yield for Below Normal. Of polygons it is the mean, and `min_`, `max_`, `sd_` (standard deviation), `cov_` (percent covered) and `tot_` (total) stand before the same name.',
    examples: [
      {
        date: '2026-07-01',
        kind: 'point',
        product: 'fertilizer',
        country: 'eth',
        crop: 'wheat',
        name: 'My field',
        lat: 9.5,
        lng: 38.5,
        month: '2026-07',
        release: 'fertilizer-eth-wheat-2026-07-v1',
        synthetic: false,
        unit: 'kg/ha',
        N_Urea: 137,
      },
    ],
  }),
})

export const HistoryFeatureCollection = t.component('HistoryFeatureCollection', {
  type: Type.Literal('FeatureCollection'),
  features: Type.Array(t.ref(HistoryFeature)),
  next_cursor: t.NextCursor,
})

export const HistoryCsv = t.textBody(
  'HistoryCsv',
  'A header and a row for each entry of each advisory (RFC 4180, UTF-8). Text that a spreadsheet would take for a formula begins with an apostrophe, and so does what follows a semicolon, a tab or a line end within one.',
  'id,kind,product,name,lat,lng,scenario,value,unit\r\n3f6d2a0e-0f7c-4b6e-9d1b-7c4f6f1f2a10,point,yield,My field,9.5,38.5,Normal,4229,kg/ha\r\n',
)

export function defineHistorySchemas(products: readonly ProductContract[], options: AnswerOptions) {
  const item = defineHistoryItem(products)
  const { documented, components: items } = defineHistoryItems(products, item, options)
  const list = t.page(item, 'HistoryList', 'The newest first.')
  return {
    item,
    list,
    components: [
      HistoryLocation,
      t.documentedAs(item, documented),
      ...items,
      list,
      HistoryFeature,
      HistoryFeatureCollection,
      HistoryCsv,
    ],
  }
}
export type HistoryList = Static<ReturnType<typeof defineHistorySchemas>['list']>
