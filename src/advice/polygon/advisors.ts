import type { AdvisedArea } from '#schemas/areas.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import { type CountryExtent, listCountryExtents } from '#src/catalog/reference-queries.ts'
import { ApiError, BASE, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { cacheValue } from '#src/lib/cache.ts'
import type { Lookup, WorkInRelease } from '#src/lookup/lookup.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { type PublishedRelease, ReplacedMeanwhile, readSeries } from '#src/lookup/releases.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'
import type { Rings } from '#src/raster/rings.ts'
import { decodeMultiPolygon } from '#src/raster/wkb.ts'
import { adviceFrom, type PolygonAdvice, roundArea, withValues } from './answer.ts'
import { type Computation, createComputing, type Waiting } from './computing.ts'
import { findInteriorPoint, invalid, type Outline, refuseInvalid } from './geometry.ts'
import { type AreaInRelease, findArea, persistAreaResult, readAreaShape } from './queries.ts'
import {
  createAreaKey,
  createPolygonsKey,
  createReleaseStatistics,
  type LocatedStatistics,
  type ReleaseStatistics,
} from './zonal-statistics.ts'

/** The question about a region, beside its place. */
export type RegionQuestion = Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period'>

type AreaAdvice = PolygonAdvice & { admin: AdvisedArea }

/** Advice on a polygon, or on an administrative area. */
export type Advice = PolygonAdvice | AreaAdvice

type Distribution = DistributionOptions | null

/**
 * The advisors on polygons and areas. All rooms share one of each, and its queue.
 *
 * Those on a series throw the reason for no value. Those on a release return advice without values too, and throw
 * {@link ReplacedMeanwhile} where the release or the area was deleted: `inRelease` tries again.
 */
export function createAdvisors(app: App, lookup: Lookup) {
  const statistics = createReleaseStatistics(app.database.reader)
  const polygonAdvisor = createPolygonAdvisor(app, lookup, statistics)
  const areaAdvisor = createAreaAdvisor(app, lookup, statistics)
  return {
    polygonAdvisor,
    areaAdvisor,
    adviseWithTimeout: createComputing(app),
    /** Advises on a polygon or an area, with the country and the crop of the place where the question lacks them. */
    async adviseOn(
      where: Outline | AreaReference,
      { product, asked, wanted }: Question,
      waiting: Waiting,
    ): Promise<Advice> {
      const { wait } = waiting
      if (!('polygons' in where)) {
        await wait(() => lookup.places.fillCrop(asked))
        return areaAdvisor.advise(readSeries(product, asked), where, wanted, waiting)
      }
      const { polygons } = where
      await wait(() => lookup.places.fill(asked, findInteriorPoint(polygons)))
      return polygonAdvisor.advise(readSeries(product, asked), polygons, wanted, waiting)
    },
  }
}

export type Advisors = ReturnType<typeof createAdvisors>

interface Question {
  product: ProductDefinition
  asked: RegionQuestion & LocatableRequest
  wanted: Distribution
}

function createAreaAdvisor({ database, logFailure }: App, lookup: Lookup, statistics: ReleaseStatistics) {
  const { reasons } = lookup

  async function computeArea(
    computation: Computation,
    releaseId: number,
    areaId: number,
    distribution: Distribution,
  ): Promise<LocatedStatistics> {
    const shape = await readAreaShape(computation.ask, areaId)
    // Its boundaries are being replaced.
    if (!shape) throw new ReplacedMeanwhile()
    const { wkb, version } = shape
    const found = await statistics.compute(computation, releaseId, decodeMultiPolygon(wkb), distribution)
    if (distribution) {
      statistics.cache(createAreaKey(releaseId, { id: areaId, version }, distribution), found)
      return found
    }
    await persistAreaResult(database.writer, { areaId, releaseId, version }, found).catch((error) =>
      // The answer is right even if it is not stored.
      logFailure(error, 'the result of an area could not be kept'),
    )
    return found
  }

  async function findOrCompute(
    computation: Computation,
    area: AreaInRelease,
    releaseId: number,
    distribution: Distribution,
  ): Promise<LocatedStatistics> {
    const { ask, wait } = computation
    const found = distribution
      ? await statistics.findCached(ask, releaseId, createAreaKey(releaseId, area, distribution))
      : // Another request may have stored it in the meantime.
        (await wait(() => findArea(database.reader, area, releaseId)))?.statistics
    return found ?? computeArea(computation, releaseId, area.id, distribution)
  }

  async function adviseOn(
    area: AreaInRelease,
    release: PublishedRelease,
    distribution: Distribution,
    { compute }: Waiting,
  ): Promise<AreaAdvice> {
    const { countryCode, level, code, name } = area
    const stored = distribution ? null : area.statistics
    const located =
      stored ?? (await compute((computation) => findOrCompute(computation, area, release.id, distribution)))
    return { admin: { country_code: countryCode, level, code, name }, ...adviceFrom(release, located) }
  }

  async function advise(
    series: Series,
    reference: AreaReference,
    distribution: Distribution,
    waiting: Waiting,
  ): Promise<AreaAdvice> {
    const { wait, waitInTurn } = waiting
    const adviseIn: WorkInRelease<AreaAdvice> = async (snapshot, release) => {
      const area = await waitInTurn(() => findArea(database.reader, reference, release?.id ?? null))
      if (!area) throw unknownArea(snapshot, reference)
      if (!release) throw await wait(() => reasons.noRelease(snapshot, series))
      const advice = await adviseOn(area, release, distribution, waiting)
      return withValues(reasons, wait, snapshot, series, advice)
    }
    return lookup.inRelease(series, adviseIn, wait)
  }

  return { advise, adviseOn }
}

export type AreaAdvisor = ReturnType<typeof createAreaAdvisor>

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

function createPolygonAdvisor({ database, config }: App, lookup: Lookup, statistics: ReleaseStatistics) {
  const { reasons } = lookup
  const countryExtents = cacheValue(
    'country extents',
    () => listCountryExtents(database.reader),
    config.RELEASE_MAX_AGE_MS,
  )

  async function findOrCompute(
    computation: Computation,
    releaseId: number,
    polygons: Rings[],
    distribution: Distribution,
  ): Promise<LocatedStatistics> {
    const key = createPolygonsKey(releaseId, polygons, distribution)
    const cached = await statistics.findCached(computation.ask, releaseId, key)
    if (cached) return cached
    await refuseInvalid(polygons, computation.pause)
    const found = await statistics.compute(computation, releaseId, polygons, distribution)
    statistics.cache(key, found)
    return found
  }

  /** @throws {ApiError} for polygons that are invalid or lie outside all countries */
  async function adviseIn(
    release: PublishedRelease,
    polygons: Rings[],
    distribution: Distribution,
    { wait, compute }: Waiting,
  ): Promise<PolygonAdvice> {
    refuseElsewhere(await wait(countryExtents), polygons, release.countryCode)
    const find = (computation: Computation) => findOrCompute(computation, release.id, polygons, distribution)
    return adviceFrom(release, await compute(find))
  }

  async function advise(
    series: Series,
    polygons: Rings[],
    distribution: Distribution,
    waiting: Waiting,
  ): Promise<PolygonAdvice> {
    const { wait, compute } = waiting
    refuseElsewhere(await wait(countryExtents), polygons, series.countryCode)
    const adviseNow: WorkInRelease<PolygonAdvice> = async (snapshot, release) => {
      if (release) {
        const advice = await adviseIn(release, polygons, distribution, waiting)
        return withValues(reasons, wait, snapshot, series, advice)
      }
      await compute(({ pause }) => refuseInvalid(polygons, pause))
      const place = { ...series, ...findInteriorPoint(polygons) }
      throw await wait(() => reasons.noRelease(snapshot, place, 'polygon'))
    }
    return lookup.inRelease(series, adviseNow, wait)
  }

  return { advise, adviseIn }
}

export type PolygonAdvisor = ReturnType<typeof createPolygonAdvisor>

/** @throws {ApiError} OUTSIDE_COUNTRY, or INVALID_GEOMETRY where the coordinates look swapped */
function refuseElsewhere(countries: CountryExtent[], polygons: Rings[], countryCode: string): void {
  // A country of unknown extent may be anywhere, so none of its polygons lies outside.
  if (countries.some(({ code, extent }) => code === countryCode && extent === null)) return
  if (meetsAny(countries, polygons, 0)) return
  if (meetsAny(countries, polygons, 1)) {
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
function meetsAny(countries: CountryExtent[], polygons: Rings[], swapped: 0 | 1): boolean {
  const low = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY] as [number, number]
  const high = [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY] as [number, number]
  for (const [shell] of polygons) {
    for (const [at, number] of (shell as Float64Array).entries()) {
      const axis = ((at + swapped) % 2) as 0 | 1
      low[axis] = Math.min(low[axis], number)
      high[axis] = Math.max(high[axis], number)
    }
  }
  return countries.some(({ extent }) => {
    if (extent === null) return false
    const [west, south, east, north] = extent
    return (
      low[0] <= east + BEYOND &&
      high[0] >= west - BEYOND &&
      low[1] <= north + BEYOND &&
      high[1] >= south - BEYOND
    )
  })
}

/**
 * The location of the answer for a polygon or an area.
 *
 * @param name the name in the request
 */
export function describeRegion(name: string | undefined, advice: Advice) {
  const { position, statistics } = advice
  const admin = 'admin' in advice ? advice.admin : undefined
  return {
    name: name ?? admin?.name ?? 'Polygon',
    lat: position.latitude,
    lng: position.longitude,
    type: 'polygon',
    area_ha: roundArea(statistics.areaHa),
    ...(admin && { admin }),
  }
}
