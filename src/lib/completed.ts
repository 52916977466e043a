/**
 * Values of which some are not known. As a rule all are: a promise for each would cost as much as a value.
 *
 * @param known undefined where a value is not known
 * @param valueAt asks for the one that is not known at a place
 */
export async function completed<Value>(
  known: (Value | undefined)[],
  valueAt: (index: number) => Promise<Value>,
): Promise<Value[]> {
  if (!known.includes(undefined)) return known as Value[]
  return Promise.all(known.map((value, index) => (value === undefined ? valueAt(index) : value)))
}
