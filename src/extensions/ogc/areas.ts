import type { RegionStatistics, RegionValues } from '#src/advice/region-statistics.ts'
import {
  type AreaFilter,
  type AreaPage,
  type AreaRow,
  type LoadedLevel,
  listAreas,
  listLoadedLevels,
  SHAPE_DECIMALS,
  type ShapeFormat,
} from '#src/catalog/area-queries.ts'
import { ApiError, overloaded, refuseIfReplaced } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import { forbidCaching, type ReadContext } from './api.ts'

/** The codes of errors where a statistic is late. */
const LATE = ['OVERLOADED', 'QUERY_TIMEOUT', 'DATABASE_UNAVAILABLE']

/** Areas between which others go on. */
const AREAS_A_SLICE = 20

export type Areas = ReturnType<typeof createAreas>

/** The areas of countries, and the statistics of releases in them. */
export function createAreas(app: App, figures: RegionStatistics) {
  const db = app.database.reader
  let latest: { boundaries: string; loaded: readonly LoadedLevel[] } | undefined

  /** The tag of an answer names the boundaries of the snapshot: others were loaded meanwhile, or are not at a replica yet. */
  function cacheIfCurrent({ boundaries }: { boundaries: string }, context: ReadContext): void {
    if (boundaries !== context.snapshot.boundaries) forbidCaching(context)
  }

  return {
    columnsOf: figures.columnsOf,
    /** The loaded levels, country by country. */
    async loaded(context: ReadContext): Promise<readonly LoadedLevel[]> {
      if (latest?.boundaries !== context.snapshot.boundaries) {
        latest = await context.exchange.withDatabasePermit(() => listLoadedLevels(db))
      }
      cacheIfCurrent(latest, context)
      return latest.loaded
    },
    async page(filter: AreaFilter, context: ReadContext): Promise<AreaPage> {
      const page = await context.exchange.withDatabasePermit(() => listAreas(db, filter))
      cacheIfCurrent(page, context)
      return page
    },
    /**
     * The statistics of a release in areas of a country and level. Of the first of them where computing takes long: the
     * answer then is not cached.
     *
     * @param until when computing ends, on the clock of `performance.now()`
     * @throws {ApiError} OVERLOADED while the release or the boundaries are being replaced
     */
    async statistics(
      release: PublishedRelease,
      areas: readonly AreaRow[],
      context: ReadContext,
      until: number,
    ): Promise<RegionValues[]> {
      const [{ level } = { level: 0 }] = areas
      const codes = areas.map(({ code }) => code)
      const { exchange } = context
      const stored = await exchange.withDatabasePermit(() => figures.find(release, level, codes))
      const isSame = stored.every((area, at) => area.version === areas[at]?.version)
      if (stored.length !== areas.length || !isSame) throw overloaded()
      const found: RegionValues[] = []
      try {
        for (const area of stored) {
          if (found.length % AREAS_A_SLICE === 0) await context.pause()
          const values = area.stored()
          if (!values && found.length > 0 && performance.now() > until) break
          found.push(values ?? (await refuseIfReplaced(() => area.compute(exchange))))
        }
      } catch (error) {
        if (found.length === 0 || !(error instanceof ApiError && LATE.includes(error.code))) throw error
      }
      if (found.length < areas.length) forbidCaching(context)
      return found
    },
  }
}

/** The coarsest simplification, in degrees. */
const COARSEST = 0.25

const METRE_DECIMALS = 2

/** Decimals behind the first digit of a tolerance: rounding moves nothing so far that borders would cross. */
const FURTHER_DECIMALS = 2

/** The format of shapes for an allowed offset in degrees. */
export function chooseShapeFormat(crs: ShapeFormat['crs'], offset: number): ShapeFormat {
  const tolerance = Math.min(offset, COARSEST)
  if (crs === 'mercator') return { crs, tolerance, decimals: METRE_DECIMALS }
  const decimals = tolerance === 0 ? SHAPE_DECIMALS : Math.ceil(-Math.log10(tolerance)) + FURTHER_DECIMALS
  return { crs, tolerance, decimals: Math.min(decimals, SHAPE_DECIMALS) }
}
