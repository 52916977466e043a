import type { Kysely } from 'kysely'
import type { AdvisedArea } from '#schemas/areas.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition, Series } from '#schemas/products/define.ts'
import type { AreaReference } from '#src/catalog/area-queries.ts'
import { type CountryExtent, listCountryExtents } from '#src/catalog/reference-queries.ts'
import type { Database } from '#src/data/client.ts'
import type { Tables } from '#src/data/tables.ts'
import { ApiError, BASE, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { LogFailure } from '#src/http/plugins/failure-log.ts'
import { cacheValue } from '#src/lib/cache.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import type { Lookup, WorkInRelease } from '#src/lookup/lookup.ts'
import type { Placeable } from '#src/lookup/places.ts'
import { type PublishedRelease, ReplacedMeanwhile, seriesOf } from '#src/lookup/releases.ts'
import { codesOf, type Snapshot } from '#src/lookup/snapshot.ts'
import type { DistributionWanted } from '#src/raster/distribution.ts'
import type { Rings } from '#src/raster/rings.ts'
import { decodeMultiPolygon } from '#src/raster/wkb.ts'
import { adviceFrom, type PolygonAdvice, roundArea, withValues } from './answer.ts'
import { type AdviseWithTimeout, type Computation, createComputing, type Waiting } from './computing.ts'
import { interiorPointOf, invalid, type Outline, refuseInvalid } from './geometry.ts'
import { type AreaInRelease, findArea, persistAreaResult, readArea } from './queries.ts'
import {
  createReleaseStatistics,
  keyOfArea,
  keyOfPolygons,
  type LocatedStatistics,
  type ReleaseStatistics,
  type RememberedStatistics,
  refuseUnlessThere,
  rememberStatistics,
} from './zonal-statistics.ts'

/** The question about a region, beside its place. */
export type RegionQuestion = Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period'>

type AreaAdvice = PolygonAdvice & { admin: AdvisedArea }

type Wanted = DistributionWanted | null

/** Answers for administrative areas. */
export interface AreaAdvisor {
  /**
   * Advice from the release that answers for a series.
   *
   * @throws {ApiError} which says why there is no answer
   */
  advise(series: Series, area: AreaReference, wanted: Wanted, waiting: Waiting): Promise<AreaAdvice>
  /**
   * Advice from a release for an area that was found, which may be without any value.
   *
   * @throws {ReplacedMeanwhile} where the release or the area has been deleted: to be called within `inRelease`
   */
  adviseOn(
    area: AreaInRelease,
    release: PublishedRelease,
    wanted: Wanted,
    waiting: Waiting,
  ): Promise<AreaAdvice>
}

function createAreaAdvisor(
  database: Database,
  lookup: Lookup,
  statisticsIn: ReleaseStatistics,
  remembered: RememberedStatistics,
  logFailure: LogFailure,
): AreaAdvisor {
  const { reasons } = lookup
  const { findOrCompute, recallOrCompute } = createAreaStatistics(
    database,
    statisticsIn,
    remembered,
    logFailure,
  )

  async function adviseOn(
    area: AreaInRelease,
    release: PublishedRelease,
    wanted: Wanted,
    { compute }: Waiting,
  ): Promise<AreaAdvice> {
    const { countryCode, level, code, name } = area
    const located = await (wanted
      ? compute((computation) => recallOrCompute(computation, area, release.id, wanted))
      : (area.statistics ?? compute((computation) => findOrCompute(computation, area, release.id))))
    return { admin: { country_code: countryCode, level, code, name }, ...adviceFrom(release, located) }
  }

  return {
    adviseOn,
    advise(series, reference, wanted, waiting) {
      const { wait, waitInTurn } = waiting
      const adviseIn: WorkInRelease<AreaAdvice> = async (snapshot, release) => {
        const area = await waitInTurn(() => findArea(database.reader, reference, release?.id ?? null))
        if (!area) throw unknownArea(snapshot, reference)
        if (!release) throw await wait(() => reasons.noRelease(snapshot, series))
        const advice = await adviseOn(area, release, wanted, waiting)
        return withValues(reasons, wait, snapshot, series, advice)
      }
      return lookup.inRelease(series, adviseIn, wait)
    },
  }
}

/** Makes what finds out what releases come to in areas. */
function createAreaStatistics(
  database: Database,
  statisticsIn: ReleaseStatistics,
  remembered: RememberedStatistics,
  logFailure: LogFailure,
) {
  /** Computes what a release comes to in an area, and stores it for those who ask next. */
  async function computeArea(
    computation: Computation,
    releaseId: number,
    areaId: number,
    wanted: Wanted,
  ): Promise<LocatedStatistics> {
    const shape = await readArea(computation.ask, areaId)
    // Its boundaries are being replaced.
    if (!shape) throw new ReplacedMeanwhile()
    const { wkb, version } = shape
    const polygons = decodeMultiPolygon(wkb)
    const statistics = await statisticsIn(computation, releaseId, polygons, wanted)
    const stored = { ...statistics, ...interiorPointOf(polygons) }
    if (wanted) {
      remembered.set(keyOfArea(releaseId, { id: areaId, version }, wanted), stored)
      return stored
    }
    await persistAreaResult(database.writer, { areaId, releaseId, version }, stored).catch((error) =>
      // The answer is right even where it could not be stored.
      logFailure(error, 'the result of an area could not be kept'),
    )
    return stored
  }

  async function findOrCompute(
    computation: Computation,
    area: AreaInRelease,
    releaseId: number,
  ): Promise<LocatedStatistics> {
    // Others may have asked for it, too, while this one waited for its turn.
    const found = await computation.wait(() => findArea(database.reader, area, releaseId))
    return found?.statistics ?? computeArea(computation, releaseId, area.id, null)
  }

  async function recallOrCompute(
    computation: Computation,
    area: AreaInRelease,
    releaseId: number,
    wanted: DistributionWanted,
  ): Promise<LocatedStatistics> {
    const known = remembered.get(keyOfArea(releaseId, area, wanted))
    if (!known) return computeArea(computation, releaseId, area.id, wanted)
    await refuseUnlessThere(computation.ask, releaseId)
    return known
  }

  return { findOrCompute, recallOrCompute }
}

function unknownArea(snapshot: Snapshot, { countryCode, code, level }: AreaReference): ApiError {
  const country = snapshot.countries.find((candidate) => candidate.code === countryCode)
  if (!country) return unknownCountry('admin.country_code', codesOf(snapshot))
  const ofLevel = level === null ? '' : ` of level ${level}`
  return new ApiError(
    'UNKNOWN_AREA',
    `${country.name} has no area${ofLevel} with the code ${code}; GET ${BASE}/admin lists them.`,
    [{ field: 'admin.code', message: `admin.code must be the code of an area of ${country.name}` }],
  )
}

/** Advice on a polygon, or on an administrative area. */
export type Advice = PolygonAdvice | AreaAdvice

/**
 * The location of the answer for a polygon or an area.
 *
 * @param name the one that was sent
 */
export function locationOf(name: string | undefined, advice: Advice) {
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

/**
 * Makes what refuses polygons that lie outside all countries.
 *
 * @param maxAgeMs how old what is known of the countries may be
 * @throws {ApiError} (the promise) OUTSIDE_COUNTRY, or INVALID_GEOMETRY where the coordinates look swapped
 */
function createElsewhereRefusal(
  db: Kysely<Tables>,
  maxAgeMs: number,
): (polygons: Rings[], countryCode: string) => Promise<void> {
  const countryExtents = cacheValue('country extents', () => listCountryExtents(db), maxAgeMs)

  return async (polygons, countryCode) => {
    const countries = await countryExtents()
    // A country whose extent is not known may be anywhere: nothing that it is asked about lies elsewhere.
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

/** Answers for polygons, as `readGeoJson` has read them. */
export interface PolygonAdvisor {
  /**
   * Advice from the release that answers for a series.
   *
   * @throws {ApiError} which says why there is none
   */
  advise(series: Series, polygons: Rings[], wanted: Wanted, waiting: Waiting): Promise<PolygonAdvice>
  /**
   * Advice from a release, which may be without any value.
   *
   * @throws {ApiError} where the polygons are not valid, or lie elsewhere
   * @throws {ReplacedMeanwhile} where the release has been deleted: to be called within `inRelease`
   */
  adviseIn(
    release: PublishedRelease,
    polygons: Rings[],
    wanted: Wanted,
    waiting: Waiting,
  ): Promise<PolygonAdvice>
}

/** @param maxAgeMs how old what is known of the countries may be */
function createPolygonAdvisor(
  database: Database,
  lookup: Lookup,
  statisticsIn: ReleaseStatistics,
  remembered: RememberedStatistics,
  maxAgeMs: number,
): PolygonAdvisor {
  const refuseElsewhere = createElsewhereRefusal(database.reader, maxAgeMs)
  const { reasons } = lookup

  async function computeIn(
    computation: Computation,
    releaseId: number,
    polygons: Rings[],
    wanted: Wanted,
  ): Promise<LocatedStatistics> {
    const key = keyOfPolygons(releaseId, polygons, wanted)
    const known = remembered.get(key)
    if (known) {
      await refuseUnlessThere(computation.ask, releaseId)
      return known
    }
    await refuseInvalid(polygons, computation.pause)
    const statistics = await statisticsIn(computation, releaseId, polygons, wanted)
    const located = { ...statistics, ...interiorPointOf(polygons) }
    remembered.set(key, located)
    return located
  }

  async function adviseIn(
    release: PublishedRelease,
    polygons: Rings[],
    wanted: Wanted,
    { wait, compute }: Waiting,
  ): Promise<PolygonAdvice> {
    await wait(() => refuseElsewhere(polygons, release.countryCode))
    const located = await compute((computation) => computeIn(computation, release.id, polygons, wanted))
    return adviceFrom(release, located)
  }

  return {
    adviseIn,
    async advise(series, polygons, wanted, waiting) {
      const { wait, compute } = waiting
      await wait(() => refuseElsewhere(polygons, series.countryCode))
      const advise: WorkInRelease<PolygonAdvice> = async (snapshot, release) => {
        if (release) {
          const advice = await adviseIn(release, polygons, wanted, waiting)
          return withValues(reasons, wait, snapshot, series, advice)
        }
        await compute(({ pause }) => refuseInvalid(polygons, pause))
        const place = { ...series, ...interiorPointOf(polygons) }
        throw await wait(() => reasons.noRelease(snapshot, place, 'polygon'))
      }
      return lookup.inRelease(series, advise, wait)
    },
  }
}

/** What answers for polygons and areas: one of each is enough for all who ask, who wait in one line. */
export interface Advisors {
  polygonAdvisor: PolygonAdvisor
  areaAdvisor: AreaAdvisor
  adviseWithTimeout: AdviseWithTimeout
  adviseOn: AdviseOn
}

interface Question {
  product: ProductDefinition
  /** Gets the country of a polygon, and the crop of a country, where they are left out. */
  asked: RegionQuestion & Placeable
  wanted: DistributionWanted | null
  clientKey: ClientKey
}

/** Advises on a polygon or an area. */
type AdviseOn = (where: Outline | AreaReference, question: Question, waiting: Waiting) => Promise<Advice>

/** Makes {@link AdviseOn}. */
function createAdviseOn(
  { places }: Lookup,
  polygonAdvisor: PolygonAdvisor,
  areaAdvisor: AreaAdvisor,
): AdviseOn {
  return async (where, { product, asked, wanted, clientKey }, waiting) => {
    if (!('polygons' in where)) {
      await waiting.wait(() => places.fillCrop(asked))
      return areaAdvisor.advise(seriesOf(product, asked), where, wanted, waiting)
    }
    const position = interiorPointOf(where.polygons)
    await waiting.wait(() => places.fill(asked, position, clientKey))
    return polygonAdvisor.advise(seriesOf(product, asked), where.polygons, wanted, waiting)
  }
}

export function createAdvisors(app: App, lookup: Lookup): Advisors {
  const { database, config, logFailure } = app
  const statisticsIn = createReleaseStatistics(database.reader)
  const remembered = rememberStatistics()
  const polygonAdvisor = createPolygonAdvisor(
    database,
    lookup,
    statisticsIn,
    remembered,
    config.RELEASE_MAX_AGE_MS,
  )
  const areaAdvisor = createAreaAdvisor(database, lookup, statisticsIn, remembered, logFailure)
  return {
    polygonAdvisor,
    areaAdvisor,
    adviseWithTimeout: createComputing(app),
    adviseOn: createAdviseOn(lookup, polygonAdvisor, areaAdvisor),
  }
}
