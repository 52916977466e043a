import { ofSeasonless } from '#schemas/product.ts'
import type { Products, Series } from '#schemas/products/define.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import { ApiError, unknownCountry } from '#src/errors.ts'
import { swapped } from '#src/lib/names.ts'
import { type AreaFinder, listDistinctCountries } from './places.ts'
import type { PointQuery, Position } from './queries.ts'
import { countryNamed, listCodes, type Snapshot } from './snapshot.ts'

/** Noun of sentences; a polygon has the position of a point inside. */
type Place = 'point' | 'polygon'

/** "yield predictions of wheat for Ethiopia" */
interface Subject {
  values: string
  crop: string | null
  country: string
}

/** @param month such as 2026-07; null for the newest */
export function describeNotPublished(
  { values, crop, country }: Subject,
  month: string | null,
  months: string[],
): string {
  const what = `${values}${crop ? ` of ${crop}` : ''} for ${country}`
  return month !== null && months.length > 0
    ? `There are no ${what} in ${month}; published are: ${months.join(', ')}.`
    : `No ${what} have been published yet.`
}

function namePlace({ latitude, longitude }: Position, what: Place): string {
  return `The ${what} at latitude ${latitude}, longitude ${longitude}`
}

export type Reasons = ReturnType<typeof createReasons>

export function createReasons(areas: AreaFinder, products: Products) {
  const withoutCrops = ofSeasonless(products.list, (names) => `it has ${names} only`) || 'it has none'
  const valuesOf = ({ product }: Series) => products.of(product).names.values

  async function countriesAt(position: Position, { boundaries }: Snapshot): Promise<string[]> {
    return listDistinctCountries(await areas.find(position, boundaries))
  }

  function countriesFromMemory(position: Position, { boundaries }: Snapshot): string[] | undefined {
    const found = areas.fromMemory(position, boundaries)
    return found && listDistinctCountries(found)
  }

  /** A sentence for a position in another country than the requested one. */
  async function otherCountry(snapshot: Snapshot, query: PointQuery, what: Place): Promise<string> {
    const codes = await countriesAt(query, snapshot)
    const other = countryNamed(snapshot, codes[0])
    if (!other || codes.includes(query.countryCode)) return ''
    const working = workingCall(snapshot, query, codes[0] as string)
    return ` The ${what} lies in ${other}${working || ` (${codes[0]})`}.`
  }

  return {
    /** Why no release is published: the country, the crop, the month, or none yet. A place may lie in another country. */
    async noRelease(
      snapshot: Snapshot,
      query: Series | PointQuery,
      what: Place = 'point',
    ): Promise<ApiError> {
      const { countryCode } = query
      const cropCode = snapshot.cropNamed(query.cropCode)
      const country = snapshot.countries.find(({ code }) => code === countryCode)
      if (!country) return unknownCountry('country_code', listCodes(snapshot))
      const elsewhere = 'longitude' in query ? await otherCountry(snapshot, query, what) : ''
      if (cropCode !== null && !country.crops.includes(cropCode))
        return noSuchCrop(country, withoutCrops, elsewhere)
      const subject = { values: valuesOf(query), crop: cropCode, country: country.name }
      const month = query.forecastPeriod?.slice(0, 7) ?? null
      const months = snapshot.periodsOf({ ...query, cropCode }).map((period) => period.slice(0, 7))
      return new ApiError('NO_RELEASE', describeNotPublished(subject, month, months) + elsewhere)
    },

    /** Why a release has no value at a point; undefined for a miss. */
    noValueFromMemory(snapshot: Snapshot, series: Series, position: Position): ApiError | undefined {
      if (!snapshot.bounded.has(series.countryCode)) return noData(valuesOf(series), position, 'point')
      const codes = countriesFromMemory(position, snapshot)
      const meant = codes && positionMeant(codes, position, 'point')
      const codesMeant = meant ? countriesFromMemory(meant, snapshot) : []
      if (!codes || !codesMeant) return undefined
      return noValueIn(snapshot, { codes, codesMeant }, series, valuesOf(series), position, 'point')
    },

    async noValue(
      snapshot: Snapshot,
      series: Series,
      position: Position,
      what: Place = 'point',
    ): Promise<ApiError> {
      if (!snapshot.bounded.has(series.countryCode)) return noData(valuesOf(series), position, what)
      const codes = await countriesAt(position, snapshot)
      const meant = positionMeant(codes, position, what)
      const codesMeant = meant ? await countriesAt(meant, snapshot) : []
      return noValueIn(snapshot, { codes, codesMeant }, series, valuesOf(series), position, what)
    },
  }
}

function noSuchCrop({ name, crops }: Country, withoutCrops: string, elsewhere: string): ApiError {
  const offer = crops.length > 0 ? `its crops are: ${crops.join(', ')}` : withoutCrops
  const message = `the crop is not available for ${name}`
  return new ApiError('CROP_NOT_AVAILABLE', `The crop is not available for ${name}; ${offer}.${elsewhere}`, [
    { field: 'crop', message, allowed: crops },
  ])
}

/** The swapped position of a point outside all countries. Swapped polygons are refused earlier. */
function positionMeant(codes: readonly string[], position: Position, what: Place): Position | undefined {
  return codes.length === 0 && what === 'point' ? swapped(position) : undefined
}

function noValueIn(
  snapshot: Snapshot,
  { codes, codesMeant }: Record<'codes' | 'codesMeant', readonly string[]>,
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
  const where = other
    ? `lies in ${other}, not in ${country}${workingCall(snapshot, series, codes[0] as string)}`
    : `lies outside ${country}`
  return new ApiError('OUTSIDE_COUNTRY', `${namePlace(position, what)} ${where}.${hint}`)
}

/** Parameters for a place in another country; empty where that has no release. */
function workingCall(snapshot: Snapshot, series: Series, countryCode: string): string {
  const { crops = [] } = snapshot.countries.find(({ code }) => code === countryCode) ?? {}
  const requested = snapshot.cropNamed(series.cropCode)
  const cropCode = requested === null || crops.includes(requested) ? requested : crops[0]
  if (cropCode === undefined || !snapshot.releaseOf({ ...series, countryCode, cropCode })) return ''
  return `: send country_code=${countryCode}${cropCode === requested ? '' : ` and crop=${cropCode}`}`
}

function noData(values: string, position: Position, what: Place): ApiError {
  const sentence = `${namePlace(position, what)} has no ${values}: the published rasters have no value there.`
  return new ApiError('NO_DATA', sentence)
}
