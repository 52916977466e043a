/** Classes of values on maps. Packs use them in a browser: nothing here needs Node. */

/** Ends of the first and last class. */
export interface ValueEnds {
  minimum: number
  maximum: number
}

/** Digits that legends show. */
const DIGITS = 2

/**
 * Borders of equal width, ascending.
 *
 * @param count at least 1
 */
export function equalSteps({ minimum, maximum }: ValueEnds, count: number): number[] {
  const steps = Array.from(
    { length: count - 1 },
    (_, at) => minimum + ((at + 1) * (maximum - minimum)) / count,
  )
  return readable(steps, { minimum, maximum })
}

/** Borders of equal weight, ascending; fewer if a value has the weight of several classes. */
export function quantileSteps(
  { values, weights }: { values: Float64Array; weights: Float64Array },
  ends: ValueEnds,
  count: number,
): number[] {
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

/** Rounded, distinct, inside the ends. */
function readable(steps: number[], { minimum, maximum }: ValueEnds): number[] {
  const unit = 10 ** (Math.floor(Math.log10(maximum - minimum)) + 1 - DIGITS)
  // Division by a power of ten leaves no digits behind.
  const rounded = steps.map((step) =>
    unit < 1 ? Math.round(step / unit) / Math.round(1 / unit) : Math.round(step / unit) * unit,
  )
  return [...new Set(rounded)].filter((step) => step > minimum && step < maximum)
}

/** From 0; a class includes its lower border. */
export function findClass(value: number, steps: readonly number[]): number {
  let index = 0
  while (index < steps.length && value >= (steps[index] as number)) index++
  return index
}
