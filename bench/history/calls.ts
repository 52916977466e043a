import { cursorAfter } from '#src/http/parameters.ts'
import type { DatabaseServer } from '../postgres.ts'
import { type HistorySize, STATISTICS_OF_ALL } from '../results.ts'

/** Who asks: the account with every fourth item, another one, or an admin. */
export type Caller = 'account' | 'other' | 'admin'

/** What is asked of a history. */
export interface HistoryCall {
  what: string
  method: 'GET' | 'POST' | 'DELETE'
  /** @param turn counts the calls: each is about another item */
  path(turn: number): string
  /** The account where left out. */
  caller?: Caller
  accept?: string
  body?: object
}

/** Where the items of a history are that are asked for. */
export interface Landmarks {
  /** Items all over the history. */
  ids: string[]
  /** One that nine of ten are newer than. */
  deep: { id: string }
  /** A month in the middle. */
  from: string
  to: string
  /** A time since which there were so many items as an export of some has. */
  exported: { from: string; to: string; items: number }
  /** A country that is in the oldest items alone, and a product. */
  rareCountry: string
  product: string
}

/** More than all calls of a run are about. */
const IDS = 2000

const EXPORTED = 1000

/** Finds them in a history that was filled. */
export async function findLandmarks(
  server: DatabaseServer,
  url: string,
  email: string,
  { itemsOfAccount }: HistorySize,
): Promise<Landmarks> {
  const step = Math.max(1, Math.floor(itemsOfAccount / IDS))
  const own = `history_item where user_id = (select id from app_user where email = '${email}')`
  const [found] = (await server.execute(
    url,
    `with own as materialized (select id, row_number() over (order by id desc) as place from ${own})
    select
      (select array_agg(id order by place) from own where place % ${step} = 0) as ids,
      (
        select json_build_object('id', id)
        from own where place = ${Math.floor(0.9 * itemsOfAccount)}
      ) as deep,
      to_char(now() - interval '12 months', 'YYYY-MM-DD') as from,
      to_char(now() - interval '11 months', 'YYYY-MM-DD') as to,
      (
        select json_build_object(
          'from', to_char(min(uuid_time(id)) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'to', to_char(max(uuid_time(id)) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'items', ${EXPORTED}
        )
        from own where place between ${itemsOfAccount >> 1} and ${(itemsOfAccount >> 1) + EXPORTED}
      ) as exported,
      (
        select country_code from (select subject_id from ${own}) as item join history_subject on id = subject_id
        group by country_code order by count(*), country_code limit 1
      ) as "rareCountry",
      (
        select product from (select subject_id from ${own}) as item join history_subject on id = subject_id
        group by product order by count(*) desc, product limit 1
      ) as product`,
  )) as [Landmarks]
  return found
}

/** Each thing that a history can be asked for, with each of its filters. */
export function historyCalls(landmarks: Landmarks): HistoryCall[] {
  const { ids, deep, from, to, exported, rareCountry, product } = landmarks
  const list = (
    what: string,
    query: Record<string, string>,
    rest: Partial<HistoryCall> = {},
  ): HistoryCall => ({
    what,
    method: 'GET',
    path: () => `/history/my?${new URLSearchParams(query)}`,
    ...rest,
  })
  const item = (turn: number) => `/history/${ids[turn % ids.length]}`
  const noFilters = [null, null, null, null, null]
  const CSV = { accept: 'text/csv' }
  return [
    list('first page', {}),
    list('first page of another account', { limit: '5' }, { caller: 'other' }),
    list('page of a product', { product }),
    list('page of a kind', { kind: 'polygon' }),
    list('page of a country, all two years old', { country_code: rareCountry }),
    list('page of a month', { from, to }),
    list('page by all filters', {
      product,
      kind: 'point',
      country_code: rareCountry,
      from: '2020-01-01',
      to,
    }),
    list('page by filters that nothing matches', { country_code: rareCountry, from }),
    list('page after nine tenths', { cursor: cursorAfter(deep.id, noFilters) }),
    list('page as CSV', { limit: '100' }, CSV),
    list(`export of ${exported.items} items`, { from: exported.from, to: exported.to, all: 'true' }, CSV),
    { what: 'item', method: 'GET', path: item },
    { what: 'feedback', method: 'POST', path: (turn) => `${item(turn)}/feedback`, body: { rating: 4 } },
    // The first ones are rated and read, the last ones go.
    { what: 'deletion of an item', method: 'DELETE', path: (turn) => `/history/${ids.at(-1 - turn)}` },
    { what: 'statistics', method: 'GET', path: () => '/stats' },
    { what: STATISTICS_OF_ALL, method: 'GET', path: () => '/stats?scope=all', caller: 'admin' },
  ]
}
