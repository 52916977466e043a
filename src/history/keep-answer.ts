import { permits } from '#src/http/caller.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { prefers, setApplied } from '#src/http/request.ts'

export interface AdvisoryRecord {
  userId: string
  /** A code, or `all` where one call answered for every product. */
  product: string
  kind: 'point' | 'polygon'
  countryCode: string
  /** The code or an alias; the code is recorded. Null where no product asked for has seasons. */
  cropCode: string | null
  releases: string[]
  request: object
  /** The body or its text, without the `history_id`. */
  answer: object | string
}

/** An account, or all accounts together, may store nothing more. */
export interface FullHistory {
  full: 'account' | 'service'
}

/** Returns the id of the stored item. @throws {ApiError} UNAUTHORIZED, DATABASE_UNAVAILABLE, OVERLOADED */
export type RecordAdvisory = (record: AdvisoryRecord) => Promise<string | FullHistory>

const FULL = { account: 'full', service: 'service-full' } as const

/**
 * Keeps an answer in the history of its caller: not without a token or the scope `history`, nor with
 * `Prefer: history=none`, which the answer repeats.
 *
 * @param makeRecord called only where it is kept
 * @param share of the time left
 * @returns the member with its id; undefined where it is not kept, which a header says of a full history
 * @throws {ApiError} as {@link RecordAdvisory}
 */
export async function keepAnswer(
  exchange: Exchange,
  record: RecordAdvisory,
  makeRecord: () => Omit<AdvisoryRecord, 'userId'>,
  share?: number,
): Promise<{ history_id: string } | undefined> {
  const { request, reply } = exchange
  const { user, method } = request
  if (user === null || method === 'HEAD' || !permits(user, 'history')) return undefined
  if (prefers(request, 'history=none')) {
    setApplied(reply, 'history=none')
    return undefined
  }
  const stored = await exchange.wait(() => record({ userId: user.id, ...makeRecord() }), share)
  if (typeof stored === 'string') return { history_id: stored }
  reply.header('advisory-history', FULL[stored.full])
  return undefined
}
