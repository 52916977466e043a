/** Items of a page, the most that any list gives. */
const LIMIT = 1000

/**
 * All items of a list that comes in pages.
 *
 * @param {import('../account/session.ts').Session} session
 * @param {string} path
 * @param {Record<string, string | null>} query
 * @param {AbortSignal} left
 * @param {(count: number) => void} [progress] told how many there are, while there are more
 * @returns {Promise<any[]>}
 */
export async function allItems(session, path, query, left, progress = () => {}) {
  const all = []
  let cursor = null
  do {
    const wanted = { ...query, limit: LIMIT, cursor }
    /** @type {{ items: any[], next_cursor: string | null }} */
    const page = await session.get(path, wanted, { signal: left })
    all.push(...page.items)
    cursor = page.next_cursor
    if (cursor !== null) progress(all.length)
  } while (cursor !== null)
  return all
}
