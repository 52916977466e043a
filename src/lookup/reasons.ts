import { ofSeasonless } from '#schemas/product.ts'
import type { Products, Series } from '#schemas/products/define.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { ApiError, unknownCountry } from '#src/errors.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { swapped } from '#src/lib/names.ts'
import { type AreaFinder, countryCodesOf } from './areas.ts'
import type { PointQuery, Position } from './queries.ts'
import { codesOf, countryNamed, type Snapshot } from './snapshot.ts'

/** What a request is about, as sentences name it; of a polygon they give the position of a point inside. */
type Place = 'point' | 'polygon'

/** What there might be: "yield predictions of wheat for Ethiopia". */
interface Wanted {
  /** What the product's values are called. */
  values: string
  crop: string | null
  country: string
}

/**
 * @param month the one that was asked for, such as 2026-07; null for the newest
 * @param months those that are published
 */
export function sayNotPublished(
  { values, crop, country }: Wanted,
  month: string | null,
  months: string[],
): string {
  const what = `${values}${crop ? ` of ${crop}` : ''} for ${country}`
  return month !== null && months.length > 0
    ? `There are no ${what} in ${month}; published are: ${months.join(', ')}.`
    : `No ${what} have been published yet.`
}

/**
 * @param other the name of the country that the place lies in, where it is known
 * @param working what to send instead, if anything answers there
 */
function sayOutside(
  position: Position,
  what: Place,
  country: string | undefined,
  other: string | undefined,
  working = '',
): string {
  const where = other ? `lies in ${other}, not in ${country}${working}` : `lies outside ${country}`
  return `${nameOf(position, what)} ${where}.`
}

function sayNoData(values: string, position: Position, what: Place): string {
  return `${nameOf(position, what)} has no ${values}: the published rasters have no value there.`
}

function nameOf({ latitude, longitude }: Position, what: Place): string {
  return `The ${what} at latitude ${latitude}, longitude ${longitude}`
}

/** Tells why there is no answer, by a snapshot of what is published and which boundaries are loaded. */
export interface Reasons {
  /**
   * Why nothing is published for a request: the country, the crop, the month, or nothing yet. Where one
   * point is asked about and lies in another country, that is most likely the one that was meant.
   */
  noRelease(
    snapshot: Snapshot,
    query: Series | PointQuery,
    what?: Place,
    clientKey?: ClientKey,
  ): Promise<ApiError>
  /**
   * Why a published release has no value at a point: it lies outside the country, or there is none. From
   * memory alone; undefined where the database has to be asked.
   */
  noValueFromMemory(snapshot: Snapshot, series: Series, position: Position): ApiError | undefined
  /**
   * The same, of any place; what is not in memory is asked of the database.
   *
   * @param client key who waits for it: those who wait take turns
   */
  noValue(
    snapshot: Snapshot,
    series: Series,
    position: Position,
    what?: Place,
    clientKey?: ClientKey,
  ): Promise<ApiError>
}

export function createReasons(areas: AreaFinder, products: Products): Reasons {
  const withoutCrops = ofSeasonless(products.list, (names) => `it has ${names} only`) || 'it has none'
  const valuesOf = ({ product }: Series) => products.of(product).names.values

  async function countriesAt(
    position: Position,
    { boundaries }: Snapshot,
    clientKey?: ClientKey,
  ): Promise<string[]> {
    return countryCodesOf(await areas.find(position, boundaries, clientKey))
  }

  function countriesFromMemory(position: Position, { boundaries }: Snapshot): string[] | undefined {
    const found = areas.fromMemory(position, boundaries)
    return found && countryCodesOf(found)
  }

  /** A sentence about where a position lies, if that is another country than the one asked for. */
  async function otherCountry(
    snapshot: Snapshot,
    query: PointQuery,
    what: Place,
    clientKey?: ClientKey,
  ): Promise<string> {
    const codes = await countriesAt(query, snapshot, clientKey)
    const other = countryNamed(snapshot, codes[0])
    if (!other || codes.includes(query.countryCode)) return ''
    const working = workingCall(snapshot, query, codes[0] as string)
    return ` The ${what} lies in ${other}${working || ` (${codes[0]})`}.`
  }

  return {
    async noRelease(snapshot, query, what = 'point', clientKey) {
      const { countryCode } = query
      const cropCode = snapshot.cropNamed(query.cropCode)
      const country = snapshot.countries.find(({ code }) => code === countryCode)
      if (!country) return unknownCountry('country_code', codesOf(snapshot))
      const elsewhere = 'longitude' in query ? await otherCountry(snapshot, query, what, clientKey) : ''
      if (cropCode !== null && !country.crops.includes(cropCode))
        return noSuchCrop(country, withoutCrops, elsewhere)
      return notPublished(snapshot, { ...query, cropCode }, valuesOf(query), country, elsewhere)
    },

    noValueFromMemory(snapshot, series, position) {
      if (!snapshot.bounded.has(series.countryCode)) return noData(valuesOf(series), position, 'point')
      const codes = countriesFromMemory(position, snapshot)
      const meant = codes && positionMeant(codes, position, 'point')
      const codesMeant = meant ? countriesFromMemory(meant, snapshot) : []
      if (!codes || !codesMeant) return undefined
      return noValueIn(snapshot, { codes, codesMeant }, series, valuesOf(series), position, 'point')
    },

    async noValue(snapshot, series, position, what = 'point', clientKey) {
      if (!snapshot.bounded.has(series.countryCode)) return noData(valuesOf(series), position, what)
      const codes = await countriesAt(position, snapshot, clientKey)
      const meant = positionMeant(codes, position, what)
      const codesMeant = meant ? await countriesAt(meant, snapshot, clientKey) : []
      return noValueIn(snapshot, { codes, codesMeant }, series, valuesOf(series), position, what)
    },
  }
}

/**
 * @param withoutCrops what is said of a country that offers none
 * @param elsewhere a sentence that is added, or nothing
 */
function noSuchCrop({ name, crops }: Country, withoutCrops: string, elsewhere: string): ApiError {
  const offer = crops.length > 0 ? `its crops are: ${crops.join(', ')}` : withoutCrops
  const message = `the crop is not available for ${name}`
  return new ApiError('CROP_NOT_AVAILABLE', `The crop is not available for ${name}; ${offer}.${elsewhere}`, [
    { field: 'crop', message, allowed: crops },
  ])
}

/**
 * @param values what the product's values are called
 * @param elsewhere a sentence that is added, or nothing
 */
function notPublished(
  snapshot: Snapshot,
  series: Series,
  values: string,
  country: Country,
  elsewhere: string,
): ApiError {
  const { cropCode, forecastPeriod } = series
  const what = { values, crop: cropCode, country: country.name }
  const month = forecastPeriod?.slice(0, 7) ?? null
  const months = snapshot.periodsOf(series).map((period) => period.slice(0, 7))
  return new ApiError('NO_RELEASE', sayNotPublished(what, month, months) + elsewhere)
}

/**
 * The position that may have been meant by a point in no country: with longitude and latitude swapped. Swapped
 * polygons are refused before they get here.
 */
function positionMeant(codes: readonly string[], position: Position, what: Place): Position | undefined {
  return codes.length === 0 && what === 'point' ? swapped(position) : undefined
}

/** The codes of the countries that a position lies in, and of those that the one that may be meant lies in. */
interface Countries {
  codes: readonly string[]
  codesMeant: readonly string[]
}

/**
 * @param values what the product's values are called
 */
function noValueIn(
  snapshot: Snapshot,
  { codes, codesMeant }: Countries,
  series: Series,
  values: string,
  position: Position,
  what: Place,
): ApiError {
  if (codes.includes(series.countryCode)) return noData(values, position, what)
  const country = countryNamed(snapshot, series.countryCode)
  const other = countryNamed(snapshot, codes[0])
  const hint = codesMeant.includes(series.countryCode)
    ? ' With lat and lng swapped it would lie there: did you mean lng, lat?'
    : ''
  const working = other === undefined ? '' : workingCall(snapshot, series, codes[0] as string)
  return new ApiError('OUTSIDE_COUNTRY', sayOutside(position, what, country, other, working) + hint)
}

/** What to send for a place that lies in another country than the one asked for; nothing where that has no release. */
function workingCall(snapshot: Snapshot, series: Series, countryCode: string): string {
  const { crops = [] } = snapshot.countries.find(({ code }) => code === countryCode) ?? {}
  const asked = snapshot.cropNamed(series.cropCode)
  const cropCode = asked === null || crops.includes(asked) ? asked : crops[0]
  if (cropCode === undefined || !snapshot.releaseOf({ ...series, countryCode, cropCode })) return ''
  return `: send country_code=${countryCode}${cropCode === asked ? '' : ` and crop=${cropCode}`}`
}

function noData(values: string, position: Position, what: Place): ApiError {
  return new ApiError('NO_DATA', sayNoData(values, position, what))
}
