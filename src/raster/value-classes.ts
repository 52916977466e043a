/** Values and how much each counts, in no order. */
interface WeighedValues {
  values: Float64Array
  weights: Float64Array
}

/** From a value to another: the classes of a map begin with the first and end with the last. */
export interface ValueEnds {
  minimum: number
  maximum: number
}

/** Two of the digits in which the values of a map differ: more are not read from a legend. */
const DIGITS = 2

/**
 * Where classes meet that are of equal width, ascending.
 *
 * @param count of the classes, at least 1
 */
export function equalSteps({ minimum, maximum }: ValueEnds, count: number): number[] {
  const steps = Array.from(
    { length: count - 1 },
    (_, at) => minimum + ((at + 1) * (maximum - minimum)) / count,
  )
  return readable(steps, { minimum, maximum })
}

/** Where classes meet that have equal weights, ascending: less than asked for where a value has the weight of several. */
export function quantileSteps(weighed: WeighedValues, ends: ValueEnds, count: number): number[] {
  const { values, weights } = weighed
  const order = Array.from(values.keys()).sort((a, b) => (values[a] as number) - (values[b] as number))
  const total = weights.reduce((sum, weight) => sum + weight, 0)
  const steps: number[] = []
  let passed = 0
  for (const at of order) {
    passed += weights[at] as number
    while (steps.length < count - 1 && passed >= ((steps.length + 1) * total) / count)
      steps.push(values[at] as number)
  }
  return readable(steps, ends)
}

/** Steps in numbers that can be read, each once and inside of the ends. */
function readable(steps: number[], { minimum, maximum }: ValueEnds): number[] {
  const unit = 10 ** (Math.floor(Math.log10(maximum - minimum)) + 1 - DIGITS)
  // Tenths and hundredths are divided by: multiplied, they would leave digits behind.
  const rounded = steps.map((step) =>
    unit < 1 ? Math.round(step / unit) / Math.round(1 / unit) : Math.round(step / unit) * unit,
  )
  return [...new Set(rounded)].filter((step) => step > minimum && step < maximum)
}

/** Which class a value is of, from 0: a class begins with the step below it. */
export function classOf(value: number, steps: readonly number[]): number {
  let index = 0
  while (index < steps.length && value >= (steps[index] as number)) index++
  return index
}
