import type { AdvisoryCounts, ServiceStats } from '#schemas/stats.ts'
import { quantile } from '#src/lib/histogram.ts'
import { round } from '#src/lib/round.ts'
import { type Days, daysOf } from './period.ts'
import type { TrafficRow, UsageRow } from './queries.ts'

/** The counts of advisories as the API shows them. */
export function advisoryCounts(days: Days, rows: UsageRow[]): AdvisoryCounts {
  const by = (grouping: UsageRow['grouping']) => rows.filter((row) => row.grouping === grouping)
  const ofDay = new Map(by('day').map(({ day, advisories }) => [day, advisories]))
  return {
    total: by('total')[0]?.advisories ?? 0,
    by_product: by('product').map(({ product, advisories }) => ({ product, advisories })),
    by_country: by('country').map(({ country_code, advisories }) => ({ country_code, advisories })),
    by_crop: by('crop').map(({ crop_code, advisories }) => ({ crop: crop_code, advisories })),
    by_day: daysOf(days).map((day) => ({ day, advisories: ofDay.get(day) ?? 0 })),
  }
}

/** The counts of requests as the API shows them. */
export function trafficCounts(
  days: Days,
  rows: TrafficRow[],
): Pick<ServiceStats, 'requests' | 'errors' | 'latency' | 'by_operation' | 'by_day'> {
  const ofDay = new Map(rows.flatMap((row) => (row.day === null ? [] : [[row.day, row]])))
  return {
    ...trafficOf(rows.find(({ operation, day }) => operation === null && day === null)),
    by_operation: rows.flatMap((row) =>
      row.operation === null ? [] : [{ operation: row.operation, ...trafficOf(row) }],
    ),
    by_day: daysOf(days).map((day) => ({ day, ...trafficOf(ofDay.get(day)) })),
  }
}

function trafficOf(row: TrafficRow | undefined): Pick<ServiceStats, 'requests' | 'errors' | 'latency'> {
  const { requests = 0, errors = 0, latencies = [], longest = 0 } = row ?? {}
  const at = (part: number) => milliseconds(quantile(latencies, part, longest))
  const max = requests === 0 ? null : milliseconds(longest)
  return { requests, errors, latency: { p50: at(0.5), p95: at(0.95), p99: at(0.99), max } }
}

/** To a thousandth of a millisecond: the clock says no more. */
function milliseconds(duration: number | null): number | null {
  return duration === null ? null : round(duration, 3)
}
