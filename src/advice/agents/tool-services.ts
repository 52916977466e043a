import type { LocationRequest, LocationValidation } from '#schemas/location.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError, unknownCountry } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { createClientSignal } from '#src/http/deadline.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { cacheLastValue } from '#src/lib/cache.ts'
import { nameKey, slipBetween } from '#src/lib/names.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { makeReleaseMembers, type PublishedRelease } from '#src/lookup/releases.ts'
import { listCodes, type Snapshot } from '#src/lookup/snapshot.ts'
import { createLocationValidator } from '../location/validator.ts'
import { answerPoint } from '../point/answer.ts'
import { type Advisors, describeRegion, type RegionQuestion } from '../polygon/advisors.ts'
import { makeRegionEntries } from '../polygon/answer.ts'
import { readGeoJson, soleFeature } from '../polygon/geometry.ts'
import type { ReadRules } from '../quantities/rules.ts'
import { findAreasKeyed, findAreasNamed, listBoundarySources, listNamesAsLong } from './queries.ts'
import type { AdviceBody, Source, ToolCall } from './tool.ts'

/** A polygon, or an administrative area. */
export type Region =
  /** @param geometry GeoJSON as sent, and the name of its field */
  { geometry: unknown; at: string } | { countryCode: string; code: string; level: number | null }

export type ToolServices = ReturnType<typeof createToolServices>

/** Makes the services that tools share: the endpoints' answers, the snapshot, sources, and areas by name. */
export function createToolServices(app: App, lookup: Lookup, advisors: Advisors, readRules: ReadRules) {
  async function readSnapshot({ request, reply }: ToolCall): Promise<Snapshot> {
    return lookup.known() ?? withTimeout(request, reply, lookup.current)
  }

  return {
    products: app.products,
    readSnapshot,
    ...createAdvice(app, lookup, advisors, readRules),
    ...createSources(app, readSnapshot),
    searchAreas: createAreaSearch(app, readSnapshot),
  }
}

type ReadSnapshot = (call: ToolCall) => Promise<Snapshot>

/** Makes the answers of endpoints, of the same parts. Each throws the errors of its endpoint. */
function createAdvice(app: App, lookup: Lookup, advisors: Advisors, readRules: ReadRules) {
  const { list } = app.products
  const validate = createLocationValidator(app.database.reader, lookup, list)

  return {
    /**
     * Answers as `/advisory/{product}/point`.
     *
     * @param product null for all of them, as `/advisory/point`
     */
    async advisePoint(
      product: ProductDefinition | null,
      point: PointRequest,
      { request, reply }: ToolCall,
    ): Promise<AdviceBody> {
      const source = { products: product ? [product] : list, hasSections: product === null, readRules }
      return (await answerPoint(lookup, source, point, request, reply)).body
    },
    /** Answers as `/validate_location`. */
    async validateLocation(
      location: LocationRequest,
      { request, reply }: ToolCall,
    ): Promise<LocationValidation> {
      return withTimeout(request, reply, () => validate(location, clientKeyOf(request)))
    },
    /** Answers as `/advisory/{product}`. */
    async adviseRegion(
      product: ProductDefinition,
      region: Region,
      question: RegionQuestion,
      { request, reply }: ToolCall,
    ): Promise<AdviceBody> {
      const outline =
        'geometry' in region ? readGeoJson(soleFeature({ value: region.geometry, at: region.at })) : region
      const asked = { ...question }
      await withTimeout(request, reply, () => lookup.places.fillCrop(asked))
      const advice = await advisors.adviseWithTimeout(request, reply, (waiting) =>
        advisors.adviseOn(outline, { product, asked, wanted: null }, waiting),
      )
      return {
        location: describeRegion(undefined, advice),
        ...makeReleaseMembers(advice.release),
        [product.entries]: makeRegionEntries(product, advice.release, advice.statistics),
      }
    },
  }
}

function createSources({ config, database, logFailure }: App, readSnapshot: ReadSnapshot) {
  const readBoundarySets = cacheLastValue('boundary sources', {
    load: () => listBoundarySources(database.reader),
    initial: () => [],
    ttlMs: config.RELEASE_MAX_AGE_MS,
    warn: (error) => logFailure(error, 'the sources of boundaries may be old'),
  })

  return {
    /** The sources of releases by their codes, without those deleted since. */
    async findReleaseSources(codes: readonly string[], call: ToolCall): Promise<Source[]> {
      const { published } = await readSnapshot(call)
      return published.filter(({ code }) => codes.includes(code)).map(releaseSource)
    },
    /** The sources of countries' boundaries; without a database those last read. */
    async findBoundarySources(countryCodes: readonly string[]): Promise<Source[]> {
      const sets = (await readBoundarySets()).filter(({ countryCode }) => countryCodes.includes(countryCode))
      return sets.map(({ countryCode, source, licence }) => ({
        of: `boundaries of ${countryCode}`,
        source,
        licence,
      }))
    },
  }
}

export function releaseSource({ code, source, licence }: PublishedRelease): Source {
  return { of: code, source, licence }
}

/**
 * The code of a country as it is stored; null where none was sent.
 *
 * @throws {ApiError} INVALID_PARAMETERS where the service has no such country
 */
export function normalizeCountry(snapshot: Snapshot, code: string | undefined): string | null {
  if (code === undefined) return null
  const normal = code.trim().toLowerCase()
  const codes = listCodes(snapshot)
  if (!codes.includes(normal)) throw unknownCountry('country_code', codes)
  return normal
}

/** A name may mean so many areas for an agent to choose among them. */
const MOST_AREAS = 8

/** The name is a code or a name, or a part of it. */
interface NamedAreaRequest {
  name: string
  country_code?: string | undefined
  level?: number | null | undefined
}

/**
 * Makes the search for areas that a name may mean. It waits in the request's queue, since names have no index. Where it
 * finds none, `similar` has those whose names differ by a letter or two, the nearest first.
 */
function createAreaSearch(app: App, readSnapshot: ReadSnapshot) {
  const { reader } = app.database
  /** @throws {ApiError} INVALID_PARAMETERS where the service has no such country */
  return async ({ name, country_code, level = null }: NamedAreaRequest, call: ToolCall) => {
    const { request, reply } = call
    const countryCode = normalizeCountry(await readSnapshot(call), country_code)
    const filter = { countryCode, level }
    const areas = await app.inTurn(request, reply, () =>
      findAreasNamed(reader, { name, ...filter }, MOST_AREAS),
    )
    if (areas.length > 0) return { areas, similar: [] }
    const names = await app.inTurn(request, reply, () => listNamesAsLong(reader, { name, ...filter }))
    const keys = await findSimilar(nameKey(name), names, () =>
      app.turns.next(clientKeyOf(request), createClientSignal(reply)),
    )
    if (keys.length === 0) return { areas, similar: [] }
    const similar = await app.inTurn(request, reply, () =>
      findAreasKeyed(reader, { keys, ...filter }, MOST_AREAS),
    )
    return { areas, similar }
  }
}

/** Comparing so many names takes about a millisecond. */
const NAMES_A_SLICE = 100

/** The names that another one is a slip for, the nearest first. */
async function findSimilar(name: string, names: readonly string[], pause: Pause): Promise<string[]> {
  const near: { key: string; slip: number }[] = []
  for (const [index, key] of names.entries()) {
    if (index % NAMES_A_SLICE === 0) await pause()
    const slip = slipBetween(name, key)
    if (slip !== Number.POSITIVE_INFINITY) near.push({ key, slip })
  }
  return near.sort((a, b) => a.slip - b.slip).map(({ key }) => key)
}

type PointQuestion = Pick<PointRequest, 'lat' | 'lng' | 'country_code' | 'crop' | 'forecast_period'>
type LocatedQuestion = PointQuestion & { country_code: string }

/**
 * Fills in the country of a point, and its first crop, where a request leaves them out.
 *
 * @throws {ApiError} OUTSIDE_COUNTRY where no country of the service has the point
 */
export async function locateQuestion(
  services: ToolServices,
  question: PointQuestion,
  call: ToolCall,
): Promise<LocatedQuestion> {
  const { country_code: country, crop } = question
  if (country !== undefined && crop !== undefined) return { ...question, country_code: country }
  return fillLocation(question, await services.validateLocation(question, call))
}

/**
 * The same with a location that was looked up before.
 *
 * @throws {ApiError} OUTSIDE_COUNTRY where no country of the service has the point
 */
export function fillLocation(question: PointQuestion, location: LocationValidation): LocatedQuestion {
  const { lat, lng, country_code: country } = question
  const code = country ?? location.country_code
  if (code === null) throw outsideCountries(lat, lng, location)
  const crop = question.crop ?? location.crop
  return { ...question, country_code: code, ...(crop !== null && { crop }) }
}

function outsideCountries(lat: number, lng: number, { nearest, hint }: LocationValidation): ApiError {
  const near = nearest && ` The nearest is ${nearest.country}, ${nearest.distance_km} km away.`
  return new ApiError(
    'OUTSIDE_COUNTRY',
    `The point at latitude ${lat}, longitude ${lng} lies in none of the countries that there is advice for.${near ?? ''}${hint ? ` ${hint}` : ''}`,
  )
}
