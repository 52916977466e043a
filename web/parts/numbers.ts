// How people read the numbers of answers, on pages and in the files that pages offer. JSON has all of their digits.

/**
 * The digits of a number that say something: three, or four where it begins with 1 to 4. What is left out is at most a
 * thousandth of it.
 */
const digitsOf = (value: number) => (Math.abs(value) < 5 * 10 ** exponentOf(value) ? 4 : 3)

const exponentOf = (value: number) => Number(value.toExponential().split('e')[1])

/** The decimals that these digits take, 0 for large numbers. */
const decimalsOf = (value: number) => (value === 0 ? 0 : Math.max(0, digitsOf(value) - 1 - exponentOf(value)))

/** An area or a total without the digits that only computing has given it. */
export const roundedAmount = (value: number) => Number(value.toPrecision(digitsOf(value)))

export type NumberText = (value: number) => string

/**
 * How values and means of a column are written: all with the same decimals, which are those of their layer as far as they
 * say something of the largest.
 *
 * @param column what is no number does not count
 * @param form without separators of thousands in files
 */
export function valueFormat(
  column: Iterable<unknown>,
  { grouped = true }: { grouped?: boolean } = {},
): NumberText {
  const numbers = [...column].filter((value) => typeof value === 'number')
  const largest = numbers.reduce((most, value) => Math.max(most, Math.abs(value)), 0)
  const told = numbers.reduce((most, value) => Math.max(most, writtenDecimals(value)), 0)
  const decimals = Math.min(told, decimalsOf(largest))
  const alike = format(decimals, grouped)
  return (value) => {
    // Nothing but 0 is written as 0.
    const vanishes = value !== 0 && Math.abs(value) < 0.5 * 10 ** -decimals
    if (!vanishes) return alike(value)
    return format(Math.min(decimalsOf(value), writtenDecimals(value)), grouped)(value)
  }
}

/** How areas and totals of a column are written. */
export function amountFormat(column: Iterable<unknown>, form?: { grouped?: boolean }): NumberText {
  const rounded = [...column].map((value) => (typeof value === 'number' ? roundedAmount(value) : value))
  const text = valueFormat(rounded, form)
  return (value) => text(roundedAmount(value))
}

/** @param value as JSON writes it */
function writtenDecimals(value: number) {
  const [digits = '', exponent = '0'] = String(value).split('e')
  return Math.max(0, (digits.split('.')[1] ?? '').length - Number(exponent))
}

function format(decimals: number, grouped: boolean) {
  const places = Math.min(20, decimals)
  const { format: write } = new Intl.NumberFormat('en', {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
    useGrouping: grouped,
  })
  return write
}
