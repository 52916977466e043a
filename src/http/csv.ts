/** What a spreadsheet may take for a formula, also behind white space and in the wide forms of East Asia. */
const FORMULA = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

/**
 * What separates cells where a comma is the decimal sign, or in what is pasted, and the ends of lines: quotes in
 * the middle of such a cell hold nothing together. Then white space, quotes, and what begins a formula.
 */
const FORMULA_BEHIND_SEPARATOR = /[;\t\r\n](?=(?:[^\S\t\r\n]|")*[=+\-@＝＋－＠])/g

/** Cells that have to be quoted (RFC 4180). */
const SPECIAL = /[",\r\n]/

/** What a cell of a CSV file is written from; null is an empty one. */
export type CsvValue = string | number | boolean | null

/**
 * A row of a CSV file as RFC 4180 has it, with its line end. What a spreadsheet would take for a formula in a
 * text gets an apostrophe in front of it, whichever separator it is opened with; numbers stay numbers.
 */
export function csvRow(cells: readonly CsvValue[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`
}

/** A cell of such a row. */
export function csvCell(value: CsvValue): string {
  if (value === null) return ''
  if (typeof value !== 'string') return String(value)
  const behind = value.replace(FORMULA_BEHIND_SEPARATOR, "$&'")
  const text = FORMULA.test(value) ? `'${behind}` : behind
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
