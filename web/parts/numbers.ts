// How people read the numbers of answers, on pages and in the files that pages offer. JSON has all of their digits.

/**
 * The digits of a number that say something: three, or four where it begins with 1 to 4. What is left out is at most a
 * thousandth of it.
 *
 * @param {number} value
 */
const digitsOf = (value) => (Math.abs(value) < 5 * 10 ** exponentOf(value) ? 4 : 3)

/** @param {number} value */
const exponentOf = (value) => Number(value.toExponential().split('e')[1])

/** The decimals that these digits take, 0 for large numbers. @param {number} value */
const decimalsOf = (value) => (value === 0 ? 0 : Math.max(0, digitsOf(value) - 1 - exponentOf(value)))

/** An area or a total without the digits that only computing has given it. @param {number} value */
export const roundedAmount = (value) => Number(value.toPrecision(digitsOf(value)))

/** @typedef {(value: number) => string} NumberText */

/**
 * How values and means of a column are written: all with the same decimals, which are those of their layer as far as they
 * say something of the largest.
 *
 * @param {Iterable<unknown>} column what is no number does not count
 * @param {{ grouped?: boolean }} [form] without separators of thousands in files
 * @returns {NumberText}
 */
export function valueFormat(column, { grouped = true } = {}) {
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

/**
 * How areas and totals of a column are written.
 *
 * @param {Iterable<unknown>} column
 * @param {{ grouped?: boolean }} [form]
 * @returns {NumberText}
 */
export function amountFormat(column, form) {
  const rounded = [...column].map((value) => (typeof value === 'number' ? roundedAmount(value) : value))
  const text = valueFormat(rounded, form)
  return (value) => text(roundedAmount(value))
}

/** @param {number} value as JSON writes it */
function writtenDecimals(value) {
  const [digits = '', exponent = '0'] = String(value).split('e')
  return Math.max(0, (digits.split('.')[1] ?? '').length - Number(exponent))
}

/** @param {number} decimals @param {boolean} grouped */
function format(decimals, grouped) {
  const places = Math.min(20, decimals)
  const { format: write } = new Intl.NumberFormat('en', {
    minimumFractionDigits: places,
    maximumFractionDigits: places,
    useGrouping: grouped,
  })
  return write
}
