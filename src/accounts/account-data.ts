import type { Config } from '#src/config.ts'
import type { AuditKind } from '#src/data/audit-kinds.ts'
import type { Db, Tables } from '#src/data/tables.ts'

/** What the core, or an extension, has of accounts. */
export interface AccountData {
  /** Its tables with rows of an account, each after those that it refers to: which rows, `:user` being its id. */
  rows: Partial<Record<keyof Tables, string>>
  /** Kinds of audit records of changes of rights. */
  changes?: readonly AuditKind[]
  /** Removes some rows of deleted accounts; true where more may be left. */
  removePiece?(db: Db): Promise<boolean>
  /** Its table that has rows of a deleted account until then. */
  leftIn?: string
}

interface AccountLimit {
  of: string
  most: number
  setting?: { name: keyof Config; off: string }
  /** Where rows of the account count: `findLimits` has the limits of a table. */
  table?: keyof Tables
  /** Which rows count, `:user` being its id, where not those of `ACCOUNT_DATA`. */
  rows?: string
}

/**
 * How much of something an account may have, by the code of the refusal, whose sentence has `most` in it. The list of
 * extensions adds theirs.
 */
export const ACCOUNT_LIMITS: Record<string, AccountLimit> = {
  TOO_MANY_KEYS: { of: 'keys', most: 20, table: 'api_key' },
}

const ITEMS = 'history_id in (select id from history_item where user_id = :user)'

/** The list of extensions adds theirs. */
export const ACCOUNT_DATA: AccountData[] = [
  {
    rows: {
      app_user: 'id = :user',
      api_key: 'user_id = :user',
      api_key_usage: 'key_id in (select id from api_key where user_id = :user)',
      history_item: 'user_id = :user',
      advisory_feedback: `user_id = :user and ${ITEMS}`,
      history_share: `user_id = :user and ${ITEMS}`,
      user_usage: 'user_id = :user',
    },
    changes: ['role_changed', 'password_changed', 'password_reset', 'keys_ended', 'key_deleted'],
  },
]
