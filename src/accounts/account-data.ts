import type { Kysely } from 'kysely'
import type { AuditKind } from '#src/data/audit-kinds.ts'
import type { Tables } from '#src/data/tables.ts'

/** What an extension has of accounts. */
export interface AccountData {
  /** Its tables with rows of an account, each after those that it refers to: which rows, `:user` being its id. */
  rows: Record<string, string>
  /** Kinds of audit records of changes of rights. */
  changes?: readonly AuditKind[]
  /** Removes some rows of deleted accounts; true where more may be left. */
  removePiece?(db: Kysely<Tables>): Promise<boolean>
  /** Its table that has rows of a deleted account until then. */
  leftIn?: string
}

/** The list of extensions adds theirs. */
export const ACCOUNT_DATA: AccountData[] = []
