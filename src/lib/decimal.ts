/**
 * A decimal number: `digits` divided by ten to the power of `scale`. Sums and products are exact, and a quotient is rounded
 * once. Libraries round each quotient to a fixed number of decimals, and quotients are compared here.
 */
export interface Decimal {
  readonly digits: bigint
  /** At least 0. */
  readonly scale: number
}

const WRITTEN = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/

export const ZERO: Decimal = { digits: 0n, scale: 0 }

/** The shortest decimal of a finite double. */
export function toDecimal(value: number): Decimal {
  if (Number.isSafeInteger(value)) return { digits: BigInt(value), scale: 0 }
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = WRITTEN.exec(String(value)) ?? []
  const digits = BigInt(`${sign}${whole}${fraction}`)
  const scale = fraction.length - Number(exponent)
  return scale < 0 ? { digits: digits * powerOfTen(-scale), scale: 0 } : { digits, scale }
}

/** The nearest double, with the same digits up to 15. */
export function toNumber({ digits, scale }: Decimal): number {
  return Number(`${digits}e-${scale}`)
}

export function times(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, scale: a.scale + b.scale }
}

export function plus(a: Decimal, b: Decimal): Decimal {
  const [left, right, scale] = aligned(a, b)
  return { digits: left + right, scale }
}

export function minus(a: Decimal, b: Decimal): Decimal {
  return plus(a, { ...b, digits: -b.digits })
}

/** Negative, zero or positive, as `a` is less than, equal to or more than `b`. */
export function compare(a: Decimal, b: Decimal): number {
  const [left, right] = aligned(a, b)
  return left < right ? -1 : Number(left > right)
}

export type Rounding = 'down' | 'up' | 'half away from zero'

/**
 * The quotient of two decimals, rounded once.
 *
 * @param b not 0
 * @param rounding `down` and `up` are toward the lesser and the greater number
 */
export function quotient(a: Decimal, b: Decimal, decimals: number, rounding: Rounding): Decimal {
  const [left, right] = aligned(a, b)
  const [top, bottom] = right < 0n ? [-left, -right] : [left, right]
  return { digits: roundedQuotient(top * powerOfTen(decimals), bottom, rounding), scale: decimals }
}

/** A decimal with fewer decimals, half away from zero. */
export function rounded(value: Decimal, decimals: number): Decimal {
  if (value.scale <= decimals) return value
  const bottom = powerOfTen(value.scale - decimals)
  return { digits: roundedQuotient(value.digits, bottom, 'half away from zero'), scale: decimals }
}

/** @param bottom more than 0 */
function roundedQuotient(top: bigint, bottom: bigint, rounding: Rounding): bigint {
  // Of bigints both are toward zero.
  const [whole, rest] = [top / bottom, top % bottom]
  if (rest === 0n) return whole
  if (rounding === 'down') return rest < 0n ? whole - 1n : whole
  if (rounding === 'up') return rest > 0n ? whole + 1n : whole
  const twice = 2n * (rest < 0n ? -rest : rest)
  if (twice < bottom) return whole
  return rest < 0n ? whole - 1n : whole + 1n
}

function aligned(a: Decimal, b: Decimal): [bigint, bigint, scale: number] {
  if (a.scale === b.scale) return [a.digits, b.digits, a.scale]
  return a.scale > b.scale
    ? [a.digits, b.digits * powerOfTen(a.scale - b.scale), a.scale]
    : [a.digits * powerOfTen(b.scale - a.scale), b.digits, b.scale]
}

function powerOfTen(exponent: number): bigint {
  return 10n ** BigInt(exponent)
}
