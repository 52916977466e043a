import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import type { AuditRecords } from '#src/http/plugins/audit.ts'
import { deleteOldRecords, insertRecord } from './queries.ts'

/** So many are deleted at a time: others wait for as short a time. */
const PIECE = 1000

/** @param months for how long a record is kept */
export function createAuditRecords(db: Kysely<Tables>, months: number): AuditRecords {
  return {
    add: insertRecord,
    async deleteOld() {
      while ((await deleteOldRecords(db, months, PIECE)) === PIECE);
    },
  }
}
