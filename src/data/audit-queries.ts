import { userInfo } from 'node:os'
import { type RawBuilder, sql } from 'kysely'
import type { AuditKind } from './audit-kinds.ts'
import { isoTime } from './sql.ts'
import type { Db } from './tables.ts'

export interface AuditEvent {
  kind: AuditKind
  /** The account; by default the caller's, null for none. */
  userId?: string | null
  /** By default the caller's. */
  sessionId?: string
  /** Ids, names and reasons, never a secret. */
  detail?: Record<string, unknown>
}

/** Who did it, and from where: a request, or an operator at the command line. */
interface AuditOrigin {
  userId: string | null
  sessionId: string | null
  keyId: string | null
  network: string | null
  requestId: string | null
  operator: string | null
}

/** The user of this process; a number where it has no name, as in many containers. */
export function operatorName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}

/** Kinds of callers without an account. */
export const BY_ANYBODY = new Set<AuditKind>(['login_failed', 'password_refused', 'registration_kept'])

/** Stored records of a kind, of one account or network: no caller fills the disk. */
export const RECORDS_PER_HOUR = 100
/** The same of all networks together, for kinds without an account. */
const RECORDS_BY_ANYBODY_PER_HOUR = 1000

/** Gives false where the hour is full. */
export async function insertRecord(
  db: Db,
  { kind, detail, ...about }: AuditEvent,
  origin: AuditOrigin,
): Promise<boolean> {
  const { keyId, network, requestId, operator } = origin
  const { userId = origin.userId, sessionId = origin.sessionId } = about
  const { rows } = await sql`
    insert into audit_record (kind, user_id, session_id, key_id, network, request_id, operator, detail)
    select
      ${kind}, ${userId}::uuid, ${sessionId}::uuid, ${keyId}::uuid, ${network}, ${requestId}, ${operator},
      ${detail === undefined ? null : JSON.stringify(detail)}::jsonb
    where ${operator === null ? isKept(kind, userId, network) : sql`true`}
    returning 1`.execute(db)
  return rows.length > 0
}

/** Refusals count by network alone: the time of another query for accounts would reveal which ones exist. */
function isKept(kind: AuditKind, userId: string | null, network: string | null): RawBuilder<boolean> {
  if (!BY_ANYBODY.has(kind)) return fewerThan(RECORDS_PER_HOUR, kind, sql`user_id = ${userId}`)
  const ofNetwork = fewerThan(RECORDS_PER_HOUR, kind, sql`network = ${network}`)
  return sql`${ofNetwork} and ${fewerThan(RECORDS_BY_ANYBODY_PER_HOUR, kind, sql`true`)}`
}

function fewerThan(limit: number, kind: AuditKind, condition: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql`(
    select count(*) from (
      select from audit_record
      where kind = ${kind} and at > now() - interval '1 hour' and ${condition}
      limit ${limit}::integer
    ) as recent
  ) < ${limit}::integer`
}

/** Call it in the transaction of the operation. */
export async function recordOperation(db: Db, event: AuditEvent): Promise<void> {
  const noCaller = { userId: null, sessionId: null, keyId: null, network: null, requestId: null }
  await insertRecord(db, event, { ...noCaller, operator: operatorName() })
}

export interface AuditRecord {
  id: number
  at: string
  kind: AuditKind
  userId: string | null
  /** Null for a deleted account. */
  email: string | null
  sessionId: string | null
  keyId: string | null
  network: string | null
  requestId: string | null
  operator: string | null
  detail: object | null
}

interface AuditFilter {
  userId: string | undefined
  kind: AuditKind | undefined
  since: Date | undefined
}

/** Records in memory. */
const PAGE = 1000

/** The newest first. */
export async function* listRecords(db: Db, filter: AuditFilter): AsyncGenerator<AuditRecord> {
  let before: number | undefined
  for (;;) {
    const page = await readPage(db, filter, before)
    yield* page
    if (page.length < PAGE) return
    before = page.at(-1)?.id
  }
}

async function readPage(
  db: Db,
  { userId, kind, since }: AuditFilter,
  before: number | undefined,
): Promise<AuditRecord[]> {
  let query = db
    .selectFrom('audit_record')
    .leftJoin('app_user', 'app_user.id', 'audit_record.user_id')
    .select([
      'audit_record.id',
      isoTime('audit_record.at').as('at'),
      'kind',
      'user_id as userId',
      'app_user.email',
      'session_id as sessionId',
      'key_id as keyId',
      'network',
      'request_id as requestId',
      'operator',
      'detail',
    ])
    .orderBy('audit_record.id', 'desc')
    .limit(PAGE)
  if (before !== undefined) query = query.where('audit_record.id', '<', before)
  if (userId !== undefined) query = query.where('user_id', '=', userId)
  if (kind !== undefined) query = query.where('kind', '=', kind)
  if (since !== undefined) query = query.where('at', '>=', since)
  return query.execute()
}

const RELEASE_KINDS: AuditKind[] = [
  'release_published',
  'release_withdrawn',
  'release_scheduled',
  'release_unscheduled',
  'release_refused',
  'release_moved',
]

export interface ReleaseRecord {
  at: Date
  kind: AuditKind
  operator: string | null
  detail: ReleaseDetail
}

/** The members depend on the kind. */
export interface ReleaseDetail {
  release: string
  replaced?: string
  rollback?: boolean
  allowed?: string[]
  scheduled_by?: string
  publish_at?: string
  store?: string
  refusal?: string
}

/** Records of a release and of those that replaced it, the oldest first. */
export async function listReleaseRecords(db: Db, code: string): Promise<ReleaseRecord[]> {
  return db
    .selectFrom('audit_record')
    .select(({ ref }) => ['at', 'kind', 'operator', ref('detail').$castTo<ReleaseDetail>().as('detail')])
    .where('kind', 'in', RELEASE_KINDS)
    .where(sql<boolean>`${code} in (detail ->> 'release', detail ->> 'replaced')`)
    .orderBy('id')
    .execute()
}

/** Deletes a part of the old records; gives their number. */
export async function deleteOldRecords(db: Db, months: number, most: number): Promise<number> {
  const { rows } = await sql<{ deleted: number }>`
    select delete_old_audit_records(${months}::integer, ${most}::integer) as deleted`.execute(db)
  return rows[0]?.deleted ?? 0
}
