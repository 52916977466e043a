/** What a spreadsheet may take for a formula, also behind white space and in the wide forms of East Asia. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

/** Cells that have to be quoted (RFC 4180). */
const SPECIAL = /[",\r\n]/

/**
 * A row of a CSV file as RFC 4180 has it, with its line end. Null is an empty cell. Text that a
 * spreadsheet would take for a formula gets an apostrophe in front of it; numbers stay numbers.
 */
export function csvRow(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** A cell of such a row. */
export function csvCell(value: string | number | null): string {
  if (value === null) return ''
  if (typeof value === 'number') return String(value)
  const text = FORMULA.test(value) ? `'${value}` : value
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
