/** Powers of ten are exact up to the 22nd; layers have at most 10 decimals. */
const POWERS = Array.from({ length: 11 }, (_, decimals) => 10 ** decimals)

/** Scaled numbers below this are off by less than a millionth, which is too little to matter here. */
const LARGEST_SCALED = 2 ** 31

/**
 * Rounds half away from zero on the exact binary value, as `toFixed` does, and never to -0.
 *
 * `toFixed` is slow. The scaled number is rounded instead, unless it is so near to the middle of two that the error of
 * scaling could decide.
 */
export function round(value: number, decimals: number): number {
  const power = POWERS[decimals] as number
  const scaled = value * power
  const nearest = Math.round(scaled)
  const certain = Math.abs(scaled) < LARGEST_SCALED && Math.abs(Math.abs(scaled - nearest) - 0.5) > 1e-6
  return (certain ? nearest / power : Number(value.toFixed(decimals))) + 0
}

/** Decimals of 0.00 to 0.99, with the point. */
const HUNDREDTHS = Array.from({ length: 100 }, (_, hundredths) => String(hundredths / 100).slice(1))

/** Decimals of degrees: 1 cm on the ground. */
const DEGREE_DECIMALS = 7
const DEGREE_POWER = POWERS[DEGREE_DECIMALS] as number

/** Smaller numbers have an exponent. */
const LEAST_WITHOUT_EXPONENT = 1e-6

/** Writes a number as JSON. Values with two decimals, and degrees with seven, take a fraction of the general algorithm. */
export function numberText(value: number): string {
  if (value < 0) return `-${numberText(-value)}`
  const hundredths = Math.round(value * 100)
  if (hundredths < LARGEST_SCALED && hundredths / 100 === value) {
    const whole = Math.floor(value)
    return `${whole}${HUNDREDTHS[hundredths - whole * 100]}`
  }
  const scaled = Math.round(value * DEGREE_POWER)
  const isKnown = scaled < LARGEST_SCALED && scaled / DEGREE_POWER === value
  return isKnown && value >= LEAST_WITHOUT_EXPONENT ? degreesText(scaled) : `${value}`
}

/** @param scaled degrees as a whole number, with decimals that are not all 0 */
function degreesText(scaled: number): string {
  const whole = Math.floor(scaled / DEGREE_POWER)
  let fraction = scaled - whole * DEGREE_POWER
  let decimals = DEGREE_DECIMALS
  while (fraction % 10 === 0) {
    fraction /= 10
    decimals--
  }
  // The 1 before it keeps its zeros.
  return `${whole}.${`${(POWERS[decimals] as number) + fraction}`.slice(1)}`
}

export function roundDegrees(degrees: number): number {
  return round(degrees, DEGREE_DECIMALS)
}

/** Digits of a value that is too small for its decimals. */
const FEWEST_DIGITS = 3
const LEAST_WITH_DIGITS = 10 ** (FEWEST_DIGITS - 1)

/** Rounds to decimals; small values have three digits, so that only 0 becomes 0. */
export function roundVisibly(value: number, decimals: number): number {
  if (value === 0) return 0
  const small = Math.abs(value) * (POWERS[decimals] as number) < LEAST_WITH_DIGITS
  return small ? Number(value.toPrecision(FEWEST_DIGITS)) : round(value, decimals)
}

/** Areas and totals are whole from here on. */
const LEAST_WHOLE = 1000

/** An area, a total or a percentage of an answer: two decimals, or three digits of a small one; a large one is whole. */
export function roundAmount(value: number): number {
  return roundVisibly(value, Math.abs(value) < LEAST_WHOLE ? 2 : 0)
}

/**
 * An area or a total for people: three digits, or four where it begins with 1 to 4. The error is a thousandth at most.
 * `web/parts/values.ts` has the same rule.
 */
export function roundedAmount(value: number): number {
  const exponent = Number(value.toExponential().split('e')[1])
  return Number(value.toPrecision(Math.abs(value) < 5 * 10 ** exponent ? 4 : 3))
}

/** A number with separators of thousands from ten thousand on, as people write it in a sentence. */
export function groupedText(value: number): string {
  return value.toLocaleString('en', { useGrouping: 'min2', maximumFractionDigits: 20 })
}

/** A total in a sentence: see {@link roundedAmount}. */
export function amountText(value: number): string {
  return groupedText(roundedAmount(value))
}

/** An area in a sentence, in any unit: a large one whole. */
export function areaText(value: number): string {
  return groupedText(Math.abs(value) < LEAST_WHOLE ? roundedAmount(value) : round(value, 0))
}

/** Digits of numbers below ten in sentences. */
const RATE_DIGITS = 2

/** A rate, a yield or a score in a sentence: whole from ten on. */
export function rateText(value: number): string {
  return String(Math.abs(value) < 10 ? Number(value.toPrecision(RATE_DIGITS)) : round(value, 0))
}

const SHORT_DIGITS = 7

/** A number for sentences and tables, without noise of computation. */
export function shortNumber(value: number): string {
  return String(Number(value.toPrecision(SHORT_DIGITS)))
}

/** A percentage; below a hundredth of a percent with two digits. */
export function percentText(part: number): string {
  const percent = 100 * part
  return `${percent >= 0.01 || percent === 0 ? percent.toFixed(2) : percent.toPrecision(2)} %`
}
