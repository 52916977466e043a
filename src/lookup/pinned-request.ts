import type { ProductDefinition } from '#schemas/products/define.ts'
import { ApiError } from '#src/errors.ts'
import { findCaller } from '#src/http/caller.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { splitList, wordKey } from '#src/lib/names.ts'
import type { Lookup } from './lookup.ts'
import { firstDayOf, type PublishedRelease } from './releases.ts'
import { type PinnedRelease, unknownRelease } from './snapshot.ts'

/** Members of a request that its release fills in. */
interface PinningRequest {
  release?: string | undefined
  crop?: string | undefined
  country_code?: string | undefined
  forecast_period?: string | undefined
}

/**
 * Fills in country, crop and month of the release that a request names: of one for each product, separated by commas.
 * Only admins find releases that never were published.
 *
 * @throws {ApiError} NOT_FOUND, RELEASE_GONE, or INVALID_PARAMETERS where the release contradicts the request
 */
export async function withReleaseNamed<Request extends PinningRequest>(
  lookup: Lookup,
  products: readonly ProductDefinition[],
  request: Request,
  exchange: Exchange,
): Promise<Request> {
  if (request.release === undefined) return request
  const codes = products.length === 1 ? [request.release.trim()] : splitList(request.release)
  if (codes.length > products.length) throw oneOfEach()
  const releases: PublishedRelease[] = []
  for (const code of codes) releases.push(await releaseNamed(lookup, code, exchange))
  if (new Set(releases.map(({ product }) => product)).size < releases.length) throw oneOfEach()
  return filledIn(lookup, request, products, releases)
}

export async function releaseNamed(
  lookup: Lookup,
  code: string,
  exchange: Exchange,
): Promise<PublishedRelease> {
  const { request: call } = exchange
  const ask = () => lookup.namedRelease(code)
  // Published releases are in memory; others may need the database.
  const isPublished = lookup.known()?.published.some((release) => release.code === code)
  const found: PinnedRelease = await (isPublished ? exchange.wait(ask) : exchange.withDatabasePermit(ask))
  if (!found.isPublic && findCaller(call)?.role !== 'admin') throw unknownRelease(code)
  return found.release
}

async function filledIn<Request extends PinningRequest>(
  lookup: Lookup,
  request: Request,
  products: readonly ProductDefinition[],
  releases: readonly PublishedRelease[],
): Promise<Request> {
  const { cropNamed } = await lookup.current()
  const names = products.map(({ code }) => code)
  let filled = { ...request, release: releases.map(({ code }) => code).join(', ') }
  for (const { code, product, countryCode, cropCode, forecastPeriod } of releases) {
    if (!names.includes(product))
      throw contradicts('release', `a release of ${names.join(', ')}`, code, product)
    const { country_code = countryCode, crop = cropCode, forecast_period } = filled
    if (country_code.trim().toLowerCase() !== countryCode) {
      throw contradicts('country_code', `${countryCode} or left out`, code, countryCode)
    }
    filled = { ...filled, country_code: countryCode }
    if (cropCode === null || crop === null) continue
    if (cropNamed(wordKey(crop)) !== cropCode)
      throw contradicts('crop', `${cropCode} or left out`, code, cropCode)
    if (forecast_period !== undefined && firstDayOf(forecast_period) !== forecastPeriod?.slice(0, 10)) {
      const month = isoMonth(forecastPeriod as string)
      throw contradicts('forecast_period', `${month} or left out`, code, month)
    }
    filled = { ...filled, crop: cropCode }
  }
  return filled
}

export function contradicts(field: string, rule: string, code: string, what: string): ApiError {
  return ApiError.invalid(field, `must be ${rule}: ${code} is of ${what}`)
}

function oneOfEach(): ApiError {
  return ApiError.invalid('release', 'must name one release of each product at most')
}
