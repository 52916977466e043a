/**
 * The inverse cosine transform of JPEG in whole numbers, after Loeffler, Ligtenberg and Moschytz (1989), rounded where
 * libjpeg rounds it: the same pixels come out, which what reads through GDAL has as well.
 */

/** Factors have so many bits behind the point, and what the first pass leaves has a few. */
const FACTOR_BITS = 13
const KEPT_BITS = 2

const factor = (number: number) => Math.round(number * 2 ** FACTOR_BITS)
const C_0_298 = factor(0.298631336)
const C_0_390 = factor(0.390180644)
const C_0_541 = factor(0.5411961)
const C_0_765 = factor(0.765366865)
const C_0_899 = factor(0.899976223)
const C_1_175 = factor(1.175875602)
const C_1_501 = factor(1.50132111)
const C_1_847 = factor(1.847759065)
const C_1_961 = factor(1.96157056)
const C_2_053 = factor(2.053119869)
const C_2_562 = factor(2.562915447)
const C_3_072 = factor(3.072711026)

const passed = new Int32Array(64)
const line = new Int32Array(8)

/**
 * @param coefficients of a block of 8 x 8, row by row, dequantised
 * @param samples where it is put, from 0 to 255, beginning at `at`, each row `width` after the one above
 */
export function inverseCosineTransform(
  coefficients: Int32Array,
  samples: Uint8Array,
  at: number,
  width: number,
): void {
  for (let column = 0; column < 8; column++) {
    transform(coefficients, column, 8)
    for (let row = 0; row < 8; row++) {
      passed[row * 8 + column] = rounded(line[row] as number, FACTOR_BITS - KEPT_BITS)
    }
  }
  for (let row = 0; row < 8; row++) {
    transform(passed, row * 8, 1)
    for (let column = 0; column < 8; column++) {
      // 3 bits for the factor of 8 that two passes leave, and a level of 128 in the middle (T.81, A.3.1).
      const sample = rounded(line[column] as number, FACTOR_BITS + KEPT_BITS + 3) + 128
      samples[at + row * width + column] = sample < 0 ? 0 : sample > 255 ? 255 : sample
    }
  }
}

function rounded(number: number, bits: number): number {
  return (number + (1 << (bits - 1))) >> bits
}

/** Transforms eight numbers that lie `step` apart, into `line`. */
function transform(from: Int32Array, at: number, step: number): void {
  const i0 = from[at] as number
  const i1 = from[at + step] as number
  const i2 = from[at + 2 * step] as number
  const i3 = from[at + 3 * step] as number
  const i4 = from[at + 4 * step] as number
  const i5 = from[at + 5 * step] as number
  const i6 = from[at + 6 * step] as number
  const i7 = from[at + 7 * step] as number

  const turned = Math.imul(i2 + i6, C_0_541)
  const even2 = turned - Math.imul(i6, C_1_847)
  const even3 = turned + Math.imul(i2, C_0_765)
  const sum = (i0 + i4) << FACTOR_BITS
  const difference = (i0 - i4) << FACTOR_BITS
  const e0 = sum + even3
  const e1 = difference + even2
  const e2 = difference - even2
  const e3 = sum - even3

  const all = Math.imul(i7 + i3 + i5 + i1, C_1_175)
  const z1 = -Math.imul(i7 + i1, C_0_899)
  const z2 = -Math.imul(i5 + i3, C_2_562)
  const z3 = all - Math.imul(i7 + i3, C_1_961)
  const z4 = all - Math.imul(i5 + i1, C_0_390)
  const o0 = Math.imul(i1, C_1_501) + z1 + z4
  const o1 = Math.imul(i3, C_3_072) + z2 + z3
  const o2 = Math.imul(i5, C_2_053) + z2 + z4
  const o3 = Math.imul(i7, C_0_298) + z1 + z3

  line[0] = e0 + o0
  line[7] = e0 - o0
  line[1] = e1 + o1
  line[6] = e1 - o1
  line[2] = e2 + o2
  line[5] = e2 - o2
  line[3] = e3 + o3
  line[4] = e3 - o3
}
