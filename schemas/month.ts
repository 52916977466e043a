/** The months in English, in the order of the year. */
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const

/** So many letters tell the months apart. */
const SHORT_MONTH = 3

const names = MONTHS.map((name) => {
  const [start, end] = [name.slice(0, SHORT_MONTH), name.slice(SHORT_MONTH)].map(inAnyCase)
  return end ? `${start}(?:${end})?` : start
})

/** How a month is written, `2026-07`, `July 2026` or `Jul 2026`, in the regular expressions of JSON Schema. */
export const MONTH_PATTERN = `^\\s*(?:(?!0000)\\d{4}-(?:0[1-9]|1[0-2])|(?:${names.join('|')})\\s+(?!0000)\\d{4})\\s*$`

/** These know no flags, and letters of either case have to be listed. */
function inAnyCase(letters: string): string {
  return [...letters].map((letter) => `[${letter.toUpperCase()}${letter.toLowerCase()}]`).join('')
}
