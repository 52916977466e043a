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
import type { ConditionWish } from '#src/lookup/conditions.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import type { LocatableRequest } from '#src/lookup/places.ts'
import { type PublishedRelease, type RequestedSeries, readSeries } from '#src/lookup/releases.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import type { DistributionOptions } from '#src/raster/distribution.ts'
import { measureBounds, type Rings } from '#src/raster/rings.ts'
import { type Advice, hasValues, makeAdvice } from './answer.ts'
import { findInteriorPoint, invalid, type Outline, refuseInvalid } from './geometry.ts'
import { type AreaInRelease, findArea, type LocatedStatistics } from './queries.ts'
import { ownError, ReleaseStatistics } from './statistics.ts'
import type { Polygons, Region } from './weighing.ts'
import { ComputingQueue, type LongWork, type Work } from './work.ts'

/** A polygon or an area that a request names. */
export type Where = Outline | AreaReference

type Distribution = DistributionOptions | null

interface Question {
  product: ProductDefinition
  /** Gets the country and the crop of the place where it lacks them. */
  asked: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'condition'> & LocatableRequest
  distribution: Distribution
}

/** A request at one region, or work at many. */
type Asker = Exchange | Work

/** Advises on polygons and areas. All rooms share one, with its queue and what it remembers. */
export class Advisors {
  readonly #lookup: Lookup
  readonly #reader: Db
  readonly #statistics: ReleaseStatistics
  readonly #queue: ComputingQueue
  readonly #listExtents: () => Promise<CountryExtent[]>

  constructor(app: App, lookup: Lookup) {
    const { reader } = app.database
    this.#lookup = lookup
    this.#reader = reader
    this.#statistics = new ReleaseStatistics(app)
    this.#queue = new ComputingQueue(app)
    const { RELEASE_MAX_AGE_MS } = app.config
    this.#listExtents = cacheValue('country extents', () => listCountryExtents(reader), RELEASE_MAX_AGE_MS)
  }

  /** Whether any request asks for polygons or areas at this moment. */
  get isBusy(): boolean {
    return this.#queue.isBusy
  }

  /** The work of a request at many regions. */
  workOf(exchange: Exchange): LongWork {
    return this.#queue.workOf(exchange)
  }

  /** Advises on a polygon or an area. @throws {ApiError} the reason for no value */
  advise(exchange: Exchange, where: Where, { product, asked, distribution }: Question): Promise<Advice> {
    const { places } = this.#lookup
    return this.#queue.untilTimeout(exchange, async (work) => {
      await work.wait(() =>
        'polygons' in where ? places.fill(asked, findInteriorPoint(where.polygons)) : places.fillCrop(asked),
      )
      return this.adviseInSeries(work, readSeries(product, asked), where, distribution)
    })
  }

  /** Advises in the release of a series. @throws {ApiError} the reason for no value */
  adviseInSeries(
    asker: Asker,
    series: RequestedSeries,
    where: Where,
    distribution: Distribution,
  ): Promise<Advice> {
    const { reasons } = this.#lookup
    const adviseAt = async (work: Work, snapshot: Snapshot, release: PublishedRelease | undefined) => {
      const region =
        'polygons' in where
          ? where.polygons
          : await work.waitForPermit(() => findArea(this.#reader, where, release?.id ?? null))
      if (!region) throw unknownArea(snapshot, where as AreaReference)
      if (release) {
        const advice = await this.adviseIn(work, release, region, series.condition, distribution)
        if (hasValues(advice)) return advice
        throw await work.wait(() => reasons.noValue(snapshot, series, advice.position, 'polygon'))
      }
      if (!Array.isArray(region)) throw await work.wait(() => reasons.noRelease(snapshot, series))
      await this.refuseElsewhere(work.wait, region, series.countryCode)
      await work.compute(({ pause }) => refuseInvalid(region, pause))
      const located = { ...series, ...findInteriorPoint(region) }
      throw await work.wait(() => reasons.noRelease(snapshot, located, 'polygon'))
    }
    return this.#work(asker, (work) =>
      this.#lookup.inRelease(series, (snapshot, release) => adviseAt(work, snapshot, release), work.wait),
    )
  }

  /** Advises in a release, also without a value. @throws {ReplacedMeanwhile}, {ApiError} for a wrong polygon */
  adviseIn(
    asker: Asker,
    release: PublishedRelease,
    region: Region,
    condition: ConditionWish,
    distribution: Distribution = null,
  ): Promise<Advice> {
    return this.#work(asker, async ({ wait, compute }) => {
      const find = () =>
        compute((computation) => this.#statistics.find(computation, release.id, region, distribution))
      if (Array.isArray(region) || 'polygons' in region) {
        await this.refuseElsewhere(wait, region, release.countryCode)
        return makeAdvice(release, await find(), condition)
      }
      const { countryCode, level, code, name, statistics: stored } = region
      const located = !distribution && stored ? stored : await find()
      return {
        ...makeAdvice(release, located, condition),
        admin: { country_code: countryCode, level, code, name },
      }
    })
  }

  /** Advises on several small polygons in one computation, each also without a value, or with its own error. */
  async adviseOnEach(
    { wait, compute }: Work,
    release: PublishedRelease,
    all: Polygons[],
    condition: ConditionWish,
    distribution: Distribution,
  ): Promise<(Advice | ApiError)[]> {
    const refused = await Promise.all(
      all.map((polygons) => this.refuseElsewhere(wait, polygons, release.countryCode).catch(ownError)),
    )
    const left = all.filter((_, index) => !refused[index])
    const computed = await compute((computation) =>
      this.#statistics.findEach(computation, release.id, left, distribution),
    )
    const found = computed.values()
    return refused.map((error) => {
      const outcome = error ?? (found.next().value as LocatedStatistics | ApiError)
      return outcome instanceof ApiError ? outcome : makeAdvice(release, outcome, condition)
    })
  }

  /** Computes and stores the result of an area. @throws {ReplacedMeanwhile}; where it cannot be stored */
  store(work: Work, releaseId: number, area: Pick<AreaInRelease, 'id' | 'version'>): Promise<void> {
    return work.compute((computation) => this.#statistics.store(computation, releaseId, area))
  }

  /**
   * @param countryCode where the release is; null for none
   * @throws {ApiError} OUTSIDE_COUNTRY, or INVALID_GEOMETRY for swapped coordinates
   */
  async refuseElsewhere(wait: Wait, polygons: Polygons, countryCode: string | null): Promise<void> {
    // Saved fields were checked before.
    if (Array.isArray(polygons)) refuseOutside(await wait(this.#listExtents), polygons, countryCode)
  }

  /** A request at one region has one deadline for all of its waits, and not for each computation. */
  #work<Found>(asker: Asker, advise: (work: Work) => Promise<Found>): Promise<Found> {
    return 'compute' in asker ? advise(asker) : this.#queue.untilTimeout(asker, advise)
  }
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
