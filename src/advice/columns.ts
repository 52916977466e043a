import type { ProductDefinition } from '#schemas/products/define.ts'
import { MASS_KEYS, type Quantities, type Quantity } from '#schemas/quantities.ts'
import { describeEntry, type Figures, figuresOfPoint, listExpected, readOdds } from '#src/lookup/certainty.ts'
import { conditionMembers } from '#src/lookup/conditions.ts'
import type { SourceRelease } from '#src/lookup/places.ts'
import type { LayerLabel } from '#src/lookup/queries.ts'
import { type LayerValues, nameColumn, type ReleaseLabels } from '#src/lookup/releases.ts'
import { listAlternatives, type QuantityResult, type QuantityRules } from './quantities/compute.ts'
import { normalizeName } from './quantities/plan.ts'

type Cell = string | number | null

interface Columns<Found> {
  names: string[]
  cellsOf(found: Found): Cell[]
}

/** The columns of several releases together. A release has null in those of others. */
export function joinColumns<Found>(
  sources: readonly SourceRelease[],
  columnsOf: (release: ReleaseLabels) => Columns<Found>,
) {
  const own = new Map(
    sources.flatMap(({ release }) => (release ? [[release.code, columnsOf(release)] as const] : [])),
  )
  const names = [...new Set([...own.values()].flatMap((columns) => columns.names))]
  return {
    names,
    /** @param found null for no values */
    readCells(release: ReleaseLabels | undefined, found: Found | null): Record<string, Cell> {
      const columns = own.get(release?.code ?? '')
      const cells = found === null ? undefined : columns?.cellsOf(found)
      const named = new Map(columns?.names.map((name, index) => [name, cells?.[index]]))
      return Object.fromEntries(names.map((name) => [name, named.get(name) ?? null]))
    },
  }
}

/** The columns of the values of a point. */
export function valueColumns(product: ProductDefinition, release: ReleaseLabels): Columns<LayerValues> {
  const { layers } = release
  const certainty = certaintyColumns(product, release)
  return {
    names: [...layers.map((layer) => nameColumn(product, layer, product.value.key)), ...certainty.names],
    cellsOf: (values) => [
      ...layers.map((_, index) => numberOrNull(values[index] as number)),
      ...certainty.cellsOf(figuresOfPoint(values)),
    ],
  }
}

function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
}

/** The columns of odds, ranges and expected values, then those that are texts; none for a release with values alone. */
function certaintyColumns(product: ProductDefinition, release: ReleaseLabels): Columns<Figures> {
  const [numbers, texts] = [certaintyNumbers(product, release), certaintyTexts(product, release)]
  return {
    names: [...numbers.names, ...texts.names],
    cellsOf: (figures) => [...numbers.cellsOf(figures), ...texts.cellsOf(figures)],
  }
}

interface NumberColumns<Found> extends Columns<Found> {
  cellsOf(found: Found): (number | null)[]
}

/** The columns of odds, ranges and expected values. */
export function certaintyNumbers(product: ProductDefinition, release: ReleaseLabels): NumberColumns<Figures> {
  const { layers, certainty } = release
  if (!certainty) return { names: [], cellsOf: () => [] }
  const scenarios = layers.filter(
    ({ scenario }, index) =>
      certainty.layers[index]?.probability && layers.findIndex((one) => one.scenario === scenario) === index,
  )
  const ranged = [...layers.keys()].filter((index) => certainty.layers[index]?.range)
  return {
    names: [
      ...scenarios.map(({ scenario }) => `probability ${scenario}`),
      ...ranged.flatMap((index) =>
        ['low', 'high'].map((end) => nameColumn(product, layers[index] as LayerLabel, end)),
      ),
      ...certainty.outlooks.map(({ label }) => nameColumn(product, label, `expected_${product.value.key}`)),
    ],
    cellsOf(figures) {
      const entries = layers.map((_, index) => describeEntry(certainty, index, figures))
      const expected = listExpected(certainty, figures)
      return [
        ...scenarios.map((layer) => numberOrNull(readOdds(certainty, layers.indexOf(layer), figures))),
        ...ranged.flatMap((index) => {
          const range = entries[index]?.range
          return [range?.low ?? null, range?.high ?? null]
        }),
        ...certainty.outlooks.map(({ label }) => expected.find((one) => one.label === label)?.value ?? null),
      ]
    },
  }
}

/** The columns of restated scenarios, and of the source of the condition. */
export function certaintyTexts(product: ProductDefinition, release: ReleaseLabels): Columns<Figures> {
  const { layers, certainty, conditions } = release
  if (!certainty) return { names: [], cellsOf: () => [] }
  const restating = [...layers.keys()].filter((index) => certainty.layers[index]?.restated)
  const hasSource = conditions?.codes !== undefined
  return {
    names: [
      ...restating.map((index) => nameColumn(product, layers[index] as LayerLabel, 'scenario_of')),
      ...(hasSource ? ['condition_source'] : []),
    ],
    cellsOf: (figures) => [
      ...restating.map((index) => describeEntry(certainty, index, figures).scenario_of ?? null),
      ...(hasSource ? [conditionMembers(release, figures.read).condition_source ?? null] : []),
    ],
  }
}

/** @param geometry GeoJSON, or null */
export function writeFeature(
  id: string | number | undefined,
  geometry: string,
  properties: Record<string, unknown>,
): string {
  const start = JSON.stringify({ type: 'Feature', id }).slice(0, -1)
  return `${start},"geometry":${geometry},"properties":${JSON.stringify(properties)}}`
}

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
  const keys = plan.budget === null ? (['cost'] as const) : (['cost', 'share', 'share_cost'] as const)
  const scenarioColumns = listAlternatives(layers).flatMap(({ scenario, condition }) =>
    keys.map(
      (key): Column => ({
        name: [key, scenario, condition].filter((part) => part !== null).join(' '),
        of: ({ quantities }) =>
          quantities.scenarios?.find(
            (one) => one.scenario === scenario && (one.condition ?? null) === condition,
          )?.[key],
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
