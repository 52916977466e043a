import type { ProductDefinition } from '#schemas/products/define.ts'
import { listPairs } from '#src/lookup/conditions.ts'
import { nameColumn, type ReleaseLabels } from '#src/lookup/entries.ts'
import type { LayerLabel } from '#src/lookup/queries.ts'
import { alternativeColumns, certaintyNumbers, certaintyTexts, sideBySide } from '../columns.ts'
import { type ChosenStatistics, computeFigures, figuresOfRegion } from './figures.ts'
import type { LayerStatistics } from './queries.ts'

/**
 * The columns of all numbers of a release in a region: of each input and scenario, then odds, ranges and expected values.
 * A cell is null where a layer has no value.
 */
export function statisticColumns(product: ProductDefinition, release: ReleaseLabels, keys: string[]) {
  const pairs = listPairs(release.layers)
  const certain = certaintyNumbers(product, release)
  return {
    names: [
      ...pairs.flatMap(({ label }) => keys.map((key) => nameColumn(product, label, key))),
      ...certain.names,
    ],
    cellsOf(statistics: ChosenStatistics): (number | null)[] {
      const ofLayers = pairs.flatMap(({ bands }) => {
        const band = bands.find((one) => statistics.layers[one])
        if (band === undefined) return keys.map(() => null)
        const found = statistics.layers[band] as LayerStatistics
        return computeFigures(product, release.layers[band] as LayerLabel, found, statistics.areaHa)
      })
      if (!release.certainty) return ofLayers
      return [...ofLayers, ...certain.cellsOf(figuresOfRegion(release, statistics))]
    },
  }
}

/** The columns of all that a release says in a region: its numbers, the texts, and the alternatives that a call asks for. */
export function regionColumns(
  product: ProductDefinition,
  release: ReleaseLabels,
  keys: string[],
  condition: string | undefined,
) {
  const further = sideBySide(
    certaintyTexts(product, release),
    alternativeColumns(product, release, condition),
  )
  return sideBySide<ChosenStatistics>(statisticColumns(product, release, keys), {
    names: further.names,
    cellsOf: (found) => further.cellsOf(figuresOfRegion(release, found)),
  })
}
