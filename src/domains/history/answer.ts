import type { HistoryItem } from '#schemas/history.ts'
import { type CsvValue, csvRow } from '#src/http/csv.ts'
import { observableKeysOf, type ProductDefinition } from '#src/products/define.ts'
import { type Entry, entriesOf } from './entries.ts'
import type { HistoryRow } from './queries.ts'
import { isSynthetic, monthOf, type RecordedAnswer } from './recorded-answer.ts'

/** An item of the history as the API shows it. */
export function itemOf(row: HistoryRow): HistoryItem {
  const answer = row.answer as RecordedAnswer
  const { location, forecast_period } = answer
  const month = monthOf(answer)
  const synthetic = isSynthetic(answer, row)
  return {
    id: row.id,
    created_at: row.created_at,
    kind: row.kind,
    product: row.product,
    country_code: row.country_code,
    crop: row.crop_code,
    releases: row.releases,
    ...(synthetic !== undefined && { synthetic }),
    location,
    ...(forecast_period !== undefined && { forecast_period }),
    ...(month !== undefined && { forecast_month: month }),
    request: row.request,
    answer: row.answer,
    feedback: row.feedback,
  }
}

/** An item as a GeoJSON Feature: where it was asked about, and what was answered. */
export function featureOf(row: HistoryRow) {
  const { location, ...data } = row.answer as RecordedAnswer
  const { lat, lng, type: _, ...place } = location
  const { feedback } = row
  return {
    type: 'Feature' as const,
    id: row.id,
    geometry: geometryOf(row.request) ?? { type: 'Point', coordinates: [lng, lat] },
    properties: {
      created_at: row.created_at,
      kind: row.kind,
      product: row.product,
      country_code: row.country_code,
      crop: row.crop_code,
      releases: row.releases,
      ...place,
      ...data,
      rating: feedback?.rating ?? null,
      comment: feedback?.comment ?? null,
    },
  }
}

/** The polygon of a request, which may have come as a Feature; undefined where there is none in it. */
function geometryOf(request: object): object | undefined {
  const { geometry } = request as { geometry?: { type: string; geometry?: object } }
  return geometry?.type === 'Feature' ? geometry.geometry : geometry
}

const COLUMNS = [
  'id',
  'created_at',
  'kind',
  'product',
  'country_code',
  'crop',
  'name',
  'lat',
  'lng',
  'area_ha',
  'forecast_period',
  'forecast_month',
  'release',
  'synthetic',
  'input',
  'scenario',
  'value',
  'unit',
  'min',
  'max',
  'stddev',
  'covered_percent',
  'total',
  'rating',
  'comment',
]

/** Items as CSV: a header, and a row for each value of each answer. */
export function csvOf(products: readonly ProductDefinition[], rows: HistoryRow[]): string {
  const observable = observableKeysOf(products)
  const header = [...COLUMNS, ...observable.map((key) => `observed_${key}`), 'harvested_on']
  const lines = rows.flatMap((row) =>
    entriesOf(products, row).map((entry) => csvRow(cellsOf(row, entry, observable))),
  )
  return csvRow(header) + lines.join('')
}

/** @param observable the keys of what may have been observed */
function cellsOf(row: HistoryRow, entry: Entry, observable: string[]): CsvValue[] {
  const { location } = row.answer as RecordedAnswer
  const { rating = null, comment = null, observed } = row.feedback ?? {}
  return [
    row.id,
    row.created_at,
    row.kind,
    entry.product,
    row.country_code,
    row.crop_code,
    location.name,
    location.lat,
    location.lng,
    location.area_ha ?? null,
    entry.forecastPeriod,
    entry.forecastMonth,
    entry.release ?? row.releases.join(' '),
    entry.synthetic,
    entry.input,
    entry.scenario,
    entry.value,
    entry.unit,
    entry.min,
    entry.max,
    entry.stddev,
    entry.coveredPercent,
    entry.total,
    rating,
    comment,
    ...observable.map((key) => observed?.[key] ?? null),
    observed?.harvested_on ?? null,
  ]
}
