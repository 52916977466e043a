import { POINT_DEFAULTS, type PointRequest } from '#schemas/advisory.ts'
import type { Product } from '#schemas/common.ts'
import type { Position, Subject } from './queries.ts'

/** Subjects by what requests said: product, country, crop and month. */
type Subjects = Map<Product, Map<string, Map<string, Map<string | undefined, Subject>>>>

/** Requests ask for few subjects, over and over: each is made once. What nobody publishes is not kept for long. */
const KEPT_SUBJECTS = 1000
const subjects: Subjects = new Map()
let kept = 0

/** What a request asks for, wherever: names without regard to case, defaults filled in. */
export function subjectOf(
  product: Product,
  request: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period'>,
): Subject {
  const { crop = POINT_DEFAULTS.crop, country_code = POINT_DEFAULTS.country_code, forecast_period } = request
  const known = subjects.get(product)?.get(country_code)?.get(crop)?.get(forecast_period)
  if (known) return known
  const seasonal = product !== 'forage'
  const subject = {
    product,
    countryCode: country_code.trim().toLowerCase(),
    cropCode: seasonal ? crop.trim().toLowerCase() : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? `${forecast_period}-01` : null,
  }
  if (kept++ >= KEPT_SUBJECTS) {
    subjects.clear()
    kept = 1
  }
  const ofProduct = inMap(subjects, product)
  inMap(inMap(ofProduct, country_code), crop).set(forecast_period, subject)
  return subject
}

/** The map that a map has under a key; an empty one where it had none. */
function inMap<Key, Inner extends Map<unknown, unknown>>(outer: Map<Key, Inner>, key: Key): Inner {
  const inner = outer.get(key) ?? (new Map() as Inner)
  outer.set(key, inner)
  return inner
}

/** Where a request asks for it. */
export function positionOf({ lat, lng }: Pick<PointRequest, 'lat' | 'lng'>): Position {
  return { longitude: lng, latitude: lat }
}
