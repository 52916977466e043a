/** What a spreadsheet may take for a formula, also behind white space and in the wide forms of East Asia. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

/** Cells that have to be quoted (RFC 4180). */
const SPECIAL = /[",\r\n]/

/** What a cell of a CSV file is written from; null is an empty one. */
export type CsvValue = string | number | boolean | null

/**
 * A row of a CSV file as RFC 4180 has it, with its line end. Text that a spreadsheet would take for a
 * formula gets an apostrophe in front of it; numbers stay numbers.
 */
export function csvRow(cells: readonly CsvValue[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** A cell of such a row. */
export function csvCell(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
