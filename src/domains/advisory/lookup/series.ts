import { POINT_DEFAULTS, type PointRequest } from '#schemas/advisory.ts'
import type { Product } from '#schemas/common.ts'
import type { Series } from '#src/products/series.ts'
import type { Position } from './queries.ts'

/** SeriesByRequest by what requests said: product, country, crop and month. */
type SeriesByRequest = Map<Product, Map<string, Map<string, Map<string | undefined, Series>>>>

/** Requests ask for few series, over and over: each is made once. What nobody publishes is not kept for long. */
const KEPT_SERIES = 1000
const cached: SeriesByRequest = new Map()
let kept = 0

/** What a request asks for, wherever: names without regard to case, defaults filled in. */
export function seriesOf(
  product: Product,
  request: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period'>,
): Series {
  const { crop = POINT_DEFAULTS.crop, country_code = POINT_DEFAULTS.country_code, forecast_period } = request
  const known = cached.get(product)?.get(country_code)?.get(crop)?.get(forecast_period)
  if (known) return known
  const seasonal = product !== 'forage'
  const series = {
    product,
    countryCode: country_code.trim().toLowerCase(),
    cropCode: seasonal ? crop.trim().toLowerCase() : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? `${forecast_period}-01` : null,
  }
  if (kept++ >= KEPT_SERIES) {
    cached.clear()
    kept = 1
  }
  const ofProduct = inMap(cached, product)
  inMap(inMap(ofProduct, country_code), crop).set(forecast_period, series)
  return series
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
