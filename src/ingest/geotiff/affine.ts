/** x = a * column + b * row + c, y = d * column + e * row + f. */
export type Affine = [a: number, b: number, c: number, d: number, e: number, f: number]
