import { isReplaced } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { ALL_LAYERS, EVERY_CONDITION } from '#src/lookup/conditions.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { alternativeColumns } from './columns.ts'
import type { Advisors } from './polygon/advisors.ts'
import { type Advice, makeAdvice } from './polygon/answer.ts'
import {
  chooseStatistics,
  figuresOfRegion,
  listStatisticKeys,
  readMeans,
  statisticColumns,
} from './polygon/figures.ts'
import { readGeoJson, type SentGeoJson } from './polygon/geometry.ts'
import { type ClaimedArea, claimAreas, giveBackAreas, listAreasInRelease } from './polygon/queries.ts'
import { createBackgroundWork } from './polygon/work.ts'

/** The statistics of a release in a region; null where a layer has no value. */
export interface RegionValues {
  /** In the order of the columns: of the condition that answers, then the means under each. */
  statistics: readonly (number | null)[]
  /** Of the layers of all conditions, then of the companions. */
  means: readonly (number | null)[]
}

/** The statistics of releases in areas and polygons, for tables and maps. */
export function createRegionStatistics({ database, products }: App, advisors: Advisors) {
  function listFigures(release: PublishedRelease, advice: Pick<Advice, 'statistics'>): RegionValues {
    const product = products.of(release.product)
    const statistics = chooseStatistics(release, advice.statistics, undefined)
    const ofConditions = alternativeColumns(product, release, EVERY_CONDITION)
    return {
      statistics: [
        ...statisticColumns(product, release, listStatisticKeys(product)).cellsOf(statistics),
        ...ofConditions.cellsOf(figuresOfRegion(release, statistics)),
      ],
      means: readMeans(release, advice),
    }
  }

  return {
    columnsOf(release: PublishedRelease) {
      const product = products.of(release.product)
      const ofConditions = alternativeColumns(product, release, EVERY_CONDITION)
      return [...statisticColumns(product, release, listStatisticKeys(product)).names, ...ofConditions.names]
    },
    /** Reads stored statistics in areas of its country, in the order of their codes; the caller has a connection. */
    async find(release: PublishedRelease, level: number, codes: readonly string[]) {
      const { countryCode } = release
      const areas = await listAreasInRelease(database.reader, { countryCode, level, codes }, release.id)
      return areas.map((area) => ({
        /** The version of the boundaries of its level. */
        version: area.version,
        /** Null where nothing is stored. */
        stored: () =>
          area.statistics && listFigures(release, makeAdvice(release, area.statistics, ALL_LAYERS)),
        /** Computes and stores. @throws {ReplacedMeanwhile} where the release or the area was deleted */
        compute: async (exchange: Exchange) =>
          listFigures(release, await advisors.adviseIn(exchange, release, area, ALL_LAYERS)),
      }))
    },
    /** @throws {ApiError} for a wrong polygon, {ReplacedMeanwhile} where the release was deleted */
    async inPolygon(release: PublishedRelease, polygon: SentGeoJson, exchange: Exchange) {
      const { polygons } = readGeoJson(polygon)
      return listFigures(release, await advisors.adviseIn(exchange, release, polygons, ALL_LAYERS))
    },
  }
}

export type RegionStatistics = ReturnType<typeof createRegionStatistics>

/** A piece takes a second or so, and all of them less than the lease of a claim. */
const AREAS_A_PIECE = 10

/** The pause while requests compute, or another process claims. */
const BUSY_MS = 1000

/**
 * Computes the results of areas before the first request for them, one after the other, and begins none while a request asks
 * for polygons or areas. Processes share the areas by claims with leases.
 */
export function computeAreas(app: App, advisors: Advisors): void {
  const { log } = app
  // The look through many releases may take longer than a statement of a request.
  const { writer, patientWriter } = app.database
  let settled: string | undefined
  let computed = 0

  /** Computes one after the other until a request comes, or an area is not stored. */
  async function computeEach(
    areas: ClaimedArea[],
    signal: AbortSignal,
  ): Promise<{ next: boolean | number; failed?: ClaimedArea }> {
    const work = createBackgroundWork(app, 'areas', signal)
    for (const area of areas) {
      if (advisors.isBusy) return { next: BUSY_MS }
      try {
        await advisors.store(work, area.releaseId, area)
        computed++
      } catch (error) {
        if (signal.aborted || isReplaced(error)) return { next: false }
        app.logFailure(error, `the statistics of ${area.code} in ${area.release} were not computed`)
        return { next: false, failed: area }
      }
    }
    return { next: true }
  }

  function settle(state: string): void {
    settled = state
    if (computed > 0) log.info({ areas: computed }, 'all areas have results')
    computed = 0
  }

  async function computeSome(signal: AbortSignal): Promise<boolean | number> {
    if (advisors.isBusy) return BUSY_MS
    const claim = await claimAreas(patientWriter, AREAS_A_PIECE, settled)
    if (!claim) return BUSY_MS
    const { areas, state, alone } = claim
    if (areas.length === 0) {
      if (alone) settle(state)
      return false
    }
    const { next, failed } = await computeEach(areas, signal)
    await giveBackAreas(
      writer,
      areas.filter((area) => area !== failed),
    )
    return next
  }

  app.jobs.add('compute-areas', { failure: 'areas without statistics were not listed' }, computeSome)
}
