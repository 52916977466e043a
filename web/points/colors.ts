/** From low to high: viridis, which those see as well who do not tell red from green. */
const COLORS = ['#440154', '#3b528b', '#21918c', '#5ec962', '#fde725']

/** Of what has no value. */
export const NO_VALUE = '#888888'

/** Where classes begin that have about as many values each. */
export function classesOf(values: number[]) {
  const sorted = [...values].sort((a, b) => a - b)
  return COLORS.slice(1).map(
    (_, index) => sorted[Math.floor((sorted.length * (index + 1)) / COLORS.length)] ?? 0,
  )
}

export function colorOf(classes: number[], value: number) {
  return COLORS[classes.filter((begin) => value >= begin).length] ?? ''
}
