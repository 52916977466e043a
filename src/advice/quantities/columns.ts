import type { ProductDefinition } from '#schemas/products/define.ts'
import { MASS_KEYS, type Quantities, type Quantity } from '#schemas/quantities.ts'
import type { LayerLabel, ReleaseLabels } from '#src/lookup/queries.ts'
import { nameColumn } from '#src/lookup/releases.ts'
import type { QuantityResult } from './compute.ts'
import { normalizeName } from './reading.ts'
import type { QuantityRules } from './rules.ts'

export type QuantityCell = string | number | null

/** Quantities as columns of tables and properties of features. */
interface QuantityColumns {
  names: string[]
  cellsOf(figures: QuantityResult): QuantityCell[]
}

const NUTRIENTS = ['N', 'P2O5', 'K2O', 'S'] as const

interface Column {
  name: string
  of(figures: QuantityResult): QuantityCell | undefined
}

/** The columns of a plan: those of each layer, then those of all layers. */
export function quantityColumns(
  rules: QuantityRules,
  product: ProductDefinition,
  release: ReleaseLabels,
): QuantityColumns {
  const layerColumns = release.layers.flatMap((layer, index) =>
    listKeys(rules, product, layer).map(
      ([key, read]): Column => ({
        name: nameColumn(product, layer, key),
        of: ({ entries }) => {
          const entry = entries[index]
          return entry ? read(entry) : null
        },
      }),
    ),
  )
  const columns = [...layerColumns, ...summaryColumns(rules, product, release)]
  return {
    names: columns.map(({ name }) => name),
    cellsOf: (figures) => columns.map(({ of }) => of(figures) ?? null),
  }
}

type Key = [key: string, read: (quantity: Quantity) => number | undefined]

function listKeys(
  { plan, compositions }: QuantityRules,
  product: ProductDefinition,
  layer: LayerLabel,
): Key[] {
  const mass = MASS_KEYS[product.unit] as 'kg' | 't'
  const keys: Key[] = [[mass, (quantity) => quantity[mass]]]
  if (layer.input === null) {
    if (plan.producePrice) keys.push(['return', (quantity) => quantity.return])
    return keys
  }
  const name = normalizeName(layer.input)
  if (plan.bags.has(name)) {
    keys.push(['bags', ({ bags }) => bags], ['rest_kg', ({ rest_kg }) => rest_kg])
  }
  if (plan.pricesPerKg.has(name) || plan.pricesPerBag.has(name)) keys.push(['cost', ({ cost }) => cost])
  if (compositions.some((one) => normalizeName(one.name) === name)) {
    for (const nutrient of NUTRIENTS) {
      keys.push([`${nutrient}_kg`, ({ nutrients_kg }) => nutrients_kg?.[nutrient]])
    }
  }
  return keys
}

function summaryColumns(
  { plan }: QuantityRules,
  product: ProductDefinition,
  { layers }: ReleaseLabels,
): Column[] {
  const area: Column = { name: 'quantity_area_ha', of: ({ quantities }) => quantities.area.ha }
  const currency: Column = { name: 'currency', of: ({ quantities }) => quantities.currency }
  if (product.input === null) {
    const mass = MASS_KEYS[product.unit] as 'kg' | 't'
    const money = plan.producePrice ? [currency, ...extremes('return')] : []
    return [area, ...extremes(mass), ...money]
  }
  if (plan.pricesPerKg.size + plan.pricesPerBag.size === 0) return [area]
  const scenarios = [...new Set(layers.map(({ scenario }) => scenario))]
  const keys = plan.budget === null ? (['cost'] as const) : (['cost', 'share', 'share_cost'] as const)
  const scenarioColumns = scenarios.flatMap((scenario) =>
    keys.map(
      (key): Column => ({
        name: [key, scenario].filter((part) => part !== null).join(' '),
        of: ({ quantities }) => quantities.scenarios?.find((one) => one.scenario === scenario)?.[key],
      }),
    ),
  )
  return [area, currency, ...scenarioColumns, ...extremes('cost')]
}

function extremes(key: 'kg' | 't' | 'cost' | 'return'): Column[] {
  return (['least', 'most', 'expected'] as const).map((which) => ({
    name: `${which}_${key}`,
    of: ({ quantities }) => (quantities[which] as Quantities['least'])?.[key],
  }))
}
