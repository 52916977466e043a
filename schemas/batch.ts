import { type Static, type TObject, type TSchema, Type } from 'typebox'
import {
  FertilizerResponse,
  ForagePointRequest,
  ForageResponse,
  IsfmResponse,
  Location,
  PointRequest,
  YieldResponse,
} from './advisory.ts'
import { ErrorBody, PRODUCTS, type Product, ref } from './common.ts'

/** How many points one call may have. */
export const BATCH_LIMITS = { anonymous: 1000, withToken: 20_000 } as const

const PointId = Type.Unsafe<string | number>({
  type: ['string', 'number'],
  maxLength: 200,
  format: 'text',
  minimum: Number.MIN_SAFE_INTEGER,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'Whatever tells the points of a call apart, given back as it was sent.',
  examples: ['field-1'],
})

export const BatchPoint = Type.Object(
  {
    id: Type.Optional(PointId),
    lat: PointRequest.properties.lat,
    lng: PointRequest.properties.lng,
    name: PointRequest.properties.name,
  },
  { $id: 'BatchPoint', description: 'One of many points. Fields that are not listed are ignored.' },
)
export type BatchPoint = Static<typeof BatchPoint>

const { crop, country_code, forecast_period } = PointRequest.properties

/** What is said of all points of a call together, in a JSON body or in the query. */
export const BatchParameters = Type.Object({ crop, country_code, forecast_period })
export type BatchParameters = Static<typeof BatchParameters>

/** The same for forage. */
export const ForageBatchParameters = Type.Object({ country_code: ForagePointRequest.properties.country_code })

const Points = Type.Array(ref(BatchPoint), {
  minItems: 1,
  maxItems: BATCH_LIMITS.withToken,
  description: `At most ${BATCH_LIMITS.anonymous} without a token and ${BATCH_LIMITS.withToken} with one.`,
})

export const PointsRequest = Type.Object(
  { points: Points, ...BatchParameters.properties },
  {
    $id: 'PointsRequest',
    description: 'Points, and what to answer for at all of them.',
    examples: [
      {
        points: [
          { id: 'field-1', lat: 9.5, lng: 38.5, name: 'My field' },
          { id: 2, lat: -1, lng: 36.5 },
        ],
        crop: 'wheat',
        country_code: 'eth',
      },
    ],
  },
)

export const ForagePointsRequest = Type.Object(
  { points: Points, ...ForageBatchParameters.properties },
  {
    $id: 'ForagePointsRequest',
    description: 'Points, and the country to answer for at all of them.',
    examples: [{ points: [{ id: 'pasture-1', lat: -1, lng: 36.5 }], country_code: 'ken' }],
  },
)

export const PointLines = Type.String({
  $id: 'PointLines',
  description: 'One `BatchPoint` a line, as JSON. Empty lines are skipped.',
  examples: ['{"id":"field-1","lat":9.5,"lng":38.5,"name":"My field"}\n{"id":2,"lat":9.6,"lng":38.6}\n'],
})

export const PointTable = Type.String({
  $id: 'PointTable',
  description:
    'RFC 4180, in UTF-8. The first line names the columns, in any order and case: `lat` (or `latitude`) and `lng` (or `lon`, `long`, `longitude`), and if you like `id` and `name`. Others are ignored; empty cells count as left out; ids are text.',
  examples: ['id,name,lat,lng\r\nfield-1,"My field, upper part",9.5,38.5\r\nfield-2,,9.6,38.6\r\n'],
})

export const PointCollection = Type.Object(
  {
    type: Type.Literal('FeatureCollection'),
    features: Type.Array(
      Type.Object({
        type: Type.Literal('Feature'),
        id: Type.Optional(PointId),
        geometry: Type.Object({
          type: Type.Literal('Point'),
          coordinates: Type.Array(Type.Number(), { minItems: 2, description: 'Longitude, latitude.' }),
        }),
        properties: Type.Union([
          Type.Object({ id: Type.Optional(PointId), name: PointRequest.properties.name }),
          Type.Null(),
        ]),
      }),
      { minItems: 1, maxItems: BATCH_LIMITS.withToken },
    ),
  },
  {
    $id: 'PointCollection',
    description: 'GeoJSON points in WGS 84. Heights are ignored, and so are properties that are not listed.',
    examples: [
      {
        type: 'FeatureCollection',
        features: [
          {
            type: 'Feature',
            id: 'field-1',
            geometry: { type: 'Point', coordinates: [38.5, 9.5] },
            properties: { name: 'My field' },
          },
        ],
      },
    ],
  },
)

const ENTRIES = {
  yield: ['yield_data', YieldResponse],
  fertilizer: ['fertilizer_data', FertilizerResponse],
  isfm: ['isfm_data', IsfmResponse],
  forage: ['forage_data', ForageResponse],
} as const satisfies Record<Product, [string, TObject]>

const { error, code, details } = ErrorBody.properties

function orNull(schema: TSchema): TSchema {
  return Type.Union([schema, Type.Null()], { description: 'Null where there is no value: see `error`.' })
}

/** An answer of a point endpoint, or the reason why there is none. */
function itemOf(product: Product): TObject {
  const [entries, response] = ENTRIES[product]
  const {
    location: _,
    [entries]: data,
    history_id: __,
    ...rest
  } = response.properties as Record<string, TSchema>
  return Type.Object(
    {
      id: Type.Optional(PointId),
      location: Type.Optional(ref(Location)),
      ...Object.fromEntries(Object.entries(rest).map(([name, schema]) => [name, Type.Optional(schema)])),
      [entries]: Type.Optional(orNull(data as TSchema)),
      error: Type.Optional(error),
      code: Type.Optional(code),
      details: Type.Optional(details),
    },
    {
      $id: `${nameOf(product)}Item`,
      description: `What \`POST /advisory/${product}/point\` answers, with the point's \`id\`. A point without a value has \`${entries}\` null, and \`error\` and \`code\` say why; one that is not valid has these alone.`,
    },
  )
}

function nameOf(product: Product): string {
  return `${product.charAt(0).toUpperCase()}${product.slice(1)}`
}

const items = Object.fromEntries(PRODUCTS.map((product) => [product, itemOf(product)])) as Record<
  Product,
  TObject
>

/** The JSON answer of each product. */
export const BATCH_RESPONSES = Object.fromEntries(
  PRODUCTS.map((product) => [
    product,
    Type.Object(
      {
        release: Type.String({ description: 'The release that answered, for all points.' }),
        items: Type.Array(ref(items[product]), { description: 'One for each point, in their order.' }),
      },
      { $id: `${nameOf(product)}PointsResponse` },
    ),
  ]),
) as Record<string, TObject> as Record<Product, TObject>

export const AnswerLines = Type.String({
  $id: 'AnswerLines',
  description: 'For each point one line, in their order: an item of the JSON answer.',
  examples: [
    '{"id":"field-1","location":{"name":"My field","lat":9.5,"lng":38.5,"type":"point"},"forecast_period":"July 2026","yield_data":[{"scenario":"Normal","yield_kg_ha":3694}]}\n',
  ],
})

export const AnswerTable = Type.String({
  $id: 'AnswerTable',
  description:
    'For each point one row, in their order: `id`, `name`, `lat`, `lng`, `forecast_period` (not for forage), a column a layer, such as `rate_kg_ha Urea Normal`, then `error` and `code`. A text that a spreadsheet would take for a formula has an apostrophe before it.',
  examples: [
    'id,name,lat,lng,forecast_period,yield_kg_ha Normal,error,code\r\nfield-1,My field,9.5,38.5,July 2026,3694,,\r\n',
  ],
})

export const AnswerCollection = Type.Object(
  {
    type: Type.Literal('FeatureCollection'),
    release: Type.String({ description: 'The release that answered, for all points.' }),
    features: Type.Array(
      Type.Object({
        type: Type.Literal('Feature'),
        id: Type.Optional(PointId),
        geometry: Type.Union([
          Type.Object({ type: Type.Literal('Point'), coordinates: Type.Array(Type.Number()) }),
          Type.Null({ description: 'The point was not valid.' }),
        ]),
        properties: Type.Record(Type.String(), Type.Union([Type.String(), Type.Number(), Type.Null()]), {
          description:
            '`name`, `forecast_period` (not for forage), and a property a layer, such as `rate_kg_ha Urea Normal`, null where it has no value; `error` and `code` where there is none at all.',
        }),
      }),
      { description: 'One for each point, in their order.' },
    ),
  },
  {
    $id: 'AnswerCollection',
    examples: [
      {
        type: 'FeatureCollection',
        release: 'yield-eth-wheat-2026-07-v1',
        features: [
          {
            type: 'Feature',
            id: 'field-1',
            geometry: { type: 'Point', coordinates: [38.5, 9.5] },
            properties: { name: 'My field', forecast_period: 'July 2026', 'yield_kg_ha Normal': 3694 },
          },
        ],
      },
    ],
  },
)

export const batchSchemas = [
  BatchPoint,
  PointsRequest,
  ForagePointsRequest,
  PointLines,
  PointTable,
  PointCollection,
  ...Object.values(items),
  ...Object.values(BATCH_RESPONSES),
  AnswerLines,
  AnswerTable,
  AnswerCollection,
]
