import type { Cut } from '#schemas/map.ts'
import type { Catalog, CatalogRelease, Tileset } from '../api-types.ts'
import { nameOfMonth } from '../texts/names.ts'
import { choicesOf, layerOf } from './choices.ts'
import type { View } from './view.ts'

export interface Compared {
  release: CatalogRelease
  layer: Tileset
  names: { left: string; right: string }
}

/**
 * @param layer the one that is shown
 * @returns undefined where nothing is, or there is no such layer
 */
export async function comparedWith(
  catalog: Catalog,
  view: View,
  layer: Tileset | undefined,
  layersOf: (release: string, cut: Cut) => Promise<Tileset[]>,
): Promise<Compared | undefined> {
  const [, kind, name = ''] = /^(scenario|month):(.+)$/.exec(view.compare ?? '') ?? []
  if (!layer || !kind) return undefined
  const ofMonth = kind === 'month'
  const choices = choicesOf(catalog, ofMonth ? { ...view, month: name } : view)
  if (!choices) return undefined
  const { release } = choices
  const wanted = { input: layer.input, scenario: ofMonth ? layer.scenario : name }
  const { layer: other } = layerOf(await layersOf(release.release, view.cut), wanted)
  if (!other || (other.release === layer.release && other.layer === layer.layer)) return undefined
  const shown = catalog.releases.find((one) => one.release === layer.release)
  const names = ofMonth
    ? { left: nameOfMonth(shown?.forecast_period ?? ''), right: nameOfMonth(name) }
    : { left: layer.scenario ?? '', right: other.scenario ?? '' }
  return { release, layer: other, names }
}
