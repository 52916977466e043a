import type { Config } from '#src/config.ts'
import type { AuditKind } from '#src/data/audit-kinds.ts'
import type { Db, Tables } from '#src/data/tables.ts'

/** What an extension has of accounts. */
export interface AccountData {
  /** Its tables with rows of an account, each after those that it refers to: which rows, `:user` being its id. */
  rows: Record<string, string>
  /** Kinds of audit records of changes of rights. */
  changes?: readonly AuditKind[]
  /** Removes some rows of deleted accounts; true where more may be left. */
  removePiece?(db: Db): Promise<boolean>
  /** Its table that has rows of a deleted account until then. */
  leftIn?: string
}

/**
 * How much of something an account may have, by the code of the refusal, whose sentence has `most` in it. Rows of `table`
 * with `user_id` count, where nothing else counts. The list of extensions adds theirs.
 */
export const ACCOUNT_LIMITS: Record<
  string,
  { of: string; most: number; setting?: { name: keyof Config; off: string }; table?: keyof Tables }
> = {
  TOO_MANY_KEYS: { of: 'keys', most: 20, table: 'api_key' },
}

/** The list of extensions adds theirs. */
export const ACCOUNT_DATA: AccountData[] = []
