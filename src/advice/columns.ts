import { EXPECTED } from '#schemas/glossary.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { wordKey } from '#src/lib/names.ts'
import { describeEntry, type Figures, figuresOfPoint, listExpected, readOdds } from '#src/lookup/certainty.ts'
import { describeChoice, EVERY_CONDITION } from '#src/lookup/conditions.ts'
import { type LayerValues, nameColumn, type ReleaseLabels } from '#src/lookup/entries.ts'
import { type LayerLabel, listPairs } from '#src/lookup/layers.ts'

export type Cell = string | number | null

export interface Columns<Found> {
  names: string[]
  cellsOf(found: Found): Cell[]
}

/** Columns of the same numbers beside each other. */
export function sideBySide<Found>(...all: Columns<Found>[]): Columns<Found> {
  const some = all.filter(({ names }) => names.length > 0)
  const [only, ...others] = some
  if (only && others.length === 0) return only
  return {
    names: some.flatMap(({ names }) => names),
    cellsOf: (found) => some.flatMap(({ cellsOf }) => cellsOf(found)),
  }
}

/** The cells of columns by their names. */
export function nameCells<Found>({ names, cellsOf }: Columns<Found>, found: Found): Record<string, Cell> {
  const cells = cellsOf(found)
  return Object.fromEntries(names.map((name, index) => [name, cells[index] as Cell]))
}

/** The columns of several releases together. A release has null in those of others. */
export function joinColumns<Found>(
  sources: readonly { release: ReleaseLabels | undefined }[],
  columnsOf: (release: ReleaseLabels) => Columns<Found>,
) {
  const own = new Map(
    sources.flatMap(({ release }) => (release ? [[release.code, columnsOf(release)] as const] : [])),
  )
  const names = [...new Set([...own.values()].flatMap((columns) => columns.names))]
  const indexes = new Map(
    [...own].map(([code, columns]) => [code, names.map((name) => columns.names.lastIndexOf(name))]),
  )
  /** In the order of the names. @param found null for no values */
  function listCells({ code = '' }: Partial<ReleaseLabels> = {}, found: Found | null): Cell[] {
    const columns = own.get(code)
    const cells = found === null ? [] : (columns?.cellsOf(found) ?? [])
    if (own.size === 1 && cells.length === names.length) return cells
    return (indexes.get(code) ?? names.map(() => -1)).map((index) => cells[index] ?? null)
  }
  const readCells = (release: ReleaseLabels | undefined, found: Found | null) =>
    nameCells({ names, cellsOf: () => listCells(release, found) }, found)
  return { names, listCells, readCells }
}

/** The columns of the values of a point: one of each input and scenario. @param condition as the call asks for */
export function valueColumns(
  product: ProductDefinition,
  release: ReleaseLabels,
  condition: string | undefined,
): Columns<LayerValues> {
  const pairs = listPairs(release.layers)
  const { names, cellsOf } = sideBySide<Figures>(
    {
      names: pairs.map(({ label }) => nameColumn(product, label, product.value.key)),
      // Of the layers of a pair one answers at most.
      cellsOf: ({ read }) =>
        pairs.map(({ bands }) => bands.map(read).find((value) => !Number.isNaN(value)) ?? null),
    },
    certaintyNumbers(product, release),
    certaintyTexts(product, release),
    alternativeColumns(product, release, condition),
  )
  return { names, cellsOf: (values) => cellsOf(figuresOfPoint(values)) }
}

/** The values under each condition, where a call asks for all of them. */
export function alternativeColumns(
  product: ProductDefinition,
  { layers, conditions }: ReleaseLabels,
  condition: string | undefined,
): NumberColumns<Figures> {
  const isAsked = conditions !== null && condition !== undefined && wordKey(condition) === EVERY_CONDITION
  const bands = isAsked ? [...layers.keys()].filter((band) => layers[band]?.condition !== null) : []
  return {
    names: bands.map((band) => nameColumn(product, layers[band] as LayerLabel, product.value.key)),
    cellsOf: ({ chosen }) => bands.map((band) => (chosen ? numberOrNull(chosen.read(band)) : null)),
  }
}

function numberOrNull(value: number): number | null {
  return Number.isNaN(value) ? null : value
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
  const ranged = listPairs(layers)
    .map(({ label, bands }) => ({ label, bands: bands.filter((band) => certainty.layers[band]?.range) }))
    .filter(({ bands }) => bands.length > 0)
  const inputs = [...new Set(certainty.outlooks.map(({ label }) => label.input))]
  const labels = inputs.map((input) => ({ input, scenario: EXPECTED, condition: null, decimals: 0 }))
  return {
    names: [
      ...scenarios.map(({ scenario }) => `probability ${scenario}`),
      ...ranged.flatMap(({ label }) => ['low', 'high'].map((end) => nameColumn(product, label, end))),
      ...labels.map((label) => nameColumn(product, label, `expected_${product.value.key}`)),
    ],
    cellsOf(figures) {
      const entries = layers.map((_, index) => describeEntry(certainty, index, figures))
      const expected = listExpected(certainty, figures)
      return [
        ...scenarios.map((layer) => numberOrNull(readOdds(certainty, layers.indexOf(layer), figures))),
        ...ranged.flatMap(({ bands }) => {
          const range = bands.map((band) => entries[band]?.range).find((one) => one !== undefined)
          return [range?.low ?? null, range?.high ?? null]
        }),
        ...inputs.map((input) => expected.find(({ label }) => label.input === input)?.value ?? null),
      ]
    },
  }
}

/** The columns of restated scenarios, and of the condition that answers. */
export function certaintyTexts(product: ProductDefinition, release: ReleaseLabels): Columns<Figures> {
  const { layers, certainty, conditions } = release
  if (!certainty) return { names: [], cellsOf: () => [] }
  const restating = listPairs(layers).filter(({ bands }) =>
    bands.some((band) => certainty.layers[band]?.restated),
  )
  const readSeason = (bands: readonly number[], figures: Figures) =>
    bands.map((band) => describeEntry(certainty, band, figures).scenario_of).find((one) => one !== undefined)
  return {
    names: [
      ...restating.map(({ label }) => nameColumn(product, label, 'scenario_of')),
      ...(conditions ? ['condition', 'condition_source'] : []),
    ],
    cellsOf: (figures) => [
      ...restating.map(({ bands }) => readSeason(bands, figures) ?? null),
      ...(conditions ? conditionCells(release, figures) : []),
    ],
  }
}

/** The condition, empty for a mixture, and where it is from. */
function conditionCells(release: ReleaseLabels, { chosen }: Figures): Cell[] {
  return [chosen?.condition ?? null, (chosen && describeChoice(release, chosen).condition_source) ?? null]
}

/** @param geometry GeoJSON, or null */
export function writeFeature(
  id: string | number | undefined,
  geometry: string,
  properties: Record<string, unknown> | string,
): string {
  const start = JSON.stringify({ type: 'Feature', id }).slice(0, -1)
  const text = typeof properties === 'string' ? properties : JSON.stringify(properties)
  return `${start},"geometry":${geometry},"properties":${text}}`
}
