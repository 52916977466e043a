import type { Kysely } from 'kysely'
import type { Product } from '#schemas/common.ts'
import type { Tables } from '#src/database/tables.ts'
import { ApiError } from '#src/errors.ts'
import { createCountryFinder } from './countries.ts'
import type { Picture, Published } from './published.ts'
import type { PointQuery, Position, Subject } from './queries.ts'

const PRODUCT_NAMES: Record<Product, string> = {
  yield: 'yield predictions',
  fertilizer: 'fertilizer recommendations',
  isfm: 'ISFM recommendations',
  forage: 'forage suitability scores',
}

/** What a request is about, as sentences name it; of a polygon they give the position of a point inside. */
type Place = 'point' | 'polygon'

/** Tells why there is no answer, by what is published and the boundaries that are loaded. */
export interface Reasons {
  /**
   * Why nothing is published for a request: the country, the crop, the month, or nothing yet. Where one
   * point is asked about and lies in another country, that is most likely the one that was meant.
   */
  noRelease(query: Subject | PointQuery, what?: Place): Promise<ApiError>
  /**
   * Why a published release has no value at a position: it lies outside the country, or there is none. At
   * once, without a promise, where all that it takes is in memory.
   */
  noValue(subject: Subject, position: Position, what?: Place): ApiError | Promise<ApiError>
}

/** @param concurrency queries for the countries of positions that may be under way at the same time */
export function createReasons(db: Kysely<Tables>, published: Published, concurrency: number): Reasons {
  const countriesAt = createCountryFinder(db, concurrency)

  /** A sentence about where a position lies, if that is another country than the one asked for. */
  async function otherCountry(picture: Picture, query: PointQuery, what: Place): Promise<string> {
    const codes = await countriesAt(query, picture.boundaries)
    const other = nameOf(picture, codes[0])
    return !other || codes.includes(query.countryCode) ? '' : ` The ${what} lies in ${other} (${codes[0]}).`
  }

  function noValueIn(
    picture: Picture,
    subject: Subject,
    position: Position,
    what: Place,
  ): ApiError | Promise<ApiError> {
    if (!picture.bounded.has(subject.countryCode)) return noData(subject, position, what)
    const codes = countriesAt(position, picture.boundaries)
    return codes instanceof Promise
      ? codes.then((found) => noValueAmong(picture, found, subject, position, what))
      : noValueAmong(picture, codes, subject, position, what)
  }

  return {
    async noRelease(query, what = 'point') {
      const known = await published.current()
      // Whoever asks has found nothing: what is known from before would contradict itself.
      const picture = known.releaseOf(query) ? await published.renewed() : known
      const { product, countryCode, cropCode, forecastPeriod } = query
      const country = picture.countries.find(({ code }) => code === countryCode)
      if (!country) {
        const allowed = picture.countries.map(({ code }) => code)
        const message = `country_code must be one of ${allowed.join(', ')}`
        return new ApiError('INVALID_PARAMETERS', `${message}.`, [
          { field: 'country_code', message, allowed },
        ])
      }
      const elsewhere = 'longitude' in query ? await otherCountry(picture, query, what) : ''
      if (cropCode !== null && !country.crops.includes(cropCode)) {
        const offer =
          country.crops.length > 0 ? `its crops are: ${country.crops.join(', ')}` : 'it has forage only'
        const sentence = `The crop is not available for ${country.name}; ${offer}.${elsewhere}`
        return new ApiError('CROP_NOT_AVAILABLE', sentence, [
          {
            field: 'crop',
            message: `the crop is not available for ${country.name}`,
            allowed: country.crops,
          },
        ])
      }
      const subject = `${PRODUCT_NAMES[product]}${cropCode ? ` of ${cropCode}` : ''} for ${country.name}`
      const months = picture.periodsOf(query).map((period) => period.slice(0, 7))
      if (forecastPeriod !== null && months.length > 0) {
        return new ApiError(
          'NO_RELEASE',
          `There are no ${subject} in ${forecastPeriod.slice(0, 7)}; published are: ${months.join(', ')}.${elsewhere}`,
        )
      }
      return new ApiError('NO_RELEASE', `No ${subject} have been published yet.${elsewhere}`)
    },

    noValue(subject, position, what = 'point') {
      const picture = published.known()
      return picture
        ? noValueIn(picture, subject, position, what)
        : published.current().then((renewed) => noValueIn(renewed, subject, position, what))
    },
  }
}

/** @param codes of the countries that the position lies in */
function noValueAmong(
  picture: Picture,
  codes: string[],
  subject: Subject,
  position: Position,
  what: Place,
): ApiError {
  if (codes.includes(subject.countryCode)) return noData(subject, position, what)
  const country = nameOf(picture, subject.countryCode)
  const other = nameOf(picture, codes[0])
  const where = other ? `lies in ${other}, not in ${country}` : `lies outside ${country}`
  return new ApiError('OUTSIDE_COUNTRY', `${nameOfPlace(position, what)} ${where}.`)
}

function noData({ product }: Subject, position: Position, what: Place): ApiError {
  return new ApiError(
    'NO_DATA',
    `${nameOfPlace(position, what)} has no ${PRODUCT_NAMES[product]}: the published rasters have no value there.`,
  )
}

function nameOfPlace({ latitude, longitude }: Position, what: Place): string {
  return `The ${what} at latitude ${latitude}, longitude ${longitude}`
}

function nameOf({ countries }: Picture, code: string | undefined): string | undefined {
  return countries.find((country) => country.code === code)?.name
}
