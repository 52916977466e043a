import type { HistoryItem } from '#schemas/history.ts'
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
