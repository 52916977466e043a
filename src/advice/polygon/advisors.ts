import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import { type CountryExtent, listCountryExtents } from '#src/catalog/reference-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { ApiError, BASE, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { cacheValue } from '#src/lib/cache.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import { ALL_LAYERS, type ConditionWish, EVERY_CONDITION } from '#src/lookup/conditions.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { type PublishedRelease, type RequestedSeries, readSeries } from '#src/lookup/releases.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'
import { measureBounds, type Rings } from '#src/raster/rings.ts'
import { alternativeColumns } from '../columns.ts'
import {
  type Advice,
  adviceFrom,
  hasValues,
  listStatisticKeys,
  readMeans,
  statisticColumns,
} from './answer.ts'
import { chooseStatistics, figuresOfRegion } from './figures.ts'
import {
  findInteriorPoint,
  invalid,
  type Outline,
  readGeoJson,
  refuseInvalid,
  type SentGeoJson,
} from './geometry.ts'
import {
  type AreaInRelease,
  findArea,
  type LocatedStatistics,
  listAreasInRelease,
  persistAreaResult,
} from './queries.ts'
import { type Computation, createComputing, sharingTiles, type Waiting } from './tiles.ts'
import {
  createRegionKey,
  createRegions,
  isPolygons,
  type Polygons,
  type Region,
  weighMeasured,
} from './weighing.ts'
import { createKey, createReleaseStatistics } from './zonal-statistics.ts'

export type RegionQuestion = Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'condition'>

type Distribution = DistributionOptions | null

interface Question {
  product: ProductDefinition
  asked: RegionQuestion & LocatableRequest
  wanted: Distribution
}

/** Makes the functions for the statistics of a release in regions: stored, cached or computed. */
function createFinder({ database, logFailure }: App) {
  const statistics = createReleaseStatistics(database.reader)
  const regionOf = createRegions()

  /** Each of several polygons, or its own error. */
  async function findEach(
    { readTiles, ...computation }: Computation,
    releaseId: number,
    all: Polygons[],
    distribution: Distribution,
  ): Promise<(LocatedStatistics | ApiError)[]> {
    const sharing = { ...computation, readTiles: sharingTiles(readTiles) }
    return statistics.compute(sharing, releaseId, async (compute) => {
      const findOne = async (polygons: Polygons) => {
        if (!Array.isArray(polygons)) return compute(weighMeasured(sharing, polygons), distribution)
        const regionKey = createRegionKey(polygons)
        const key = createKey(releaseId, regionKey, distribution)
        const cached = statistics.peek(key)
        if (cached) return cached
        const computed = await compute(await regionOf(sharing, polygons, regionKey), distribution)
        statistics.cache(key, computed)
        return computed
      }
      // All end before the permit does.
      const settled = await Promise.allSettled(all.map(findOne))
      return settled.map((found) => (found.status === 'fulfilled' ? found.value : ownError(found.reason)))
    })
  }

  async function findOrCompute(
    computation: Computation,
    releaseId: number,
    region: Region,
    distribution: Distribution,
  ): Promise<LocatedStatistics> {
    if ('polygons' in region) {
      const weighed = weighMeasured(computation, region)
      return statistics.compute(computation, releaseId, (compute) => compute(weighed, distribution))
    }
    const { ask, wait } = computation
    const isPersisted = !Array.isArray(region) && !distribution
    const regionKey = createRegionKey(region)
    const key = createKey(releaseId, regionKey, distribution)
    const found = isPersisted
      ? // Another request may have stored it in the meantime.
        (await wait(() => findArea(database.reader, region, releaseId)))?.statistics
      : await statistics.findCached(ask, releaseId, key)
    if (found) return found
    const weighed = await regionOf(computation, region, regionKey)
    const computed = await statistics.compute(computation, releaseId, (compute) =>
      compute(weighed, distribution),
    )
    if (isPersisted) {
      await persistAreaResult(database.writer, region, releaseId, computed).catch((error) =>
        // The answer is right even if it is not stored.
        logFailure(error, 'the result of an area could not be kept'),
      )
    } else statistics.cache(key, computed)
    return computed
  }

  /** Computes the result of an area. @throws {ReplacedMeanwhile}; where it cannot be stored */
  async function store(
    computation: Computation,
    releaseId: number,
    area: Pick<AreaInRelease, 'id' | 'version'>,
  ): Promise<void> {
    const weighed = await regionOf(computation, area, createRegionKey(area))
    const computed = await statistics.compute(computation, releaseId, (compute) => compute(weighed, null))
    await persistAreaResult(database.writer, area, releaseId, computed)
  }

  return { findOrCompute, findEach, store }
}

export type Advisors = ReturnType<typeof createAdvisors>

/** Makes the advisors on polygons and areas. All rooms share one of each, and its queue. */
export function createAdvisors(app: App, lookup: Lookup) {
  const { reader } = app.database
  const { reasons, places } = lookup
  const { findOrCompute, findEach, store } = createFinder(app)
  const refuseElsewhere = createExtentCheck(app)

  /** Advises in a release, also without a value. @throws {ReplacedMeanwhile}, {ApiError} for a wrong polygon */
  async function adviseIn(
    release: PublishedRelease,
    region: Region,
    distribution: Distribution,
    { wait, compute }: Waiting,
    condition?: ConditionWish,
  ): Promise<Advice> {
    const find = () => compute((task) => findOrCompute(task, release.id, region, distribution))
    if (isPolygons(region)) {
      await refuseElsewhere(region, release.countryCode, wait)
      return adviceFrom(release, await find(), condition)
    }
    const { countryCode, level, code, name, statistics: stored } = region
    const located = !distribution && stored ? stored : await find()
    return {
      ...adviceFrom(release, located, condition),
      admin: { country_code: countryCode, level, code, name },
    }
  }

  /** Advises on several small polygons in one computation, each also without a value, or with its own error. */
  async function adviseOnEach(
    release: PublishedRelease,
    all: Polygons[],
    distribution: Distribution,
    { wait, compute }: Waiting,
    condition?: string,
  ): Promise<(Advice | ApiError)[]> {
    const refused = await Promise.all(
      all.map((polygons) => refuseElsewhere(polygons, release.countryCode, wait).catch(ownError)),
    )
    const left = all.filter((_, index) => !refused[index])
    const found = (await compute((task) => findEach(task, release.id, left, distribution))).values()
    return refused.map((error) => {
      const outcome = error ?? (found.next().value as LocatedStatistics | ApiError)
      return outcome instanceof ApiError ? outcome : adviceFrom(release, outcome, condition)
    })
  }

  /** Advises in the release of a series. @throws {ApiError} the reason for no value */
  async function advise(
    series: RequestedSeries,
    where: Outline | AreaReference,
    distribution: Distribution,
    waiting: Waiting,
  ): Promise<Advice> {
    const { wait, waitForPermit, compute } = waiting
    return lookup.inRelease(
      series,
      async (snapshot, release) => {
        const region = await findRegion(reader, where, release, waitForPermit)
        if (!region) throw unknownArea(snapshot, where as AreaReference)
        if (release) {
          const advice = await adviseIn(release, region, distribution, waiting, series.condition)
          if (hasValues(advice)) return advice
          throw await wait(() => reasons.noValue(snapshot, series, advice.position, 'polygon'))
        }
        if (!Array.isArray(region)) throw await wait(() => reasons.noRelease(snapshot, series))
        await refuseElsewhere(region, series.countryCode, wait)
        await compute(({ pause }) => refuseInvalid(region, pause))
        const place = { ...series, ...findInteriorPoint(region) }
        throw await wait(() => reasons.noRelease(snapshot, place, 'polygon'))
      },
      wait,
    )
  }

  return {
    ...countRequests(createComputing(app)),
    store,
    refuseElsewhere,
    adviseIn,
    adviseOnEach,
    advise,
    /** Advises on a polygon or an area, with the country and the crop of the place where the question lacks them. */
    async adviseOn(
      where: Outline | AreaReference,
      { product, asked, wanted }: Question,
      waiting: Waiting,
    ): Promise<Advice> {
      await waiting.wait(() =>
        'polygons' in where ? places.fill(asked, findInteriorPoint(where.polygons)) : places.fillCrop(asked),
      )
      return advise(readSeries(product, asked), where, wanted, waiting)
    },
  }
}

function countRequests(computing: ReturnType<typeof createComputing>) {
  let requests = 0
  const adviseWithTimeout: typeof computing = (...request) => {
    requests++
    return computing(...request).finally(() => requests--)
  }
  return {
    adviseWithTimeout,
    /** Whether any request asks for polygons or areas at this moment. */
    isBusy: () => requests > 0,
  }
}

async function findRegion(
  db: Db,
  where: Outline | AreaReference,
  release: PublishedRelease | undefined,
  waitForPermit: Wait,
): Promise<Region | undefined> {
  return 'polygons' in where ? where.polygons : waitForPermit(() => findArea(db, where, release?.id ?? null))
}

/** Gives the error of a wrong request; throws any other. */
function ownError(error: unknown): ApiError {
  if (error instanceof ApiError && error.status < 500) return error
  throw error
}

function unknownArea(snapshot: Snapshot, { countryCode, code, level }: AreaReference): ApiError {
  const country = snapshot.countries.find((candidate) => candidate.code === countryCode)
  if (!country) return unknownCountry('admin.country_code', listCodes(snapshot))
  const ofLevel = level === null ? '' : ` of level ${level}`
  return new ApiError(
    'UNKNOWN_AREA',
    `${country.name} has no area${ofLevel} with the code ${code}; GET ${BASE}/admin lists them.`,
    [{ field: 'admin.code', message: `admin.code must be the code of an area of ${country.name}` }],
  )
}

/**
 * Makes the check of places.
 *
 * @param countryCode where the release is; null for none
 * @throws {ApiError} OUTSIDE_COUNTRY, or INVALID_GEOMETRY for swapped coordinates
 */
function createExtentCheck({ config, database }: App) {
  const listCountries = () => listCountryExtents(database.reader)
  const countryExtents = cacheValue('country extents', listCountries, config.RELEASE_MAX_AGE_MS)
  return async (polygons: Polygons, countryCode: string | null, wait: Wait): Promise<void> => {
    // Saved fields were checked before.
    if (Array.isArray(polygons)) refuseOutside(await wait(countryExtents), polygons, countryCode)
  }
}

function refuseOutside(countries: CountryExtent[], polygons: Rings[], countryCode: string | null): void {
  // A country of unknown extent may be anywhere, so none of its polygons lies outside.
  if (countries.some(({ code, extent }) => (countryCode ?? code) === code && extent === null)) return
  if (meetsAny(countries, polygons, false)) return
  if (meetsAny(countries, polygons, true)) {
    throw invalid(
      'geometry',
      'lies outside the countries of the service, and would not if its coordinates were swapped: did you mean lng, lat? GeoJSON has the longitude first',
    )
  }
  const names = countries
    .filter(({ extent }) => extent !== null)
    .map(({ name }) => name)
    .join(', ')
  throw new ApiError('OUTSIDE_COUNTRY', `The polygon lies outside the countries of the service (${names}).`)
}

/** Degrees around the extents of countries: rasters reach over outlines. */
const BEYOND = 0.5

/** Whether polygons reach into the known extent of any country, with longitude and latitude swapped or not. */
function meetsAny(countries: CountryExtent[], polygons: Rings[], isSwapped: boolean): boolean {
  const [west, south, east, north] = measureBounds(polygons.flatMap((rings) => rings.slice(0, 1)))
  const [left, bottom, right, top] = isSwapped ? [south, west, north, east] : [west, south, east, north]
  return countries.some(
    ({ extent }) =>
      extent !== null &&
      left <= extent[2] + BEYOND &&
      right >= extent[0] - BEYOND &&
      bottom <= extent[3] + BEYOND &&
      top >= extent[1] - BEYOND,
  )
}

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

  const describeArea = (release: PublishedRelease, area: AreaInRelease) => ({
    /** The version of the boundaries of its level. */
    version: area.version,
    /** Null where nothing is stored. */
    stored: () => area.statistics && listFigures(release, adviceFrom(release, area.statistics, ALL_LAYERS)),
    /** Computes and stores. @throws {ReplacedMeanwhile} where the release or the area was deleted */
    compute: async (exchange: Exchange) =>
      listFigures(
        release,
        await advisors.adviseWithTimeout(exchange, (waiting) =>
          advisors.adviseIn(release, area, null, waiting, ALL_LAYERS),
        ),
      ),
  })

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
      return areas.map((area) => describeArea(release, area))
    },
    /** @throws {ApiError} for a wrong polygon, {ReplacedMeanwhile} where the release was deleted */
    async inPolygon(release: PublishedRelease, polygon: SentGeoJson, exchange: Exchange) {
      const { polygons } = readGeoJson(polygon)
      const advice = await advisors.adviseWithTimeout(exchange, (waiting) =>
        advisors.adviseIn(release, polygons, null, waiting, ALL_LAYERS),
      )
      return listFigures(release, advice)
    },
  }
}

export type RegionStatistics = ReturnType<typeof createRegionStatistics>
