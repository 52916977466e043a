import type { Kysely } from 'kysely'
import type { Product } from '#schemas/common.ts'
import type { Tables } from '#src/database/tables.ts'
import { ApiError } from '#src/errors.ts'
import {
  type Country,
  countriesAround,
  listCountries,
  listPublishedPeriods,
  type PointQuery,
  type Position,
  type Subject,
} from './queries.ts'

const PRODUCT_NAMES: Record<Product, string> = {
  yield: 'yield predictions',
  fertilizer: 'fertilizer recommendations',
  isfm: 'ISFM recommendations',
  forage: 'forage suitability',
}

/** What a request is about, as sentences name it; of a polygon they give the position of a point inside. */
type Place = 'point' | 'polygon'

/**
 * Why nothing is published for a request: the country, the crop, the month, or nothing yet. Where one
 * point is asked about and lies in another country, that is most likely the one that was meant.
 */
export async function reasonForNoRelease(
  db: Kysely<Tables>,
  query: Subject | PointQuery,
  what: Place = 'point',
): Promise<ApiError> {
  const { product, countryCode, cropCode, forecastPeriod } = query
  const countries = await listCountries(db)
  const country = countries.find(({ code }) => code === countryCode)
  if (!country) {
    const allowed = countries.map(({ code }) => code)
    const message = `country_code must be one of ${allowed.join(', ')}`
    return new ApiError('INVALID_PARAMETERS', `${message}.`, [{ field: 'country_code', message, allowed }])
  }
  const elsewhere = 'longitude' in query ? await otherCountry(db, query, countries, what) : ''
  if (cropCode !== null && !country.crops.includes(cropCode)) {
    const offer =
      country.crops.length > 0 ? `its crops are: ${country.crops.join(', ')}` : 'it has forage only'
    const sentence = `The crop is not available for ${country.name}; ${offer}.${elsewhere}`
    return new ApiError('CROP_NOT_AVAILABLE', sentence, [
      { field: 'crop', message: `the crop is not available for ${country.name}`, allowed: country.crops },
    ])
  }
  const subject = `${PRODUCT_NAMES[product]}${cropCode ? ` of ${cropCode}` : ''} for ${country.name}`
  const months = (await listPublishedPeriods(db, query)).map((period) => period.slice(0, 7))
  if (forecastPeriod !== null && months.length > 0) {
    return new ApiError(
      'NO_RELEASE',
      `There are no ${subject} in ${forecastPeriod.slice(0, 7)}; published are: ${months.join(', ')}.${elsewhere}`,
    )
  }
  return new ApiError('NO_RELEASE', `No ${subject} have been published yet.${elsewhere}`)
}

/** A sentence about where a place lies, if that is another country than the one asked for. */
async function otherCountry(
  db: Kysely<Tables>,
  query: PointQuery,
  countries: Country[],
  what: Place,
): Promise<string> {
  const { containing } = await countriesAround(db, query.countryCode, [query])
  const [codes = []] = containing
  const other = countries.find(({ code }) => code === codes[0])
  return !other || codes.includes(query.countryCode)
    ? ''
    : ` The ${what} lies in ${other.name} (${other.code}).`
}

/**
 * Why a published release has no value at points: they lie outside the country, or there is none. In
 * their order, and with as many queries for many as for one.
 */
export async function reasonsForNoValues(
  db: Kysely<Tables>,
  { product, countryCode }: Subject,
  points: Position[],
  what: Place = 'point',
): Promise<ApiError[]> {
  const names = new Map((await listCountries(db)).map(({ code, name }) => [code, name]))
  const country = names.get(countryCode) ?? countryCode
  const { known, containing } = await countriesAround(db, countryCode, points)
  return points.map(({ latitude, longitude }, index) => {
    const codes = containing[index] ?? []
    const place = `The ${what} at latitude ${latitude}, longitude ${longitude}`
    if (known && !codes.includes(countryCode)) {
      const other = names.get(codes[0] ?? '')
      const where = other ? `lies in ${other}, not in ${country}` : `lies outside ${country}`
      return new ApiError('OUTSIDE_COUNTRY', `${place} ${where}.`)
    }
    return new ApiError(
      'NO_DATA',
      `${place} has no ${PRODUCT_NAMES[product]}: the published rasters have no value there.`,
    )
  })
}

/** The same for points that are asked about in different countries or for different products. */
export async function reasonsForNoValue(db: Kysely<Tables>, queries: PointQuery[]): Promise<ApiError[]> {
  const groups = new Map<string, PointQuery[]>()
  for (const query of queries) {
    const key = `${query.product} ${query.countryCode}`
    groups.set(key, [...(groups.get(key) ?? []), query])
  }
  const reasons = new Map<PointQuery, ApiError>()
  for (const group of groups.values()) {
    const found = await reasonsForNoValues(db, group[0] as PointQuery, group)
    group.forEach((query, index) => {
      reasons.set(query, found[index] as ApiError)
    })
  }
  return queries.map((query) => reasons.get(query) as ApiError)
}
