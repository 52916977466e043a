import type { Cut } from '#schemas/map.ts'
import type { Tileset } from '../api-types.ts'
import { get } from '../shell/api.ts'

/** Makes what knows the layers of releases; they are asked for once. */
export function createLayers() {
  const known = new Map<string, Promise<Tileset[]>>()

  return function layersOf(release: string, cut: Cut) {
    const key = `${cut} ${release}`
    const layers =
      known.get(key) ??
      get<{ layers: Tileset[] }>(`releases/${encodeURIComponent(release)}/layers`, { cut }).then(
        (list) => list.layers,
      )
    known.set(key, layers)
    layers.catch(() => known.delete(key))
    return layers
  }
}
