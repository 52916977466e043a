import type { Session } from '../account/session.ts'

/** Items of a page, the most that any list gives. */
const LIMIT = 1000

interface Listed<Item> {
  items: Item[]
  next_cursor: string | null
}

/**
 * All items of a list that comes in pages.
 *
 * @param progress told how many there are, while there are more
 */
export async function allItems<Item>(
  session: Session,
  path: string,
  query: Record<string, string | null>,
  left: AbortSignal,
  progress: (count: number) => void = () => {},
): Promise<Item[]> {
  const all: Item[] = []
  let cursor: string | null = null
  do {
    const wanted = { ...query, limit: LIMIT, cursor }
    const page: Listed<Item> = await session.get(path, wanted, { signal: left })
    all.push(...page.items)
    cursor = page.next_cursor
    if (cursor !== null) progress(all.length)
  } while (cursor !== null)
  return all
}
