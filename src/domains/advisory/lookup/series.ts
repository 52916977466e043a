import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { isoMonthNamed } from '#src/lib/month.ts'
import { wordKey } from '#src/lib/name-key.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { Series } from '#src/products/series.ts'
import type { Position } from './queries.ts'

/** What a request asks for: a series, or a release of it. */
export interface RequestedSeries extends Series {
  /** The code of the release that alone may answer; left out where the one that is published does. */
  release?: string | undefined
}

/** What a request asks for, wherever: names without regard to case, defaults filled in. */
export function seriesOf(
  { code: product, seasonal }: Pick<ProductDefinition, 'code' | 'seasonal'>,
  request: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release'>,
): RequestedSeries {
  const { crop = POINT_DEFAULTS.crop, country_code = POINT_DEFAULTS.country_code, forecast_period } = request
  return {
    product,
    countryCode: country_code.trim().toLowerCase(),
    cropCode: seasonal ? wordKey(crop) : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? firstDayOf(forecast_period) : null,
    release: request.release,
  }
}

/** Where a request asks for it. */
export function positionOf({ lat, lng }: Pick<PointRequest, 'lat' | 'lng'>): Position {
  return { longitude: lng, latitude: lat }
}

/** The first day of the month that a request names, as an ISO date; the schema has found it to be one. */
export function firstDayOf(period: string): string {
  return `${isoMonthNamed(period) ?? period.trim()}-01`
}
