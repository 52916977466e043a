/** Above this part of the products that it is made of, the sign of the rounded determinant is right (Shewchuk, 1997). */
const CERTAIN = (3 + 16 * 2 ** -53) * 2 ** -53

/**
 * Which side of the line from a to b a position c lies on: above 0 to the left, below 0 to the right, and 0
 * on the line. The sign is exact for coordinates on the Earth; the number has no meaning beside it.
 */
export function orientation(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const left = (ax - cx) * (by - cy)
  const right = (ay - cy) * (bx - cx)
  const determinant = left - right
  if (Math.abs(determinant) > CERTAIN * (Math.abs(left) + Math.abs(right))) return determinant
  if (left === 0 && right === 0) return 0
  return exactOrientation(ax, ay, bx, by, cx, cy)
}

/** The same by a sum that is not rounded (the expansions of Shewchuk, 1997): it takes ten times as long. */
function exactOrientation(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const sum: number[] = []
  addProduct(sum, ax, by)
  addProduct(sum, -ax, cy)
  addProduct(sum, -cx, by)
  addProduct(sum, -ay, bx)
  addProduct(sum, ay, cx)
  addProduct(sum, cy, bx)
  // The parts do not overlap, so the largest one that is not 0 decides.
  return sum.findLast((part) => part !== 0) ?? 0
}

/** Splits the 53 bits of a number into two halves. */
const SPLITTER = 2 ** 27 + 1

/** Adds the product of two numbers, which is two numbers, to a sum of parts that grow and do not overlap. */
function addProduct(sum: number[], a: number, b: number): void {
  const product = a * b
  const aHigh = SPLITTER * a - (SPLITTER * a - a)
  const bHigh = SPLITTER * b - (SPLITTER * b - b)
  const aLow = a - aHigh
  const bLow = b - bHigh
  add(sum, aLow * bLow - (product - aHigh * bHigh - aLow * bHigh - aHigh * bLow))
  add(sum, product)
}

function add(sum: number[], term: number): void {
  let carried = term
  for (let part = 0; part < sum.length; part++) {
    const other = sum[part] as number
    const rounded = carried + other
    const virtual = rounded - carried
    sum[part] = carried - (rounded - virtual) + (other - virtual)
    carried = rounded
  }
  sum.push(carried)
}
