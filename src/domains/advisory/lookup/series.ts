import { MONTHS, SHORT_MONTH } from '#schemas/month.ts'
import { POINT_DEFAULTS, type PointRequest } from '#schemas/point-request.ts'
import { wordKey } from '#src/lib/name-key.ts'
import type { ProductDefinition } from '#src/products/define.ts'
import type { Series } from '#src/products/series.ts'
import type { Position } from './queries.ts'

/** What a request asks for, wherever: names without regard to case, defaults filled in. */
export function seriesOf(
  { code: product, seasonal }: Pick<ProductDefinition, 'code' | 'seasonal'>,
  request: Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period'>,
): Series {
  const { crop = POINT_DEFAULTS.crop, country_code = POINT_DEFAULTS.country_code, forecast_period } = request
  return {
    product,
    countryCode: country_code.trim().toLowerCase(),
    cropCode: seasonal ? wordKey(crop) : null,
    forecastPeriod: seasonal && forecast_period !== undefined ? firstDayOf(forecast_period) : null,
  }
}

/** Where a request asks for it. */
export function positionOf({ lat, lng }: Pick<PointRequest, 'lat' | 'lng'>): Position {
  return { longitude: lng, latitude: lat }
}

/** A month by its name, which the schema of requests has found to be one. */
const NAMED_MONTH = /^\s*([a-z]+)\s+(\d{4})/i

/** The first day of the month that a request names, as an ISO date. */
function firstDayOf(period: string): string {
  const [, name, year] = NAMED_MONTH.exec(period) ?? []
  if (name === undefined) return `${period.trim()}-01`
  const month = MONTHS.findIndex((other) => shortOf(other) === shortOf(name)) + 1
  return `${year}-${String(month).padStart(2, '0')}-01`
}

function shortOf(month: string): string {
  return month.slice(0, SHORT_MONTH).toLowerCase()
}
