import { parse } from 'csv-parse/sync'
import { OperatorError } from '#src/errors.ts'
import { messageOf } from '#src/lib/caught.ts'

/** What was observed at a place. */
export interface ObservedRow {
  lat: number
  lng: number
  observed: number
}

/** A row that says nothing, by its line, and why. */
export interface RowError {
  line: number
  error: string
}

const DECIMAL = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/

/**
 * Reads observations from CSV (RFC 4180) with a header: `lat`, `lng` and the observed value; other columns are passed over.
 *
 * @param key the name of the column with the observed value
 * @param maximum the largest value that may be observed
 * @throws {OperatorError} where it is no CSV, or has not these columns
 */
export function readObservations(
  text: string,
  key: string,
  maximum: number,
): { rows: ObservedRow[]; errors: RowError[] } {
  const records = recordsIn(text)
  const header = (records[0]?.record ?? []).map((name) => name.trim())
  const columns = ['lat', 'lng', key].map((name) => header.indexOf(name))
  const missing = ['lat', 'lng', key].filter((_, index) => columns[index] === -1)
  if (missing.length > 0) throw new OperatorError(`The observations have no column ${missing.join(', ')}.`)
  const limits = [90, 180, maximum]
  const rows: ObservedRow[] = []
  const errors: RowError[] = []
  for (const { record, line } of records.slice(1)) {
    const texts = columns.map((column) => record[column]?.trim() ?? '')
    const numbers = texts.map((cell) => (DECIMAL.test(cell) ? Number(cell) : Number.NaN))
    const wrong = numbers.findIndex((number, index) => {
      const limit = limits[index] as number
      return !(number <= limit && number >= (index === 2 ? 0 : -limit))
    })
    if (wrong === -1) {
      const [lat, lng, observed] = numbers as [number, number, number]
      rows.push({ lat, lng, observed })
    } else {
      const least = wrong === 2 ? 0 : -(limits[wrong] as number)
      errors.push({
        line,
        error: `${['lat', 'lng', key][wrong]} must be a number from ${least} to ${limits[wrong]}, and is "${texts[wrong]}"`,
      })
    }
  }
  return { rows, errors }
}

function recordsIn(text: string): { record: string[]; line: number }[] {
  try {
    const found = parse(text, {
      bom: true,
      info: true,
      relax_column_count: true,
      skip_empty_lines: true,
    }) as unknown as { record: string[]; info: { lines: number } }[]
    return found.map(({ record, info }) => ({ record, line: info.lines }))
  } catch (error) {
    throw new OperatorError(`The observations are not CSV: ${messageOf(error)}.`)
  }
}
