import { type AuditRecord, listRecords } from '#src/data/audit-queries.ts'
import type { Database } from '#src/data/database.ts'

/** All records of an account, or of everybody, the oldest first. */
export async function recordsOf(database: Database, userId?: string): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  const filter = { userId, kind: undefined, since: undefined }
  for await (const record of listRecords(database.writer, filter)) records.unshift(record)
  return records
}
