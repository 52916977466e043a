import { ask } from '#bench/load/client.ts'
import { client } from './load/load.ts'
import type { Ledger, Plan } from './load/plan.ts'

interface Item {
  id: string
  location: { name: string }
  feedback: { rating: number } | null
}

/**
 * Looks, after a fault, for everything that the service has acknowledged.
 *
 * @returns what is not as it was acknowledged, a sentence each
 */
export async function verify({ port, account }: Plan, ledger: Ledger): Promise<string[]> {
  const items = await wholeHistory(port, account.key)
  return [
    ...verifyHistory(items, ledger),
    ...(await Promise.all(
      ledger.registered.map(async ({ email, password }) => {
        const { status } = await ask(client(port), {
          path: '/auth/login',
          body: { email, password },
        })
        return status === 200 ? undefined : `a registration was lost (${status})`
      }),
    )),
    ...(await Promise.all(ledger.keys.map(({ key }) => useOf(port, key, 200, 'a key was lost')))),
    ...(await Promise.all(
      ledger.endedKeys.map((key) => useOf(port, key, 401, 'a key that was ended is of use')),
    )),
  ].filter((sentence) => sentence !== undefined)
}

async function useOf(port: number, key: string, expected: number, sentence: string) {
  const { status } = await ask(client(port, key), { method: 'GET', path: '/history/my?limit=1' })
  return status === expected ? undefined : `${sentence} (${status})`
}

/** What of the history is not as it was acknowledged. */
export function verifyHistory(items: Item[], ledger: Ledger): string[] {
  const byId = new Map(items.map((item) => [item.id, item]))
  const counts = new Map<string, number>()
  for (const { location } of items) counts.set(location.name, (counts.get(location.name) ?? 0) + 1)
  const [named, deleting] = [new Set(ledger.named), new Set(ledger.deleting)]
  return [
    ...ledger.kept
      .filter(([id, name]) => !deleting.has(id) && byId.get(id)?.location.name !== name)
      .map(([id]) => `kept point ${id} was lost`),
    ...[...counts].filter(([, count]) => count > 1).map(([name]) => `point ${name} is there twice`),
    ...[...counts.keys()].filter((name) => !named.has(name)).map((name) => `nobody asked for point ${name}`),
    ...ledger.deleted.filter((id) => byId.has(id)).map((id) => `kept point ${id} was deleted, and is there`),
    ...ledger.rated
      .filter(([id, rating]) => byId.get(id)?.feedback?.rating !== rating)
      .map(([id]) => `the rating of ${id} was lost`),
  ]
}

async function wholeHistory(port: number, key: string): Promise<Item[]> {
  const items: Item[] = []
  for (let cursor = ''; ; ) {
    const path = `/history/my?limit=100&kind=point${cursor}`
    const { status, body } = await ask(client(port, key), { method: 'GET', path })
    if (status !== 200) throw new Error(`the history was answered ${status} ${body}`)
    const page = JSON.parse(body) as { items: Item[]; next_cursor: string | null }
    items.push(...page.items)
    if (page.next_cursor === null) return items
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
  }
}
