import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Ask } from '#src/data/cancellable.ts'
import type { Tables } from '#src/data/tables.ts'
import { Cache } from '#src/lib/cache.ts'
import { ReplacedMeanwhile } from '#src/lookup/releases.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import type { Rings } from '#src/raster/rings.ts'
import type { LocatedStatistics } from './answer.ts'
import type { Computation } from './computing.ts'
import { findStore, listCoverages, type ZonalCoverage } from './zonal-queries.ts'
import { type LayerStatistics, type ZonalStatistics, zonalStatistics } from './zonal-statistics.ts'

/** The grids of so many releases are kept in memory; each is a kilobyte or two. */
const CACHED_RELEASES = 500

/** Finds the grids of releases, which never change; only their summaries come and go. */
interface CoverageFinder {
  /** @throws {ReplacedMeanwhile} where the release has been deleted */
  find(releaseId: number): Promise<ZonalCoverage[]>
  /** To be called where summaries are found to be gone: the next to find the release asks anew. */
  forget(releaseId: number): void
}

function createCoverageFinder(db: Kysely<Tables>): CoverageFinder {
  const cache = new Cache<number, ZonalCoverage[]>('coverages', {
    max: CACHED_RELEASES,
    // Summaries that are still being made are to be used as soon as they exist.
    ttlMs: (coverages) => (coverages.every(({ summarised }) => summarised) ? Number.POSITIVE_INFINITY : 0),
  })

  return {
    find: (releaseId) =>
      cache.load(releaseId, async () => {
        const coverages = await listCoverages(db, releaseId)
        if (coverages.length === 0) throw new ReplacedMeanwhile()
        return coverages
      }),

    forget: (releaseId) => cache.delete(releaseId),
  }
}

/**
 * What the layers of a release come to in polygons.
 *
 * @throws {ReplacedMeanwhile} where the release has been deleted before all of it was read
 */
export type ReleaseStatistics = (
  computation: Computation,
  releaseId: number,
  polygons: Rings[],
  wanted: DistributionWanted | null,
) => Promise<ZonalStatistics>

export function createReleaseStatistics(db: Kysely<Tables>): ReleaseStatistics {
  const coverages = createCoverageFinder(db)

  return async (computation, releaseId, polygons, wanted) => {
    const forget = () => coverages.forget(releaseId)
    const grids = await computation.wait(() => coverages.find(releaseId))
    // Tiles that a replica has not got yet look like tiles without a value, and so do those of a deleted release and
    // those that were moved to another store.
    await refuseUnlessIn(grids, computation.ask, releaseId, forget)
    const statistics = await zonalStatistics(computation, grids, polygons, wanted, forget)
    await refuseUnlessIn(grids, computation.ask, releaseId, forget)
    return statistics
  }
}

/** @throws {ReplacedMeanwhile} where the release has been deleted */
export async function refuseUnlessThere(ask: Ask, releaseId: number): Promise<void> {
  if (!(await findStore(ask, releaseId))) throw new ReplacedMeanwhile()
}

/** @throws {ReplacedMeanwhile} where the release has been deleted, or has its tiles elsewhere by now */
async function refuseUnlessIn(
  grids: ZonalCoverage[],
  ask: Ask,
  releaseId: number,
  forget: () => void,
): Promise<void> {
  const store = await findStore(ask, releaseId)
  if (grids.every((grid) => grid.store === store)) return
  forget()
  throw new ReplacedMeanwhile()
}

/** Layers of polygons that are remembered, of each some numbers: about 10 MB. */
const MOST_LAYERS = 50_000

/**
 * Remembers what releases come to in polygons. A release never changes, so nothing that is remembered grows old; that
 * it is still there has to be seen by whoever uses it.
 */
export type RememberedStatistics = Cache<string, LocatedStatistics>

export function rememberStatistics(): RememberedStatistics {
  return new Cache('statistics of polygons', {
    maxSize: MOST_LAYERS,
    sizeOf: ({ layers }) => 1 + layers.reduce((sum, layer) => sum + sizeOf(layer), 0),
  })
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
