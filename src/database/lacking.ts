import { isDatabaseUnavailable } from './failures.ts'

/** Where something is read: on a replica, and on the primary, which is the same where there is no replica. */
export interface Sources<Source> {
  reader: Source
  readerAtPrimary: Source
}

/**
 * Finds something of releases, and asks the primary for what is not there, which is null: the release may have been
 * deleted, or a replica may not have it yet that the primary, or another replica, has told of.
 */
export async function findAlsoAtPrimary<Source, Item, Found>(
  { reader, readerAtPrimary }: Sources<Source>,
  items: Item[],
  find: (source: Source, items: Item[]) => Promise<(Found | null)[]>,
): Promise<(Found | null)[]> {
  const found = await find(reader, items)
  if (reader === readerAtPrimary) return found
  const lacking = items.filter((_, index) => found[index] === null)
  if (lacking.length === 0) return found
  const rest = await find(readerAtPrimary, lacking).catch((error) => {
    // What is published is looked up again, which may well do without it.
    if (isDatabaseUnavailable(error)) return lacking.map(() => null)
    throw error
  })
  let next = 0
  return found.map((one) => (one === null ? (rest[next++] as Found | null) : one))
}
