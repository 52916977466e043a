import { type TObject, type TProperties, type TSchema, Type } from 'typebox'
import { ErrorBody, oneOf, ref } from './common.ts'
import { FORECAST_MONTH, SCENARIOS, STALE, SYNTHETIC } from './glossary.ts'
import { CountrySource, Ignored, IgnoredName } from './ignored.ts'
import { asRemainder, PointRemainder, PointRequest } from './point-request.ts'
import { componentOf, examplePlaceOf, type ProductContract } from './product.ts'
import { PROVENANCE_COMPONENTS, ProvenanceMember } from './provenance.ts'
import { QuantityFields } from './quantities.ts'
import { hasQuantities, quantitiesOfAnswer, quantityComponents, quantityOfEntry } from './quantity-answers.ts'
import { ShortText } from './short-text.ts'

export const Location = Type.Object(
  {
    name: Type.String({ description: 'The label of the request.', examples: ['My field'] }),
    lat: Type.Number({ examples: [9.5] }),
    lng: Type.Number({ examples: [38.5] }),
    type: oneOf(['point', 'polygon'], 'The kind of place.'),
  },
  { $id: 'Location' },
)

const Scenario = Type.String({
  description: `How the season turns out:\n\n${SCENARIOS.map(
    ({ scenario, description }) => `- \`${scenario}\`: ${description}`,
  ).join('\n')}\n\nOr another by its name, as published by the source.`,
  examples: ['Above Normal', 'Normal', 'Below Normal', 'Dominant'],
})

const Period = Type.String({
  description: `${FORECAST_MONTH} In English.`,
  examples: ['July 2026'],
})

const Month = Type.String({
  description: 'The same month as `YYYY-MM`, as requests take it in `forecast_period`.',
  examples: ['2026-07'],
})

const AnsweredCountry = Type.String({
  description: 'The code of the country that was answered for.',
  examples: ['eth'],
})

const AnsweredCrop = Type.Union([Type.String(), Type.Null()], {
  description: 'The code of the crop that was answered for; null where the answer is of no crop.',
  examples: ['wheat'],
})

const Release = Type.String({
  description: 'The code of the release that answered, as in `GET /catalog`.',
  examples: ['yield-eth-wheat-2026-07-v1'],
})

const Synthetic = Type.Boolean({ description: SYNTHETIC })

const Stale = Type.Boolean({ description: STALE })

/** What feedback is given to; see `schemas/history.ts`. */
export const HistoryId = Type.String({
  format: 'uuid',
  description: 'The id of this answer in the history of the caller. For callers with a valid token.',
})

/** What the operations of a product for one point are made of. */
export interface PointSchemas<Product extends ProductContract = ProductContract> {
  product: Product
  request: TObject
  /** What is left of a request for the body where the query has the rest. */
  remainder: TObject
  /** One layer of the answer. */
  entry: TObject
  response: TObject
}

export function pointSchemasOf<Product extends ProductContract>(product: Product): PointSchemas<Product> {
  const entry = entryOf(product)
  const response = responseOf(product, entry)
  return { product, request: requestOf(product), remainder: remainderOf(product), entry, response }
}

function remainderOf(product: ProductContract): TObject {
  if (product.seasonal) return PointRemainder
  return asRemainder(requestOf(product), `${componentOf(product)}PointRemainder`)
}

/** Products without seasons take no crop and no month. */
function requestOf(product: ProductContract): TObject {
  if (product.seasonal) return PointRequest
  const component = componentOf(product)
  const { lat, lng, country_code, name } = examplePlaceOf(product)
  const { crop: _, forecast_period: __, ...properties } = PointRequest.properties
  return Type.Object(hasQuantities(product) ? properties : withoutQuantities(properties), {
    $id: `${component}PointRequest`,
    description: `A point. ${component} needs no crop; fields that are not listed are ignored, and named in \`ignored\` where no other product has them.`,
    examples: [{ lat, lng, country_code, name }],
  })
}

function withoutQuantities(properties: TProperties): TProperties {
  return Object.fromEntries(Object.entries(properties).filter(([name]) => !(name in QuantityFields)))
}

function entryOf(product: ProductContract): TObject {
  const { input, seasonal, value } = product
  return Type.Object(
    {
      ...(input && { [input.key]: Type.String({ description: input.description }) }),
      ...(seasonal && { scenario: Scenario }),
      [value.key]: value.schema,
      ...quantityOfEntry(product),
    },
    { $id: `${componentOf(product)}Entry`, examples: product.examples.point.slice(0, 1) },
  )
}

/** What an answer says of the release beside its entries. */
export function releaseMembers({ seasonal }: Pick<ProductContract, 'seasonal'>): Record<string, TSchema> {
  return {
    country_code: AnsweredCountry,
    crop: AnsweredCrop,
    ...(seasonal && { forecast_period: Period, forecast_month: Month }),
    release: Release,
    synthetic: Synthetic,
    stale: Type.Optional(Stale),
  }
}

/** What is said of all items of an answer: what they say alike, where they are of several countries. */
export function sharedMembers(product: Pick<ProductContract, 'seasonal'>): Record<string, TSchema> {
  const members = Object.entries(releaseMembers(product))
  return {
    ...Object.fromEntries(members.map(([name, schema]) => [name, Type.Optional(schema)])),
    country_source: CountrySource,
  }
}

/** The same as the members of a release, as the examples of a product have it. */
export function exampleMembers(product: ProductContract): Record<string, string | boolean | null> {
  const { code, seasonal } = product
  const { country_code } = examplePlaceOf(product)
  const subject = seasonal ? `${country_code}-wheat-2026-07` : country_code
  return {
    country_code,
    crop: seasonal ? 'wheat' : null,
    ...(seasonal && { forecast_period: 'July 2026', forecast_month: '2026-07' }),
    release: `${code}-${subject}-v1`,
    synthetic: false,
  }
}

function responseOf(product: ProductContract, entry: TObject): TObject {
  const { entries, examples } = product
  const { name, lat, lng } = examplePlaceOf(product)
  return Type.Object(
    {
      location: ref(Location),
      ...releaseMembers(product),
      [entries]: Type.Array(ref(entry)),
      provenance: ProvenanceMember,
      ...quantitiesOfAnswer(product),
      history_id: Type.Optional(HistoryId),
      ignored: Ignored,
    },
    {
      $id: `${componentOf(product)}Response`,
      examples: [
        {
          location: { name, lat, lng, type: 'point' },
          ...exampleMembers(product),
          [entries]: examples.point,
        },
      ],
    },
  )
}

const { error, code, details } = ErrorBody.properties

/**
 * What a point's answer says of the place, or why it has nothing to say: the members of an answer where
 * that of one point is a part.
 */
export function dataOrReason({
  product,
  response,
}: Pick<PointSchemas, 'product' | 'response'>): Record<string, TSchema> {
  const {
    location: _,
    history_id: __,
    provenance: ___,
    ignored: ____,
    ...data
  } = response.properties as Record<string, TSchema>
  return {
    ...Object.fromEntries(
      Object.entries(data).map(([name, schema]) => [
        name,
        name === product.entries
          ? Type.Union([schema, Type.Null()], {
              description: 'Null where there is no value: see `error`.',
            })
          : Type.Optional(schema),
      ]),
    ),
    error: Type.Optional(error),
    code: Type.Optional(code),
    details: Type.Optional(details),
  }
}

export const PointAnswerTable = Type.String({
  $id: 'PointAnswerTable',
  description:
    'A header and one row: `name`, `lat`, `lng`, what every answer says of its release, and a column for each layer, empty where it has no value. Texts that a spreadsheet would take for a formula have an apostrophe before them.',
  examples: [
    'name,lat,lng,country_code,crop,forecast_period,forecast_month,release,synthetic,yield_kg_ha Normal\r\nMy field,9.5,38.5,eth,wheat,July 2026,2026-07,yield-eth-wheat-2026-07-v1,false,3694\r\n',
  ],
})

export const ReleaseHeader = Type.String({
  description:
    'The release that the answer was computed from, as in `GET /catalog`; several are separated by commas. One that begins with `synthetic-` is demonstration data, made by a formula.',
})

export const HistoryHeader = Type.Enum(['full', 'service-full'], {
  description:
    'Sent where the answer is not kept, and has no `history_id`. `full`: the history holds as much as the service keeps of an account, and it is set to keep what is there. `service-full`: the histories of all accounts hold as much as it keeps.',
})

/** The components of the point endpoints, in the order of the document. */
export function pointComponentsOf(schemas: readonly PointSchemas[]): TSchema[] {
  return [
    ...new Set([PointRequest, ...schemas.map(({ request }) => request)]),
    ...new Set([PointRemainder, ...schemas.map(({ remainder }) => remainder)]),
    Location,
    IgnoredName,
    ...PROVENANCE_COMPONENTS,
    ...quantityComponents,
    ShortText,
    ...schemas.map(({ entry }) => entry),
    ...schemas.map(({ response }) => response),
    PointAnswerTable,
  ]
}
