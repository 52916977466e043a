import { type Static, Type } from 'typebox'
import { AdvisedArea } from './areas.ts'
import { documentedAs, oneOf, ref, Time } from './common.ts'
import { Feedback } from './feedback.ts'
import { geoJsonOf, MultiPolygon, Point } from './geojson.ts'
import { historyItemsOf } from './history-items.ts'
import { ofSeasonless, type ProductContract, recordedProductSchema } from './product.ts'

export const HISTORY_DEFAULTS = { limit: 50 } as const

export function historyQueryOf(products: readonly ProductContract[]) {
  return Type.Object({
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 100,
        default: HISTORY_DEFAULTS.limit,
        description: 'The most items to answer with. A page of large items ends earlier.',
      }),
    ),
    cursor: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 1000,
        description: 'Where to go on: the `next_cursor` of the page before, with the same other parameters.',
      }),
    ),
    product: Type.Optional(
      recordedProductSchema(
        products,
        'Only this product; `all` is what was asked for every product in one call.',
      ),
    ),
    kind: Type.Optional(
      oneOf(['point', 'polygon'], 'Only advice for points, or only for polygons and administrative areas.'),
    ),
    all: Type.Optional(
      oneOf(
        ['true', 'false'],
        'Whether to answer with all pages in one file, for CSV and GeoJSON; without `cursor`. Then `limit` does not matter.',
      ),
    ),
    country_code: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        format: 'text',
        description: 'Only this country, in any case.',
      }),
    ),
    from: Type.Optional(
      Type.String({
        format: 'moment',
        description: 'Only later answers: from the beginning of a date (UTC), or from a date and time.',
      }),
    ),
    to: Type.Optional(
      Type.String({
        format: 'moment',
        description: 'Only earlier answers: up to the end of a date (UTC), or before a date and time.',
      }),
    ),
  })
}
export type HistoryQuery = Static<ReturnType<typeof historyQueryOf>>

const HistoryLocation = Type.Object(
  {
    name: Type.String(),
    lat: Type.Number(),
    lng: Type.Number(),
    type: oneOf(['point', 'polygon'], 'The kind of place.'),
    area_ha: Type.Optional(Type.Number({ description: 'Hectares, of a polygon.' })),
    admin: Type.Optional(ref(AdvisedArea)),
  },
  { $id: 'HistoryLocation', description: 'The place; of a polygon, a point inside it.' },
)

const AsItWas = (description: string) =>
  Type.Unsafe<object>({ type: 'object', additionalProperties: true, description })

function historyItemOf(products: readonly ProductContract[]) {
  return Type.Object(
    {
      id: Type.String({ format: 'uuid' }),
      created_at: Time,
      kind: oneOf(['point', 'polygon'], 'The kind of place.'),
      product: recordedProductSchema(products, 'The product; `all` is every product in one call.'),
      country_code: Type.String({ examples: ['eth'] }),
      crop: Type.Union([Type.String(), Type.Null()], {
        description: ofSeasonless(products, (names) => `None for ${names}.`),
      }),
      releases: Type.Array(Type.String(), { description: 'The releases that answered, as they were then.' }),
      synthetic: Type.Optional(
        Type.Boolean({
          description:
            'Whether one of them is demonstration data. Left out where that is not known any more.',
        }),
      ),
      location: ref(HistoryLocation),
      forecast_period: Type.Optional(Type.String({ examples: ['July 2026'] })),
      forecast_month: Type.Optional(
        Type.String({ description: 'The same as `YYYY-MM`.', examples: ['2026-07'] }),
      ),
      request: AsItWas(
        'The request as the endpoint took it: its parameters, and the type, longitudes and latitudes of a polygon.',
      ),
      answer: AsItWas('The answer, without its `history_id`. It never changes.'),
      feedback: Type.Union([ref(Feedback), Type.Null()], { description: 'The feedback of the caller.' }),
    },
    {
      $id: 'HistoryItem',
      description: 'An advisory as it was given.',
      examples: [
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
            yield_data: [{ scenario: 'Normal', yield_kg_ha: 2464 }],
          },
          feedback: null,
        },
      ],
    },
  )
}
export type HistoryItem = Static<ReturnType<typeof historyItemOf>>

const NextCursor = Type.Union([Type.String(), Type.Null()], {
  description: 'The `cursor` of the next page; null where this is the last one.',
  examples: [null],
})

export const HistoryFeature = Type.Object(
  {
    type: Type.Literal('Feature'),
    id: Type.String({ format: 'uuid' }),
    created_at: Time,
    geometry: documentedAs(
      Type.Union([AsItWas('A Point or a MultiPolygon.'), Type.Null()]),
      Type.Union([
        geoJsonOf(
          [Point, MultiPolygon],
          'The point or polygon that was asked about; polygons are always MultiPolygons. Of an administrative area, the simplified outline that it has now, as in `GET /admin`; where it has none any more, a point inside, or null with `kind=polygon`.',
        ),
        Type.Null(),
      ]),
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
          N_Urea: 150,
        },
      ],
    }),
  },
  { $id: 'HistoryFeature', description: 'An item of the history as a GeoJSON Feature.' },
)

export const HistoryFeatureCollection = Type.Object(
  {
    type: Type.Literal('FeatureCollection'),
    features: Type.Array(ref(HistoryFeature)),
    next_cursor: NextCursor,
  },
  { $id: 'HistoryFeatureCollection' },
)

export const HistoryCsv = Type.String({
  $id: 'HistoryCsv',
  description:
    'A header and a row for each entry of each advisory (RFC 4180, UTF-8). Text that a spreadsheet would take for a formula begins with an apostrophe, and so does what follows a semicolon, a tab or a line end within one.',
  examples: [
    'id,kind,product,name,lat,lng,scenario,value,unit\r\n3f6d2a0e-0f7c-4b6e-9d1b-7c4f6f1f2a10,point,yield,My field,9.5,38.5,Normal,2464,kg/ha\r\n',
  ],
})

export function historySchemasOf(products: readonly ProductContract[]) {
  const item = historyItemOf(products)
  const { documented, components: items } = historyItemsOf(products, item)
  const list = Type.Object(
    { items: Type.Array(ref(item), { description: 'The newest first.' }), next_cursor: NextCursor },
    { $id: 'HistoryList' },
  )
  return {
    item,
    list,
    /** In the order of the document. */
    components: [
      HistoryLocation,
      documentedAs(item, documented),
      ...items,
      list,
      HistoryFeature,
      HistoryFeatureCollection,
      HistoryCsv,
    ],
  }
}
export type HistoryList = Static<ReturnType<typeof historySchemasOf>['list']>
