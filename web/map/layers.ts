import { get } from '../shell/api.ts'

/** @typedef {import('../api-types.ts').Tileset} Tileset */

/** Makes what knows the layers of releases; they are asked for once. */
export function createLayers() {
  /** @type {Map<string, Promise<Tileset[]>>} */
  const known = new Map()

  /**
   * @param {string} release
   * @param {'quantiles' | 'equal'} cut
   */
  return function layersOf(release, cut) {
    const key = `${cut} ${release}`
    const layers =
      known.get(key) ??
      get(`releases/${encodeURIComponent(release)}/layers`, { cut }).then((list) => list.layers)
    known.set(key, layers)
    layers.catch(() => known.delete(key))
    return layers
  }
}
