import { type CsvValue, csvRow } from '#src/http/csv.ts'
import { observableKeysOf, type ProductDefinition } from '#src/products/define.ts'
import { type Entry, entriesOf } from './entries.ts'
import type { ExportForm } from './export.ts'
import type { HistoryRow } from './queries.ts'
import { areaOf, type RecordedAnswer } from './recorded-answer.ts'

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
  'admin_level',
  'admin_code',
  'admin_name',
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
export function tableForm(products: readonly ProductDefinition[]): ExportForm {
  const observable = observableKeysOf(products)
  const header = [...COLUMNS, ...observable.map((key) => `observed_${key}`), 'harvested_on']
  return {
    opening: csvRow(header),
    separator: '',
    closing: () => '',
    textsOf: async (rows) =>
      rows.map((row) =>
        entriesOf(products, row)
          .map((entry) => csvRow(cellsOf(row, entry, observable)))
          .join(''),
      ),
  }
}

/** @param observable the keys of what may have been observed */
function cellsOf(row: HistoryRow, entry: Entry, observable: string[]): CsvValue[] {
  const { location } = row.answer as RecordedAnswer
  const area = areaOf(row)
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
    area?.level ?? null,
    area?.code ?? null,
    area?.name ?? null,
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
