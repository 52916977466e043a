import type { Static, TObject } from 'typebox'
import type { LocationRequest, LocationValidation } from '#schemas/location.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { createPlaces } from '#src/advice/location/place.ts'
import { listBoundarySources } from '#src/advice/location/queries.ts'
import { createLocationValidator } from '#src/advice/location/validation.ts'
import { answerPoint } from '#src/advice/point/answer.ts'
import type { Advisors, RegionQuestion } from '#src/advice/polygon/advisors.ts'
import { describeRegion, makeRegionData } from '#src/advice/polygon/answer.ts'
import { readGeoJson, soleFeature } from '#src/advice/polygon/geometry.ts'
import type { ReadRules } from '#src/advice/quantities/compute.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { cacheLastValue } from '#src/lib/cache.ts'
import type { Lookup } from '#src/lookup/lookup.ts'
import { makeReleaseMembers, type PublishedRelease } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { AdviceBody, Draft, Source, ToolCall } from './tool.ts'

type Region =
  /** @param geometry GeoJSON as sent, and the name of its field */
  { geometry: unknown; at: string } | { countryCode: string; code: string; level: number | null }

export interface Tool<Input extends TObject = TObject> {
  name: string
  title: string
  /** Agents choose by it: the answer, its units, and an example. */
  description: string
  input: Input
  /** @throws {ApiError} with the reason for no answer */
  run(input: Static<Input>, services: ToolServices): Promise<Draft>
}

export function defineTool<Input extends TObject>(tool: Tool<Input>): Tool {
  return tool as unknown as Tool
}

export function createToolParts(app: App, lookup: Lookup, advisors: Advisors, readRules: ReadRules) {
  const { reader } = app.database
  return {
    app,
    lookup,
    advisors,
    readRules,
    locations: createLocationValidator(reader, lookup, app.products.list),
    places: createPlaces(app, lookup),
    readBoundarySets: cacheLastValue('boundary sources', {
      load: () => listBoundarySources(reader),
      initial: () => [],
      ttlMs: app.config.RELEASE_MAX_AGE_MS,
      warn: (error) => app.logFailure(error, 'the sources of boundaries may be old'),
    }),
  }
}

interface SourcedAnswer {
  body: AdviceBody
  sources: Source[]
}

interface NamedAreaRequest {
  name: string
  country_code?: string | undefined
  level?: number | null | undefined
}

export type ToolServices = ReturnType<typeof createToolServices>

/** The services of a tool's call: answers with the errors of their endpoints, the snapshot, sources, and areas by name. */
export function createToolServices(parts: ReturnType<typeof createToolParts>, call: ToolCall) {
  const { app, lookup, advisors, readRules } = parts
  const { request, reply } = call
  const clientKey = clientKeyOf(request)

  async function readSnapshot(): Promise<Snapshot> {
    return lookup.known() ?? withTimeout(request, reply, lookup.current)
  }

  /** Answers as `/validate_location`. */
  const validateLocation = async (location: LocationRequest): Promise<LocationValidation> =>
    parts.locations.fromMemory(location) ??
    withTimeout(request, reply, () => parts.locations.fromDatabase(location, clientKey))

  return {
    readSnapshot,
    validateLocation,

    /** Answers as `/advisory/{product}/point`, or `/advisory/point` without a product. */
    async advisePoint(product: ProductDefinition | null, point: PointRequest): Promise<SourcedAnswer> {
      const source = { products: product ? [product] : app.products.list, hasSections: !product, readRules }
      const { body, advice } = await answerPoint(lookup, source, point, request, reply)
      return { body, sources: advice.map(({ release }) => releaseSource(release)) }
    },

    /** Answers as `/advisory/{product}`. */
    async adviseRegion(
      product: ProductDefinition,
      region: Region,
      question: RegionQuestion,
    ): Promise<SourcedAnswer> {
      const outline =
        'geometry' in region ? readGeoJson(soleFeature({ value: region.geometry, at: region.at })) : region
      const asked = { ...question }
      await withTimeout(request, reply, () => lookup.places.fillCrop(asked))
      const advice = await advisors.adviseWithTimeout(request, reply, (waiting) =>
        advisors.adviseOn(outline, { product, asked, wanted: null }, waiting),
      )
      const body = {
        location: describeRegion(undefined, advice),
        ...makeReleaseMembers(advice.release),
        ...makeRegionData(product, advice, null),
      }
      const { published } = await readSnapshot()
      const sources = published.filter(({ code }) => code === advice.release.code).map(releaseSource)
      return { body, sources }
    },

    /** The sources of countries' boundaries; without a database those last read. */
    async findBoundarySources(countryCodes: readonly string[]): Promise<Source[]> {
      const sets = await parts.readBoundarySets()
      return sets
        .filter(({ countryCode }) => countryCodes.includes(countryCode))
        .map(({ countryCode, source, licence }) => ({ of: `boundaries of ${countryCode}`, source, licence }))
    },

    /** Areas that a name may mean, or where none does, `similar` ones, the nearest first. */
    searchAreas: ({ name, ...options }: NamedAreaRequest) => parts.places.searchAreas(name, options, call),

    /** The place that a text names. @throws {ApiError} UNKNOWN_AREA where a person must choose */
    findPlace: (text: string, options: Omit<NamedAreaRequest, 'name'>) =>
      parts.places.findPlace(text, options, call, 'area'),

    /** @throws {ApiError} OUTSIDE_COUNTRY where no country of the service has the point */
    async locateQuestion(question: PointQuestion): Promise<LocatedQuestion> {
      const { country_code: country, crop } = question
      if (country !== undefined && crop !== undefined) return { ...question, country_code: country }
      return fillLocation(question, await validateLocation(question))
    },
  }
}

export function releaseSource({ code, source, licence }: PublishedRelease): Source {
  return { of: code, source, licence }
}

type PointQuestion = Pick<
  PointRequest,
  'lat' | 'lng' | 'country_code' | 'crop' | 'forecast_period' | 'condition'
>
export type LocatedQuestion = PointQuestion & { country_code: string }

/** @throws {ApiError} OUTSIDE_COUNTRY where no country of the service has the point */
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
