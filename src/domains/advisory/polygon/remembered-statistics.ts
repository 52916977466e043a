import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Rings } from '#src/raster/rings.ts'
import type { LocatedStatistics } from './advice.ts'

/** Layers of polygons that are remembered, of each some numbers: about 10 MB. */
const MOST_LAYERS = 50_000

/**
 * Remembers what releases come to in polygons. A release never changes, so nothing that is remembered grows old; that
 * it is still there has to be seen by whoever uses it.
 */
export interface RememberedStatistics {
  get(releaseId: number, polygons: Rings[]): LocatedStatistics | undefined
  set(releaseId: number, polygons: Rings[], statistics: LocatedStatistics): void
}

export function rememberStatistics(): RememberedStatistics {
  const cache = new LRUCache<string, LocatedStatistics>({
    maxSize: MOST_LAYERS,
    sizeCalculation: ({ layers }) => 1 + layers.length,
  })
  return {
    get: (releaseId, polygons) => cache.get(keyOf(releaseId, polygons)),
    set(releaseId, polygons, statistics) {
      cache.set(keyOf(releaseId, polygons), statistics)
    },
  }
}

/** To the last bit: polygons that differ in it are others. */
function keyOf(releaseId: number, polygons: Rings[]): string {
  const hash = createHash('sha256')
  for (const rings of polygons) {
    hash.update(Int32Array.from([rings.length, ...rings.map(({ length }) => length)]))
    for (const ring of rings) hash.update(ring)
  }
  return `${releaseId} ${hash.digest('base64')}`
}
