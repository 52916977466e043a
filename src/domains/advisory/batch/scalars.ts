/** What is given back as it was sent. */
export type Scalar = string | number | boolean | null

/** Whether a value is one that can be given back unchanged, and is not long. */
export function isScalar(value: unknown, mostCharacters: number): value is Scalar {
  if (typeof value === 'number') return Math.abs(value) <= Number.MAX_SAFE_INTEGER
  return value === null || typeof value === 'boolean' || isShort(value, mostCharacters)
}

/** Whether a value is text that can be stored and sent, and is not long. */
export function isShort(value: unknown, mostCharacters: number): value is string {
  return (
    typeof value === 'string' &&
    value.length <= mostCharacters &&
    !value.includes('\0') &&
    value.isWellFormed()
  )
}
