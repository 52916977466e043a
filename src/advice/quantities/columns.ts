import type { ProductDefinition } from '#schemas/products/define.ts'
import { MASS_KEYS, type Quantities, type Quantity } from '#schemas/quantities.ts'
import { nameColumn, type ReleaseLabels } from '#src/lookup/entries.ts'
import { type LayerLabel, listPairs } from '#src/lookup/layers.ts'
import type { Cell, Columns } from '../columns.ts'
import type { QuantityResult, QuantityRules } from './compute.ts'
import { normalizeName } from './plan.ts'

const NUTRIENTS = ['N', 'P2O5', 'K2O', 'S'] as const

interface Column {
  name: string
  of(figures: QuantityResult): Cell | undefined
}

/** The columns of a plan: those of each layer, then those of all layers. */
export function quantityColumns(
  rules: QuantityRules,
  product: ProductDefinition,
  release: ReleaseLabels,
): Columns<QuantityResult> {
  const layerColumns = listPairs(release.layers).flatMap(({ label, bands }) =>
    listKeys(rules, product, label).map(
      ([key, read]): Column => ({
        name: nameColumn(product, label, key),
        of: ({ entries }) => {
          const entry = bands.map((band) => entries[band]).find((one) => one)
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
  const keys = plan.budget === null ? (['cost'] as const) : (['cost', 'share', 'share_cost'] as const)
  const scenarios = [...new Set(layers.map(({ scenario }) => scenario))]
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
