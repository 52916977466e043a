import { type Static, type TProperties, type TSchema, Type } from 'typebox'
import type { ProductContract } from './product.ts'
import { AreaUnit, Currency, PolygonQuantityFields } from './quantities.ts'

/** Whether what a product says comes to an amount on an area: rates and yields do, scores do not. */
export function hasQuantities({ unit }: { unit: string }): boolean {
  return unit in MASS_KEYS
}

/** What may be asked of quantities in polygons, where there are any. */
export function quantityFieldsOf(product: ProductContract): TProperties {
  return hasQuantities(product) ? PolygonQuantityFields : {}
}

/** What amounts are in, by the unit of rates. */
export const MASS_KEYS: Readonly<Record<string, 'kg' | 't'>> = { 'kg/ha': 'kg', 't/ha': 't' }

export const Nutrient = Type.Object(
  {
    N: Type.Number({ description: 'Nitrogen.' }),
    P2O5: Type.Number({ description: 'Phosphorus, as phosphate.' }),
    K2O: Type.Number({ description: 'Potassium, as potash.' }),
    S: Type.Number({ description: 'Sulphur.' }),
  },
  {
    $id: 'Nutrients',
    description: 'Kilograms of nutrients.',
    examples: [{ N: 172.5, P2O5: 0, K2O: 0, S: 0 }],
  },
)

const Money = (description: string) =>
  Type.Number({ description: `${description} To the hundredth, in \`currency\`.` })
const Mass = (unit: 'kg' | 't') =>
  Type.Number({ description: unit === 'kg' ? 'Kilograms, to the gram.' : 'Tonnes, to the gram.' })

/** What an entry comes to on the area. */
export const Quantity = Type.Object(
  {
    kg: Type.Optional(Mass('kg')),
    t: Type.Optional(Mass('t')),
    bags: Type.Optional(Type.Integer({ description: 'Whole bags: as many as it takes.' })),
    bag_kg: Type.Optional(Type.Number({ description: 'The kilograms of a bag.' })),
    rest_kg: Type.Optional(Type.Number({ description: 'The rest in the last bag, in kilograms.' })),
    cost: Type.Optional(Money('The cost, of whole bags where there are bags.')),
    return: Type.Optional(Money('The proceeds of the harvest.')),
    nutrients_kg: Type.Optional(Type.Unsafe<Static<typeof Nutrient>>({ $ref: 'Nutrients#' })),
  },
  {
    $id: 'Quantity',
    description: 'The amount on the area.',
    examples: [{ kg: 375, bags: 8, bag_kg: 50, rest_kg: 25, cost: 18000 }],
  },
)

const Amounts = {
  kg: Type.Optional(Mass('kg')),
  t: Type.Optional(Mass('t')),
  cost: Type.Optional(Money('The cost of all inputs.')),
  return: Type.Optional(Money('The proceeds of the harvest.')),
}
const OfScenario = (description: string, more = {}) =>
  Type.Object({ scenario: Type.Union([Type.String(), Type.Null()]), ...Amounts, ...more }, { description })

/** What the entries come to together. */
export const Quantities = Type.Object(
  {
    area: Type.Object(
      { value: Type.Number(), unit: AreaUnit, ha: Type.Number({ description: 'The same in hectares.' }) },
      { description: 'The area that the quantities are for.' },
    ),
    currency: Type.Optional(Currency),
    scenarios: Type.Optional(
      Type.Array(
        OfScenario('A scenario with the cost of all inputs.', {
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
    least: Type.Optional(OfScenario('The scenario with the least yield, or the least cost.')),
    most: Type.Optional(OfScenario('The scenario with the most.')),
    expected: Type.Optional(
      Type.Object(Amounts, { description: 'The mean over scenarios, by their weights.' }),
    ),
    unpriced: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Inputs without a price: no cost of a scenario with them is told, and no share.',
      }),
    ),
  },
  {
    $id: 'Quantities',
    description: 'Amounts on the area, where the request asks for quantities.',
    examples: [
      {
        area: { value: 2.5, unit: 'ha', ha: 2.5 },
        currency: 'ETB',
        scenarios: [{ scenario: 'Normal', cost: 28400, share: 0.5, share_cost: 14200 }],
        least: { scenario: 'Normal', cost: 28400 },
        most: { scenario: 'Normal', cost: 28400 },
        expected: { cost: 28400 },
      },
    ],
  },
)

const reference = <Schema extends TSchema>(schema: Schema) =>
  Type.Optional(Type.Unsafe<Static<Schema>>({ $ref: `${(schema as { $id?: string }).$id}#` }))

/** What an entry of a product may have. */
export function quantityOfEntry(product: ProductContract): Record<string, TSchema> {
  return hasQuantities(product) ? { quantity: reference(Quantity) } : {}
}

/** What the answer of a product, or its section, may have beside the entries. */
export function quantitiesOfAnswer(product: ProductContract): Record<string, TSchema> {
  return hasQuantities(product) ? { quantities: reference(Quantities) } : {}
}

/** The components of quantities, in the order of the document. */
export const quantityComponents: TSchema[] = [Nutrient, Quantity, Quantities]
