import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { dataOrReason, Location, type PointSchemas } from './advisory.ts'
import * as t from './common.ts'
import { Point } from './geojson.ts'
import { PointRequest } from './point-request.ts'
import { componentOf, examplePlaceOf, ofSeasonless, type ProductContract } from './product.ts'
import { BatchQuantityFields, chooseMembers, takesAll } from './quantities.ts'
import { sharedMembers } from './release.ts'

/** How many points one call may have. */
export const BATCH_LIMITS = { anonymous: 1000, withToken: 20_000 } as const

const TextId = Type.String({ maxLength: 200, format: 'text' })
const NumberId = Type.Number({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })

const idOptions = {
  description: 'What distinguishes the points of a call, given back as it was sent.',
  examples: ['field-1'],
}

// One schema of two types gives one error text; generators expect two schemas.
export const PointId = t.documentedAs(
  Type.Unsafe<string | number>({ ...TextId, ...NumberId, type: ['string', 'number'], ...idOptions }),
  Type.Union([TextId, NumberId], idOptions),
)

export const PASS_LIMITS = { names: 20, characters: 1000 } as const

const Pass = Type.Array(t.text(100), {
  maxItems: PASS_LIMITS.names,
  uniqueItems: true,
  description: `Columns or properties to copy to the answers: at most ${PASS_LIMITS.names} names, repeated in the query or separated by commas. Values are texts up to ${PASS_LIMITS.characters} characters, numbers, true, false and null; others are refused. Names of own members of the answer and of missing columns are refused.`,
  examples: [['area_ha', 'farmer']],
})

const GivenBack = (description: string) =>
  Type.Union([Type.String(), Type.Number(), Type.Boolean()], { description })

export const SentLabels = Type.Object(
  {
    name: Type.Optional(GivenBack('Its name.')),
    lat: Type.Optional(GivenBack('Its latitude.')),
    lng: Type.Optional(GivenBack('Its longitude.')),
  },
  {
    description:
      'The fields of an invalid point, as they were sent, without objects, lists and texts over 200 characters.',
    examples: [{ name: 'My field', lat: 'nine', lng: 38.5 }],
  },
)
export type SentLabels = Static<typeof SentLabels>

const PassedMembers = Type.Unsafe<Record<string, string | number | boolean | null>>({
  type: 'object',
  additionalProperties: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
  description: 'The columns or properties of `pass`, as they were sent. Missing ones are left out.',
})

export const BatchPoint = t.component(
  'BatchPoint',
  'One of many points. Fields that are not listed are ignored, unless `pass` names them.',
  {
    id: t.optional(PointId),
    lat: PointRequest.properties.lat,
    lng: PointRequest.properties.lng,
    name: PointRequest.properties.name,
    condition: PointRequest.properties.condition,
  },
)
export type BatchPoint = t.WithoutNulls<Static<typeof BatchPoint>>

export const PointLines = t.textBody(
  'PointLines',
  'One `BatchPoint` or one Feature of GeoJSON a line, as JSON. Empty lines are skipped. A sequence (RFC 8142) is read as well.',
  '{"id":"field-1","lat":9.5,"lng":38.5,"name":"My field"}\n{"id":2,"lat":9.6,"lng":38.6}\n',
)

export const PointTable = t.textBody(
  'PointTable',
  'RFC 4180, with commas, semicolons or tabs, also as a line `sep=;` says; numbers may have decimal commas. The first line names the columns, in any order and case: `lat` (or `latitude`) and `lng` (or `lon`, `long`, `longitude`), and if you like `id` and `name`. Others are ignored, unless `pass` names them; empty cells count as left out, and empty rows are skipped; ids are text.',
  'id,name,lat,lng\r\nfield-1,"My field, upper part",9.5,38.5\r\nfield-2,,9.6,38.6\r\n',
)

export const PointCollection = t.component(
  'PointCollection',
  'GeoJSON points in WGS 84. Heights are ignored, and so are properties that are not listed, unless `pass` names them.',
  {
    type: Type.Literal('FeatureCollection'),
    features: Type.Array(
      Type.Object({
        type: Type.Literal('Feature'),
        id: t.optional(PointId),
        geometry: t.ref(Point),
        properties: t.optional(
          Type.Object({
            // Files of others have what they like there.
            id: Type.Optional(
              Type.Unknown({
                description:
                  'Names the point as `id` of the Feature does, where that is left out; else it is ignored.',
              }),
            ),
            name: PointRequest.properties.name,
          }),
        ),
      }),
      { minItems: 1, maxItems: BATCH_LIMITS.withToken },
    ),
  },
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
)

export const EXAMPLE_RELEASE = {
  country_code: 'eth',
  crop: 'wheat',
  forecast_period: 'July 2026',
  forecast_month: '2026-07',
  release: 'yield-eth-wheat-2026-07-v1',
  synthetic: false,
}

export const AnswerLines = t.textBody(
  'AnswerLines',
  'For each point one line, in their order: an item of the JSON answer.',
  '{"id":"field-1","location":{"name":"My field","lat":9.5,"lng":38.5,"type":"point"},"country_code":"eth","crop":"wheat","forecast_period":"July 2026","forecast_month":"2026-07","release":"yield-eth-wheat-2026-07-v1","synthetic":false,"yield_data":[{"scenario":"Normal","yield_kg_ha":4229,"probability":0.39}]}\n',
)

export function defineBatchFormats(products: readonly ProductContract[]) {
  const seasons = ofSeasonless(products, (names) => ` (not for ${names})`)
  const table = t.textBody(
    'AnswerTable',
    `For each point one row, in their order: \`id\`, \`name\`, \`lat\`, \`lng\`, \`country_code\`, \`crop\`, \`forecast_period\` and \`forecast_month\`${seasons}, \`release\`, \`synthetic\`, a column a layer, such as \`rate_kg_ha Urea Normal\`, then \`error\` and \`code\`, then what \`pass\` named. A row that is not valid has its cells as they were sent. A text that a spreadsheet would take for a formula has an apostrophe before it, and so has what follows a semicolon, a tab or a line end within one.`,
    'id,name,lat,lng,country_code,crop,forecast_period,forecast_month,release,synthetic,yield_kg_ha Normal,error,code\r\nfield-1,My field,9.5,38.5,eth,wheat,July 2026,2026-07,yield-eth-wheat-2026-07-v1,false,4229,,\r\n',
  )
  const collection = defineAnswerCollection(
    {
      geometry: Type.Union([t.ref(Point), Type.Null({ description: 'The point was not valid.' })]),
      properties: `\`name\`, \`country_code\`, \`crop\`, \`forecast_period\` and \`forecast_month\`${seasons}, \`release\`, \`synthetic\`, and a property a layer, such as \`rate_kg_ha Urea Normal\`, null where it has no value; \`error\` and \`code\` where there is none at all; and what \`pass\` named. A point that is not valid has \`name\`, \`lat\` and \`lng\` as they were sent.`,
      features: 'One for each point, in their order.',
    },
    {
      $id: 'AnswerCollection',
      examples: [
        {
          type: 'FeatureCollection',
          ...EXAMPLE_RELEASE,
          features: [
            {
              type: 'Feature',
              id: 'field-1',
              geometry: { type: 'Point', coordinates: [38.5, 9.5] },
              properties: { name: 'My field', ...EXAMPLE_RELEASE, 'yield_kg_ha Normal': 4229 },
            },
          ],
        },
      ],
    },
  )
  return { table, collection }
}

/** Answers as GeoJSON: a Feature for each place. */
export function defineAnswerCollection(
  { geometry, properties, features }: { geometry: TSchema; properties: string; features: string },
  options: { $id: string; examples?: object[] },
): TSchema {
  return Type.Object(
    {
      type: Type.Literal('FeatureCollection'),
      ...sharedMembers({ seasonal: true }),
      ignored: t.Ignored,
      features: Type.Array(
        Type.Object({
          type: Type.Literal('Feature'),
          id: Type.Optional(PointId),
          geometry,
          properties: Type.Record(
            Type.String(),
            Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()]),
            { description: properties },
          ),
        }),
        { description: features },
      ),
    },
    options,
  )
}

const { crop, country_code, forecast_period, release, condition } = PointRequest.properties

/** The parameters for all points, in a JSON body or in the query. */
export const BatchParameters = Type.Object({
  crop,
  country_code,
  forecast_period,
  release,
  condition,
  pass: t.optional(Pass),
  ...BatchQuantityFields,
})
export type BatchParameters = t.WithoutNulls<Static<typeof BatchParameters>>

const Points = Type.Array(t.ref(BatchPoint), {
  minItems: 1,
  maxItems: BATCH_LIMITS.withToken,
  description: `At most ${BATCH_LIMITS.anonymous} without a token and ${BATCH_LIMITS.withToken} with one.`,
})

const PointsRequest = t.component(
  'PointsRequest',
  'Points, and what to answer for at all of them.',
  { points: Points, ...BatchParameters.properties },
  {
    points: [
      { id: 'field-1', lat: 9.5, lng: 38.5, name: 'My field' },
      { id: 2, lat: -1, lng: 36.5 },
    ],
    crop: 'wheat',
    country_code: 'eth',
  },
)

export type BatchSchemas<Product extends ProductContract = ProductContract> = ReturnType<
  typeof defineBatchSchemas<Product>
>

export function defineBatchSchemas<Product extends ProductContract>(point: PointSchemas<Product>) {
  const { product } = point
  const item = defineItem(point)
  const $id = `${componentOf(product)}PointsResponse`
  const response = defineItems(product, item, 'One for each point, in their order.', $id)
  const parameters = Type.Object(chooseMembers(product, BatchParameters.properties))
  return { product, parameters, request: defineRequest(product), item, response }
}

function defineRequest(product: ProductContract): TObject {
  if (takesAll(product)) return PointsRequest
  const { id, lat, lng, country_code } = examplePlaceOf(product)
  return t.component(
    `${componentOf(product)}PointsRequest`,
    'Points, and the country to answer for at all of them.',
    { points: Points, ...chooseMembers(product, BatchParameters.properties) },
    { points: [{ id, lat, lng }], country_code },
  )
}

function defineItem(point: PointSchemas): TObject {
  const { code, entries } = point.product
  const [answer] = (point.response as { examples?: object[] }).examples ?? []
  const members = {
    id: PointId,
    location: t.ref(Location),
    sent: SentLabels,
    country_source: t.CountrySource,
    ...dataOrReason(point),
    pass: PassedMembers,
  }
  return t.component(
    `${componentOf(point.product)}Item`,
    `The answer of \`POST /advisory/${code}/point\` with the point's \`id\`. Without a value \`${entries}\` is null, with \`error\` and \`code\`; an invalid point has these and \`sent\`.`,
    Type.Partial(Type.Object(members)).properties,
    { id: examplePlaceOf(point.product).id, ...answer },
  )
}

export function defineItems(product: ProductContract, item: TObject, description: string, $id: string) {
  const items = t.array(item, description)
  return t.component($id, { ...sharedMembers(product), ignored: t.Ignored, items })
}

export function listBatchComponents(
  schemas: readonly BatchSchemas[],
  forms: ReturnType<typeof defineBatchFormats>,
): TSchema[] {
  return [
    BatchPoint,
    ...new Set([PointsRequest, ...schemas.map(({ request }) => request)]),
    PointLines,
    PointTable,
    PointCollection,
    ...schemas.map(({ item }) => item),
    ...schemas.map(({ response }) => response),
    AnswerLines,
    forms.table,
    forms.collection,
  ]
}
