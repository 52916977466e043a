import { sql } from 'kysely'
import { existingUser, isoTime } from '#src/data/sql.ts'
import type { Db, Trx } from '#src/data/tables.ts'
import type { AdvisoryRecord } from '#src/history/keep-answer.ts'
import { itemId } from '#src/history/queries.ts'
import { isUuid } from '#src/lib/uuid.ts'

export interface ShareRow {
  token: string
  shared_at: string
}

const SHARE = sql`token, ${isoTime('shared_at')} as shared_at`

export async function findShare(db: Db, userId: string, historyId: string): Promise<ShareRow | undefined> {
  if (!isUuid(historyId)) return undefined
  const { rows } = await sql<ShareRow>`
    select ${SHARE}
    from history_share
    where history_id = ${itemId(historyId)} and user_id = ${existingUser(userId)}
      and exists (
        select from advisory_history as item
        where item.id = history_share.history_id and item.user_id = history_share.user_id
      )`.execute(db)
  return rows[0]
}

/** A shared item keeps its token. Undefined without such an item. */
export async function insertShare(
  trx: Trx,
  userId: string,
  historyId: string,
  token: string,
): Promise<ShareRow | undefined> {
  if (!isUuid(historyId)) return undefined
  const { rows } = await sql<ShareRow>`
    insert into history_share (history_id, user_id, token)
    select id, user_id, ${token}
    from advisory_history
    where id = ${itemId(historyId)} and user_id = ${existingUser(userId)}
    on conflict (history_id) do update set history_id = excluded.history_id
    returning ${SHARE}`.execute(trx)
  return rows[0]
}

export async function deleteShare(db: Db, userId: string, historyId: string): Promise<boolean> {
  if (!isUuid(historyId)) return false
  const { numDeletedRows } = await db
    .deleteFrom('history_share')
    .where('history_id', '=', itemId(historyId))
    .where('user_id', '=', existingUser(userId))
    .executeTakeFirst()
  return numDeletedRows > 0n
}

interface ReleaseOfAnswer {
  release: string
  state: 'published' | 'replaced' | 'unpublished' | 'deleted'
  source: string
  licence: string
  checksum: string
}

/** Nothing of it names the account. */
export interface SharedItem extends ShareRow {
  answered_at: string
  kind: AdvisoryRecord['kind']
  product: string
  codes: string[]
  releases: ReleaseOfAnswer[]
  request: Record<string, unknown>
  answer: Record<string, unknown>
}

export async function findShared(db: Db, token: string): Promise<SharedItem | undefined> {
  const { rows } = await sql<SharedItem>`
    select
      share.token,
      ${isoTime('share.shared_at')} as shared_at,
      ${isoTime('item.created_at')} as answered_at,
      item.kind,
      item.product,
      item.releases as codes,
      (
        select coalesce(
          json_agg(
            json_build_object(
              'release', code,
              'state', case
                when status = 'deleted' then 'deleted'
                when exists (select from publication where release_id = release.id) then 'published'
                when exists (select from release_period where release_id = release.id) then 'replaced'
                else 'unpublished'
              end,
              'source', source, 'licence', licence, 'checksum', checksum
            ) order by array_position(item.releases, code)
          ),
          '[]'
        )
        from release
        where code = any(item.releases)
      ) as releases,
      item.request,
      item.answer
    from history_share as share
    join app_user on app_user.id = share.user_id
    join advisory_history as item on item.id = share.history_id and item.user_id = share.user_id
    where share.token = ${token}`.execute(db)
  return rows[0]
}
