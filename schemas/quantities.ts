import { type Static, type TSchema, Type } from 'typebox'
import { documentedAs, inQuery, oneOf, optional, type WithoutNulls } from './common.ts'

/** What the documents list; `src/domains/advisory/quantities/units.ts` has their sizes. */
export const AREA_UNIT_NAMES = ['ha', 'm2', 'are', 'acre', 'timad'] as const

/** The largest numbers that quantities are computed of. */
export const QUANTITY_LIMITS = {
  hectares: 1_000_000,
  bagKilograms: 10_000,
  price: 1_000_000_000,
  budget: 1_000_000_000_000,
  weight: 1_000_000,
  names: 50,
  decimals: 12,
} as const

const CURRENCY_PATTERN = '^[A-Z]{3}$'

export const Currency = Type.String({
  pattern: CURRENCY_PATTERN,
  description: 'An ISO 4217 code. Nothing is converted.',
  examples: ['ETB'],
})

/** Numbers by names, such as those of fertilizers. */
const numbersByName = (maximum: number, description: string, example: object) =>
  Type.Record(Type.String(), Type.Number({ minimum: 0, maximum }), {
    maxProperties: QUANTITY_LIMITS.names,
    description,
    examples: [example],
  })

const Text = { type: 'string', maxLength: 4000, format: 'text' }

/** In a body, which as a whole is short, texts have no length of their own. */
const InBody = { format: 'text' }

/**
 * An object in a body, which may also be its text; the text in a query. What they say is checked by code, which names the
 * part that is wrong.
 */
function objectOrText<Value>(documented: TSchema, inText: string) {
  const checked = Type.Unsafe<Value | string>({ ...InBody, type: ['object', 'string'] })
  return optional(inQuery(documentedAs(checked, Type.Union([documented])), { ...Text, description: inText }))
}

/** An area as requests tell it; which of its members there may be is checked by code. */
export interface AreaRequest {
  value?: number
  unit?: string
  from?: string
}

const AreaValue = Type.Number({
  exclusiveMinimum: 0,
  description: `How much: at most ${QUANTITY_LIMITS.hectares} ha.`,
  examples: [2.5],
})

export const AreaUnit = oneOf(
  AREA_UNIT_NAMES,
  'Hectare, square metre, are (100 m²), international acre (4,046.8564224 m²), or timad (a quarter of a hectare). Plurals and full names are understood. By default `ha`.',
)

const Area = objectOrText<AreaRequest>(
  Type.Object(
    { value: AreaValue, unit: Type.Optional(AreaUnit) },
    {
      description: 'How large the field is. One hectare when left out, where other quantities are asked for.',
    },
  ),
  'How large the field is, such as `2.5 ha`.',
)

const Bags = objectOrText<Record<string, number>>(
  numbersByName(
    QUANTITY_LIMITS.bagKilograms,
    'The kilograms of a bag, by input. The answer has the number of bags, and the rest of the last one.',
    { Urea: 50, DAP: 50 },
  ),
  'The kilograms of a bag, such as `Urea:50,DAP:50`.',
)

const PriceList = (per: string, example: object) =>
  numbersByName(QUANTITY_LIMITS.price, `The price of ${per}, by input.`, example)

const Prices = objectOrText<{ currency?: string; per_kg?: object; per_bag?: object }>(
  Type.Object(
    {
      currency: Currency,
      per_kg: Type.Optional(PriceList('a kilogram', { Compost: 4.5 })),
      per_bag: Type.Optional(PriceList('a bag in `bags`', { Urea: 2250, DAP: 2600 })),
    },
    { description: 'The prices of inputs. Inputs in bags are bought in whole bags.' },
  ),
  'The currency and the prices of inputs, by the kilogram or, with `/bag`, by the bag, such as `ETB Urea:2250/bag,Compost:4.5`.',
)

const Budget = optional(
  Type.Number({
    minimum: 0,
    maximum: QUANTITY_LIMITS.budget,
    description:
      'The money for the inputs of one product, in the currency of `prices`. Refused where inputs of two products have prices.',
  }),
)

const ProducePrice = objectOrText<{ currency?: string; per_kg?: number }>(
  Type.Object(
    { currency: Currency, per_kg: Type.Number({ minimum: 0, maximum: QUANTITY_LIMITS.price }) },
    {
      description: 'The price of a kilogram of the harvest, for yields.',
      examples: [{ currency: 'ETB', per_kg: 38.5 }],
    },
  ),
  'The currency and the price of a kilogram of the harvest, such as `ETB 38.5`.',
)

const ScenarioWeights = objectOrText<Record<string, number>>(
  numbersByName(
    QUANTITY_LIMITS.weight,
    'The relative weights of the scenarios; others have 0. By default all are equal but `Dominant`, which repeats another scenario and has 0.',
    { 'Above Normal': 1, Normal: 2, 'Below Normal': 1 },
  ),
  'The weights of scenarios, such as `Normal:2,Below Normal:1`.',
)

const Nutrients = optional(
  inQuery(
    documentedAs(
      Type.Unsafe<boolean | string>({ ...InBody, type: ['boolean', 'string'] }),
      Type.Union([
        Type.Boolean({
          description: 'Whether to tell the nutrients of products whose composition the service knows.',
        }),
      ]),
    ),
    {
      type: 'boolean',
      description: 'Whether to tell the nutrients of products whose composition the service knows.',
    },
  ),
)

/** What turns rates into quantities, of the request for a point; the order is that of the documents. */
export const QuantityFields = {
  area: Area,
  bags: Bags,
  prices: Prices,
  budget: Budget,
  produce_price: ProducePrice,
  scenario_weights: ScenarioWeights,
  nutrients: Nutrients,
}

/** The same for many points, of which each may have its own area. */
export const BatchQuantityFields = {
  ...QuantityFields,
  area: objectOrText<AreaRequest>(
    Type.Object(
      {
        value: Type.Optional(AreaValue),
        from: Type.Optional(
          Type.String({
            description:
              'Instead of `value`: the member, property or column that has the number of each point.',
            examples: ['area_ha'],
          }),
        ),
        unit: Type.Optional(AreaUnit),
      },
      { description: 'How large all fields are, or where each point says how large its own is.' },
    ),
    'How large all fields are, such as `2.5 ha`, or where each point says how large its own is: `from:area_ha ha`.',
  ),
}

/** The same for polygons, which have an area. */
export const PolygonQuantityFields = {
  ...QuantityFields,
  area: objectOrText<AreaRequest>(
    Type.Object(
      { unit: AreaUnit },
      { description: 'In which unit the area of the polygon is told as well: the polygon has its own.' },
    ),
    'In which unit the area is told as well, such as `timad`.',
  ),
}

const { area: _, ...sharedFields } = QuantityFields

/** The fields that all requests with quantities have; the forms of `area` differ. */
export const QuantityParameters = Type.Object(sharedFields, {
  $id: 'QuantityParameters',
  description: 'Bags, prices and weights that turn rates into quantities.',
})

const Fields = Type.Object(QuantityFields)
export type QuantityRequest = WithoutNulls<Static<typeof Fields>>
