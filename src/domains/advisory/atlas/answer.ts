import { csvRow } from '#src/http/csv.ts'
import type { Pause } from '#src/lib/turns.ts'
import type { CoverageItem } from './atlas.ts'

/** Areas that are written at a time: less than a millisecond's worth. */
const AREAS_A_SLICE = 50

const COLUMNS = [
  ...['country_code', 'level', 'code', 'name'],
  ...['product', 'crop', 'release', 'forecast_period', 'covered_percent', 'reason'],
]

/** The texts of items, which many pages have. */
const jsonTexts = new WeakMap<CoverageItem, string>()

/** A page as JSON. */
export async function jsonOf(
  items: readonly CoverageItem[],
  next: string | null,
  pause: Pause,
): Promise<string> {
  const texts: string[] = []
  for (const [at, item] of items.entries()) {
    if (at % AREAS_A_SLICE === 0) await pause()
    const text = jsonTexts.get(item) ?? JSON.stringify(item)
    jsonTexts.set(item, text)
    texts.push(text)
  }
  return `{"items":[${texts.join()}],"next_cursor":${JSON.stringify(next)}}`
}

/** A page as CSV, with a header and a row for each area and release. */
export async function csvOf(items: readonly CoverageItem[], pause: Pause): Promise<string> {
  let text = csvRow(COLUMNS)
  for (const [at, item] of items.entries()) {
    if (at % AREAS_A_SLICE === 0) await pause()
    const { country_code, level, code, name, products } = item
    for (const {
      product,
      crop,
      release,
      forecast_period,
      covered_percent,
      code: reason = null,
    } of products) {
      const area = [country_code, level, code, name]
      text += csvRow([...area, product, crop, release, forecast_period, covered_percent, reason])
    }
  }
  return text
}
