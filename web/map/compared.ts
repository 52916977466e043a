import { nameOfMonth } from '../texts/names.ts'
import { choicesOf, layerOf } from './choices.ts'

/**
 * @typedef {import('../api-types.ts').Tileset} Tileset
 * @typedef {import('./view.ts').View} View
 *
 * What a layer is compared with, and what the two are called beside each other.
 *
 * @typedef {{ release: import('../api-types.ts').CatalogRelease, layer: Tileset, names: { left: string, right: string } }} Compared
 */

/**
 * @param {import('../api-types.ts').Catalog} catalog
 * @param {View} view
 * @param {Tileset | undefined} layer the one that is shown
 * @param {(release: string, cut: View['cut']) => Promise<Tileset[]>} layersOf
 * @returns {Promise<Compared | undefined>} undefined where nothing is, or there is no such layer
 */
export async function comparedWith(catalog, view, layer, layersOf) {
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
