import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import { conditionOfEntry } from './certainty.ts'
import * as t from './common.ts'
import { EXPECTED } from './glossary.ts'
import type { ProductContract } from './product.ts'

/** What the documents list; `src/advice/quantities/plan.ts` has their sizes. */
export const AREA_UNIT_NAMES = ['ha', 'm2', 'are', 'acre', 'timad'] as const
export type AreaUnitName = (typeof AREA_UNIT_NAMES)[number]

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

const Currency = Type.String({
  pattern: CURRENCY_PATTERN,
  description: 'An ISO 4217 code. Nothing is converted.',
  examples: ['ETB'],
})

const numbersByName = (maximum: number, description: string, example: object) =>
  Type.Record(Type.String(), Type.Number({ minimum: 0, maximum }), {
    maxProperties: QUANTITY_LIMITS.names,
    description,
    examples: [example],
  })

const Text = { type: 'string', maxLength: 4000, format: 'text' }

/** In a body, which as a whole is short, texts have no length of their own. */
const InBody = { format: 'text' }

/** An object or its text in a body; the text in a query. Code checks both, and names the wrong part. */
function objectOrText<Value>(documented: TSchema, inText: string) {
  const checked = Type.Unsafe<Value | string>({ ...InBody, type: ['object', 'string'] })
  return t.optional(
    t.inQuery(t.documentedAs(checked, Type.Union([documented])), { ...Text, description: inText }),
  )
}

/** An area as requests have it; which of its members there may be is checked by code. */
interface AreaRequest {
  value?: number
  unit?: string
  from?: string
}

const AreaValue = Type.Number({
  exclusiveMinimum: 0,
  description: `How much: at most ${QUANTITY_LIMITS.hectares} ha.`,
  examples: [2.5],
})

const AreaUnit = t.oneOf(
  AREA_UNIT_NAMES,
  'Hectare, square metre, are (100 m²), international acre (4,046.8564224 m²), or timad (a quarter of a hectare). Plurals and full names are understood. By default `ha`.',
)

const PriceList = (per: string, example: object) =>
  numbersByName(QUANTITY_LIMITS.price, `The price of ${per}, by input.`, example)

/** Members that turn rates into quantities, of the request for a point, in the order of the documents. */
export const QuantityFields = {
  area: objectOrText<AreaRequest>(
    t.object('How large the field is. One hectare when left out, where other quantities are asked for.', {
      value: AreaValue,
      unit: Type.Optional(AreaUnit),
    }),
    'How large the field is, such as `2.5 ha`.',
  ),
  bags: objectOrText<Record<string, number>>(
    numbersByName(
      QUANTITY_LIMITS.bagKilograms,
      'The kilograms of a bag, by input. The answer has the number of bags, and the rest of the last one.',
      { Urea: 50, DAP: 50 },
    ),
    'The kilograms of a bag, such as `Urea:50,DAP:50`.',
  ),
  prices: objectOrText<{ currency?: string; per_kg?: object; per_bag?: object }>(
    t.object('The prices of inputs. Inputs in bags are bought in whole bags.', {
      currency: Currency,
      per_kg: Type.Optional(PriceList('a kilogram', { Compost: 4.5 })),
      per_bag: Type.Optional(PriceList('a bag in `bags`', { Urea: 2250, DAP: 2600 })),
    }),
    'The currency and the prices of inputs, by the kilogram or, with `/bag`, by the bag, such as `ETB Urea:2250/bag,Compost:4.5`.',
  ),
  budget: t.optional(
    Type.Number({
      minimum: 0,
      maximum: QUANTITY_LIMITS.budget,
      description:
        'The money for the inputs of one product, in the currency of `prices`. Refused where inputs of two products have prices.',
    }),
  ),
  produce_price: objectOrText<{ currency?: string; per_kg?: number }>(
    Type.Object(
      { currency: Currency, per_kg: Type.Number({ minimum: 0, maximum: QUANTITY_LIMITS.price }) },
      {
        description: 'The price of a kilogram of the harvest, for yields.',
        examples: [{ currency: 'ETB', per_kg: 38.5 }],
      },
    ),
    'The currency and the price of a kilogram of the harvest, such as `ETB 38.5`.',
  ),
  scenario_weights: objectOrText<Record<string, number>>(
    numbersByName(
      QUANTITY_LIMITS.weight,
      'The relative weights of the scenarios; others have 0. By default the odds of the release, or else all are equal, but `Dominant`, which repeats another scenario and has 0.',
      { 'Above Normal': 1, Normal: 2, 'Below Normal': 1 },
    ),
    'The weights of scenarios, such as `Normal:2,Below Normal:1`.',
  ),
  nutrients: t.optional(
    t.inQuery(
      t.documentedAs(
        Type.Unsafe<boolean | string>({ ...InBody, type: ['boolean', 'string'] }),
        Type.Union([
          t.boolean('Whether to give the nutrients of products whose composition the service knows.'),
        ]),
      ),
      {
        type: 'boolean',
        description: 'Whether to give the nutrients of products whose composition the service knows.',
      },
    ),
  ),
}

/** The same for many points, of which each may have its own area. */
export const BatchQuantityFields = {
  ...QuantityFields,
  area: objectOrText<AreaRequest>(
    t.object('How large all fields are, or where each point says how large its own is.', {
      value: Type.Optional(AreaValue),
      from: Type.Optional(
        t.string(
          'Instead of `value`: the member, property or column that has the number of each point.',
          'area_ha',
        ),
      ),
      unit: Type.Optional(AreaUnit),
    }),
    'How large all fields are, such as `2.5 ha`, or where each point says how large its own is: `from:area_ha ha`.',
  ),
}

/** The same for polygons, which have an area. */
export const PolygonQuantityFields = {
  ...QuantityFields,
  area: objectOrText<AreaRequest>(
    t.object('In which unit the area of the polygon is given as well: the polygon has its own.', {
      unit: AreaUnit,
    }),
    'In which unit the area is given as well, such as `timad`.',
  ),
}

const { area: _, ...sharedFields } = QuantityFields

/** The fields that all requests with quantities have; the forms of `area` differ. */
export const QuantityParameters = t.component(
  'QuantityParameters',
  'Bags, prices and weights that turn rates into quantities.',
  sharedFields,
)

const Fields = Type.Object(QuantityFields)
export type QuantityRequest = t.WithoutNulls<Static<typeof Fields>>

/** Whether what a product says comes to an amount on an area: rates and yields do, scores do not. */
export function hasQuantities({ unit }: { unit: string }): boolean {
  return unit in MASS_KEYS
}

/** Whether values have no unit: the highest is the best. */
export function isScore({ unit }: { unit: string }): boolean {
  return unit === 'score'
}

/** Whether requests for a product have all members, so that they are those of other products. */
export function takesAll(product: ProductContract): boolean {
  return product.seasonal && hasQuantities(product)
}

/** The members of requests for a product: without seasons no crop and no month, and without amounts no quantities. */
export function chooseMembers(product: ProductContract, members: TProperties): TProperties {
  const { crop: _, forecast_period: __, ...others } = members
  const chosen = product.seasonal ? members : others
  if (hasQuantities(product)) return chosen
  return Object.fromEntries(Object.entries(chosen).filter(([name]) => !(name in QuantityFields)))
}

/** What amounts are in, by the unit of rates. */
export const MASS_KEYS: Readonly<Record<string, 'kg' | 't'>> = { 'kg/ha': 'kg', 't/ha': 't' }

const Nutrient = t.component(
  'Nutrients',
  'Kilograms of nutrients.',
  {
    N: t.number('Nitrogen.'),
    P2O5: t.number('Phosphorus, as phosphate.'),
    K2O: t.number('Potassium, as potash.'),
    S: t.number('Sulphur.'),
  },
  { N: 172.5, P2O5: 0, K2O: 0, S: 0 },
)

const Money = (description: string) => t.number(`${description} To the hundredth, in \`currency\`.`)
const Mass = (unit: 'kg' | 't') =>
  t.number(unit === 'kg' ? 'Kilograms, to the gram.' : 'Tonnes, to the gram.')

export const Quantity = t.component(
  'Quantity',
  'The amount on the area.',
  {
    kg: Type.Optional(Mass('kg')),
    t: Type.Optional(Mass('t')),
    bags: Type.Optional(t.integer('Whole bags: as many as it takes.')),
    bag_kg: Type.Optional(t.number('The kilograms of a bag.')),
    rest_kg: Type.Optional(t.number('The rest in the last bag, in kilograms.')),
    cost: Type.Optional(Money('The cost, of whole bags where there are bags.')),
    return: Type.Optional(Money('The proceeds of the harvest.')),
    nutrients_kg: Type.Optional(t.ref(Nutrient)),
  },
  { kg: 375, bags: 8, bag_kg: 50, rest_kg: 25, cost: 18000 },
)

export type Quantity = Static<typeof Quantity>

const Amounts = {
  kg: Type.Optional(Mass('kg')),
  t: Type.Optional(Mass('t')),
  cost: Type.Optional(Money('The cost of all inputs.')),
  return: Type.Optional(Money('The proceeds of the harvest.')),
}
const ScenarioAmounts = { scenario: t.orNull(Type.String()), ...conditionOfEntry, ...Amounts }

export const Quantities = t.component(
  'Quantities',
  'Amounts on the area, where the request asks for quantities.',
  {
    area: t.object('The area that the quantities are for.', {
      value: Type.Number(),
      unit: AreaUnit,
      ha: t.number('The same in hectares.'),
    }),
    currency: Type.Optional(Currency),
    scenarios: Type.Optional(
      Type.Array(
        t.object('A scenario with the cost of all inputs.', {
          ...ScenarioAmounts,
          share: Type.Optional(
            Type.Number({
              minimum: 0,
              maximum: 1,
              description:
                'The largest share of every rate that the budget pays for, rounded down to four decimals.',
            }),
          ),
          share_cost: Type.Optional(Money('The cost of that share.')),
        }),
      ),
    ),
    least: Type.Optional(t.object('The scenario with the least yield, or the least cost.', ScenarioAmounts)),
    most: Type.Optional(t.object('The scenario with the most.', ScenarioAmounts)),
    expected: Type.Optional(
      t.object('The mean over scenarios: `scenario` has their weights.', {
        scenario: Type.String(),
        ...Amounts,
      }),
    ),
    unpriced: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Inputs without a price: a scenario with them has no cost and no share.',
      }),
    ),
  },
  {
    area: { value: 2.5, unit: 'ha', ha: 2.5 },
    currency: 'ETB',
    scenarios: [{ scenario: 'Normal', cost: 28400, share: 0.5, share_cost: 14200 }],
    least: { scenario: 'Normal', cost: 28400 },
    most: { scenario: 'Normal', cost: 28400 },
    expected: { scenario: EXPECTED, cost: 28400 },
  },
)

export type Quantities = Static<typeof Quantities>

export function quantityOfEntry(product: ProductContract): Record<string, TSchema> {
  return hasQuantities(product) ? { quantity: Type.Optional(t.ref(Quantity)) } : {}
}

/** What the answer of a product, or its section, may have beside the entries. */
export function quantitiesOfAnswer(product: ProductContract): Record<string, TSchema> {
  return hasQuantities(product) ? { quantities: Type.Optional(t.ref(Quantities)) } : {}
}

export const quantityComponents: TSchema[] = [Nutrient, Quantity, Quantities]
