/**
 * Numbers as the text of a PostgreSQL array, null for NULL. The driver makes and reads arrays as well,
 * with an eye to quotes and nesting, which takes several times as long.
 */
export function arrayOf(numbers: (number | null)[]): string {
  return `{${numbers.map(String).join()}}`
}
