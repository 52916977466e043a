import type { LocationRequest, LocationValidation } from '#schemas/location.ts'
import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import { listBoundarySources } from '#src/advice/location/queries.ts'
import { createLocationValidator } from '#src/advice/location/validation.ts'
import { answerPoint } from '#src/advice/point/advise.ts'
import { readGeoJson, soleFeature } from '#src/advice/polygon/geometry.ts'
import { ApiError } from '#src/errors.ts'
import { adviseOnRegion, type RegionParts } from '#src/extensions/places/advise.ts'
import { createPlaces } from '#src/extensions/places/place.ts'
import type { App } from '#src/http/app.ts'
import { cacheLastValue } from '#src/lib/cache.ts'
import type { PublishedRelease } from '#src/lookup/releases.ts'
import type { AdviceBody, Source, ToolCall } from './answer.ts'
import type { Input } from './schemas.ts'

interface SourcedAnswer {
  body: AdviceBody
  sources: Source[]
}

type Question = Pick<PointRequest, 'lat' | 'lng' | 'country_code' | 'crop' | 'forecast_period' | 'condition'>
export type LocatedQuestion = Question & { country_code: string }

export type Operations = ReturnType<ReturnType<typeof createOperations>>

/** Makes the operations that tools shorten, with their errors, for each call. */
export function createOperations(app: App, core: RegionParts) {
  const { lookup, readRules } = core
  const { reader } = app.database
  const locations = createLocationValidator(reader, lookup, app.products.list)
  const places = createPlaces(app, lookup)
  const readBoundarySets = cacheLastValue('boundary sources', {
    load: () => listBoundarySources(reader),
    initial: () => [],
    ttlMs: app.config.RELEASE_MAX_AGE_MS,
    warn: (error) => app.logFailure(error, 'the sources of boundaries may be old'),
  })

  return ({ request: { exchange } }: ToolCall) => {
    const readSnapshot = async () => lookup.known() ?? exchange.wait(lookup.current)

    /** As `/validate_location`. */
    const validateLocation = async (location: LocationRequest): Promise<LocationValidation> =>
      locations.fromMemory(location) ??
      exchange.wait(() => locations.fromDatabase(location, exchange.clientKey))

    async function findRegion({ area, level, polygon, country_code }: Input<'advise_area'>) {
      if ((area === undefined) === (polygon === undefined)) {
        throw new ApiError(
          'INVALID_PARAMETERS',
          'Send either area, a name or a code, or polygon, as GeoJSON.',
          [{ field: 'area', message: 'exactly one of area and polygon must be sent' }],
        )
      }
      if (area === undefined) return readGeoJson(soleFeature({ value: polygon, at: 'polygon' }))
      const place = await places.findPlace(area, { country_code, level }, exchange, 'area')
      if (place.kind === 'area') return place.area
      const { kind } = place
      const rule =
        kind === 'field'
          ? ''
          : `; for a position call advise_point with lat ${place.lat} and lng ${place.lng}`
      throw ApiError.invalid('area', `must be an administrative area${rule}`)
    }

    return {
      readSnapshot,
      validateLocation,

      /** As `/advisory/{product}/point`, or `/advisory/point` without a product. */
      async advisePoint(product: ProductDefinition | null, point: PointRequest): Promise<SourcedAnswer> {
        const products = product ? [product] : app.products.list
        const topic = { products, hasSections: !product, readRules }
        const answer = await answerPoint(lookup, topic, point, exchange)
        return {
          body: answer.describe(),
          sources: answer.advice.map(({ release }) => releaseSource(release)),
        }
      },

      /** As `/advisory/{product}`. @throws {ApiError} INVALID_PARAMETERS, UNKNOWN_AREA */
      async adviseArea(product: ProductDefinition, input: Input<'advise_area'>): Promise<SourcedAnswer> {
        const where = await findRegion(input)
        const { country_code = 'polygons' in where ? undefined : where.countryCode } = input
        const { crop, forecast_period, condition } = input
        const asked = { country_code, crop, forecast_period, condition }
        const question = { products: [product], hasSections: false, where, asked }
        const { answer } = await adviseOnRegion(core, question, exchange)
        const { published } = await readSnapshot()
        const found = published.filter(({ code }) => answer.releases.includes(code))
        return { body: answer.describe(), sources: found.map(releaseSource) }
      },

      /** As `/places`. */
      searchAreas: (name: string, country_code: string | undefined) =>
        places.searchAreas(name, { country_code }, exchange),

      /** The sources of countries' boundaries; without a database those last read. */
      async findBoundarySources(countryCodes: readonly (string | null)[]): Promise<Source[]> {
        const sets = await readBoundarySets()
        return sets
          .filter(({ countryCode }) => countryCodes.includes(countryCode))
          .map(({ countryCode, source, licence }) => ({
            of: `boundaries of ${countryCode}`,
            source,
            licence,
          }))
      },

      /** @throws {ApiError} OUTSIDE_COUNTRY where no country of the service has the point */
      async locate(question: Question): Promise<LocatedQuestion> {
        const { country_code, crop } = question
        if (country_code !== undefined && crop !== undefined) return { ...question, country_code }
        return locateIn(question, await validateLocation(question))
      },
    }
  }
}

export function releaseSource({ code, source, licence }: PublishedRelease): Source {
  return { of: code, source, licence }
}

/** @throws {ApiError} OUTSIDE_COUNTRY where no country of the service has the point */
export function locateIn(question: Question, location: LocationValidation): LocatedQuestion {
  const { lat, lng } = question
  const { nearest, hint } = location
  const country_code = question.country_code ?? location.country_code
  if (country_code === null) {
    const near = nearest ? ` The nearest is ${nearest.country}, ${nearest.distance_km} km away.` : ''
    throw new ApiError(
      'OUTSIDE_COUNTRY',
      `The point at latitude ${lat}, longitude ${lng} lies in none of the countries that there is advice for.${near}${hint ? ` ${hint}` : ''}`,
    )
  }
  const crop = question.crop ?? location.crop
  return { ...question, country_code, ...(crop !== null && { crop }) }
}
