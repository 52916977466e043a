import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import type { Rings } from '#src/raster/rings.ts'
import type { LocatedStatistics } from './advice.ts'
import type { LayerStatistics } from './zonal-statistics.ts'

/** Layers of polygons that are remembered, of each some numbers: about 10 MB. */
const MOST_LAYERS = 50_000

/**
 * Remembers what releases come to in polygons. A release never changes, so nothing that is remembered grows old; that
 * it is still there has to be seen by whoever uses it.
 */
export interface RememberedStatistics {
  get(key: string): LocatedStatistics | undefined
  set(key: string, statistics: LocatedStatistics): void
}

export function rememberStatistics(): RememberedStatistics {
  const cache = new LRUCache<string, LocatedStatistics>({
    maxSize: MOST_LAYERS,
    sizeCalculation: ({ layers }) => 1 + layers.reduce((sum, layer) => sum + sizeOf(layer), 0),
  })
  return {
    get: (key) => cache.get(key),
    set(key, statistics) {
      cache.set(key, statistics)
    },
  }
}

/** How many layers' worth of memory a layer takes: quantiles and bins are numbers, too. */
function sizeOf(layer: LayerStatistics | null): number {
  const { quantiles = [], histogram = [] } = layer?.distribution ?? {}
  return 1 + quantiles.length + histogram.length
}

/** Of an area with the boundaries of a version. */
export function keyOfArea(
  releaseId: number,
  { id, version }: { id: number; version: string },
  wanted: DistributionWanted,
): string {
  return JSON.stringify([releaseId, id, version, wanted])
}

/** Of polygons, to the last bit: those that differ in it are others. */
export function keyOfPolygons(
  releaseId: number,
  polygons: Rings[],
  wanted: DistributionWanted | null,
): string {
  const hash = createHash('sha256')
  for (const rings of polygons) {
    hash.update(Int32Array.from([rings.length, ...rings.map(({ length }) => length)]))
    for (const ring of rings) hash.update(ring)
  }
  return JSON.stringify([releaseId, hash.digest('base64'), wanted])
}
