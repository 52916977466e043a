import { POINT_DEFAULTS, type PointRequest } from '#schemas/advisory.ts'
import type { Product } from '#schemas/common.ts'
import type { Position, Subject } from './queries.ts'

/** Requests ask for few subjects, over and over: each is made once. What nobody publishes is not kept for long. */
const KEPT_SUBJECTS = 1000
const subjects = new Map<string, Subject>()

/** What a request asks for, wherever: names without regard to case, defaults filled in. */
export function subjectOf(
  product: Product,
  request: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period'>,
): Subject {
  const { crop = POINT_DEFAULTS.crop, country_code = POINT_DEFAULTS.country_code, forecast_period } = request
  const key = `${product}\n${country_code}\n${crop}\n${forecast_period}`
  const known = subjects.get(key)
  if (known) return known
  const seasonal = product !== 'forage'
  const subject = {
    product,
    countryCode: country_code.trim().toLowerCase(),
    cropCode: seasonal ? crop.trim().toLowerCase() : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? `${forecast_period}-01` : null,
  }
  if (subjects.size >= KEPT_SUBJECTS) subjects.clear()
  subjects.set(key, subject)
  return subject
}

/** Where a request asks for it. */
export function positionOf({ lat, lng }: Pick<PointRequest, 'lat' | 'lng'>): Position {
  return { longitude: lng, latitude: lat }
}
