/** Powers of ten are exact up to the 22nd; layers have at most 10 decimals. */
const POWERS = Array.from({ length: 11 }, (_, decimals) => 10 ** decimals)

/** Scaled numbers below this are off by less than a millionth, which is too little to matter here. */
const LARGEST_SCALED = 2 ** 31

/**
 * Rounds half away from zero on the exact binary value, as decimal notation does: the number that
 * `toFixed` writes, and never -0.
 *
 * Writing takes long. So the scaled number is rounded instead, unless it lies so near to the middle of
 * two that the error of scaling could decide; the quotient is then the double nearest to the decimal.
 */
export function round(value: number, decimals: number): number {
  const power = POWERS[decimals] as number
  const scaled = value * power
  const nearest = Math.round(scaled)
  const certain = Math.abs(scaled) < LARGEST_SCALED && Math.abs(Math.abs(scaled - nearest) - 0.5) > 1e-6
  return (certain ? nearest / power : Number(value.toFixed(decimals))) + 0
}
