import { type Static, type TObject, type TSchema, Type } from 'typebox'
import { dataOrReason, Location, type PointSchemas, sharedMembers } from './advisory.ts'
import {
  AnswerLines,
  BATCH_LIMITS,
  type BatchForms,
  BatchPoint,
  Pass,
  PassedMembers,
  PointCollection,
  PointId,
  PointLines,
  PointTable,
  SentLabels,
} from './batch-forms.ts'
import { optional, ref, type WithoutNulls } from './common.ts'
import { CountrySource, Ignored } from './ignored.ts'
import { PointRequest } from './point-request.ts'
import { componentOf, examplePlaceOf, type ProductContract } from './product.ts'
import { BatchQuantityFields } from './quantities.ts'
import { hasQuantities } from './quantity-answers.ts'

const { crop, country_code, forecast_period, release } = PointRequest.properties

/** What is said of all points of a call together, in a JSON body or in the query. */
export const BatchParameters = Type.Object({
  crop,
  country_code,
  forecast_period,
  release,
  pass: optional(Pass),
  ...BatchQuantityFields,
})
export type BatchParameters = WithoutNulls<Static<typeof BatchParameters>>

/** The same for products without seasons, and of those the ones that have no quantities either. */
const ScoreBatchParameters = Type.Object({ country_code, release, pass: optional(Pass) })
const PlainBatchParameters = Type.Object({ ...ScoreBatchParameters.properties, ...BatchQuantityFields })

function parametersOf(product: ProductContract): TObject {
  if (product.seasonal) return BatchParameters
  return hasQuantities(product) ? PlainBatchParameters : ScoreBatchParameters
}

const Points = Type.Array(ref(BatchPoint), {
  minItems: 1,
  maxItems: BATCH_LIMITS.withToken,
  description: `At most ${BATCH_LIMITS.anonymous} without a token and ${BATCH_LIMITS.withToken} with one.`,
})

const PointsRequest = Type.Object(
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

/** What the operations of a product for many points are made of. */
export interface BatchSchemas<Product extends ProductContract = ProductContract> {
  product: Product
  parameters: TObject
  /** The parameters and the points, in a JSON body. */
  request: TObject
  item: TObject
  response: TObject
}

export function batchSchemasOf<Product extends ProductContract>(
  point: PointSchemas<Product>,
): BatchSchemas<Product> {
  const { product } = point
  const item = itemOf(point)
  const response = Type.Object(
    {
      ...sharedMembers(product),
      ignored: Ignored,
      items: Type.Array(ref(item), { description: 'One for each point, in their order.' }),
    },
    { $id: `${componentOf(product)}PointsResponse` },
  )
  return { product, parameters: parametersOf(product), request: requestOf(product), item, response }
}

function requestOf(product: ProductContract): TObject {
  if (product.seasonal) return PointsRequest
  const { id, lat, lng, country_code } = examplePlaceOf(product)
  return Type.Object(
    { points: Points, ...parametersOf(product).properties },
    {
      $id: `${componentOf(product)}PointsRequest`,
      description: 'Points, and the country to answer for at all of them.',
      examples: [{ points: [{ id, lat, lng }], country_code }],
    },
  )
}

/** An answer of a point endpoint, or the reason why there is none. */
function itemOf(point: PointSchemas): TObject {
  const { code, entries } = point.product
  const [answer] = (point.response as { examples?: object[] }).examples ?? []
  const members = {
    id: PointId,
    location: ref(Location),
    sent: SentLabels,
    country_source: CountrySource,
    ...dataOrReason(point),
    pass: PassedMembers,
  }
  return Type.Object(
    Object.fromEntries(Object.entries(members).map(([name, schema]) => [name, Type.Optional(schema)])),
    {
      $id: `${componentOf(point.product)}Item`,
      description: `The answer of \`POST /advisory/${code}/point\` with the point's \`id\`. Without a value \`${entries}\` is null, with \`error\` and \`code\`; an invalid point has these and \`sent\`.`,
      examples: [{ id: examplePlaceOf(point.product).id, ...answer }],
    },
  )
}

/** The components of the batch endpoints, in the order of the document. */
export function batchComponentsOf(schemas: readonly BatchSchemas[], forms: BatchForms): TSchema[] {
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
