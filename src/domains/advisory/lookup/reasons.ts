import type { Kysely } from 'kysely'
import type { Product } from '#schemas/common.ts'
import type { Tables } from '#src/database/tables.ts'
import { ApiError } from '#src/errors.ts'
import type { Series } from '#src/products/series.ts'
import { createCountryFinder } from './countries.ts'
import type { PointQuery, Position } from './queries.ts'
import type { Published, Snapshot } from './snapshot.ts'

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
  noRelease(query: Series | PointQuery, what?: Place): Promise<ApiError>
  /**
   * Why a published release has no value at a position: it lies outside the country, or there is none. At
   * once, without a promise, where all that it takes is in memory.
   */
  noValue(series: Series, position: Position, what?: Place): ApiError | Promise<ApiError>
}

/** @param concurrency queries for the countries of positions that may be under way at the same time */
export function createReasons(db: Kysely<Tables>, published: Published, concurrency: number): Reasons {
  const countriesAt = createCountryFinder(db, concurrency)

  /** A sentence about where a position lies, if that is another country than the one asked for. */
  async function otherCountry(snapshot: Snapshot, query: PointQuery, what: Place): Promise<string> {
    const codes = await countriesAt(query, snapshot.boundaries)
    const other = nameOf(snapshot, codes[0])
    return !other || codes.includes(query.countryCode) ? '' : ` The ${what} lies in ${other} (${codes[0]}).`
  }

  function noValueIn(
    snapshot: Snapshot,
    series: Series,
    position: Position,
    what: Place,
  ): ApiError | Promise<ApiError> {
    if (!snapshot.bounded.has(series.countryCode)) return noData(series, position, what)
    const codes = countriesAt(position, snapshot.boundaries)
    return codes instanceof Promise
      ? codes.then((found) => noValueAmong(snapshot, found, series, position, what))
      : noValueAmong(snapshot, codes, series, position, what)
  }

  return {
    async noRelease(query, what = 'point') {
      const known = await published.current()
      // Whoever asks has found nothing: what is known from before would contradict itself.
      const snapshot = known.releaseOf(query) ? await published.renewed() : known
      const { product, countryCode, cropCode, forecastPeriod } = query
      const country = snapshot.countries.find(({ code }) => code === countryCode)
      if (!country) {
        const allowed = snapshot.countries.map(({ code }) => code)
        const message = `country_code must be one of ${allowed.join(', ')}`
        return new ApiError('INVALID_PARAMETERS', `${message}.`, [
          { field: 'country_code', message, allowed },
        ])
      }
      const elsewhere = 'longitude' in query ? await otherCountry(snapshot, query, what) : ''
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
      const series = `${PRODUCT_NAMES[product]}${cropCode ? ` of ${cropCode}` : ''} for ${country.name}`
      const months = snapshot.periodsOf(query).map((period) => period.slice(0, 7))
      if (forecastPeriod !== null && months.length > 0) {
        return new ApiError(
          'NO_RELEASE',
          `There are no ${series} in ${forecastPeriod.slice(0, 7)}; published are: ${months.join(', ')}.${elsewhere}`,
        )
      }
      return new ApiError('NO_RELEASE', `No ${series} have been published yet.${elsewhere}`)
    },

    noValue(series, position, what = 'point') {
      const snapshot = published.known()
      return snapshot
        ? noValueIn(snapshot, series, position, what)
        : published.current().then((renewed) => noValueIn(renewed, series, position, what))
    },
  }
}

/** @param codes of the countries that the position lies in */
function noValueAmong(
  snapshot: Snapshot,
  codes: string[],
  series: Series,
  position: Position,
  what: Place,
): ApiError {
  if (codes.includes(series.countryCode)) return noData(series, position, what)
  const country = nameOf(snapshot, series.countryCode)
  const other = nameOf(snapshot, codes[0])
  const where = other ? `lies in ${other}, not in ${country}` : `lies outside ${country}`
  return new ApiError('OUTSIDE_COUNTRY', `${nameOfPlace(position, what)} ${where}.`)
}

function noData({ product }: Series, position: Position, what: Place): ApiError {
  return new ApiError(
    'NO_DATA',
    `${nameOfPlace(position, what)} has no ${PRODUCT_NAMES[product]}: the published rasters have no value there.`,
  )
}

function nameOfPlace({ latitude, longitude }: Position, what: Place): string {
  return `The ${what} at latitude ${latitude}, longitude ${longitude}`
}

function nameOf({ countries }: Snapshot, code: string | undefined): string | undefined {
  return countries.find((country) => country.code === code)?.name
}
