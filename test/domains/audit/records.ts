import type { Database } from '#src/database/client.ts'
import { type AuditRecord, listRecords } from '#src/domains/audit/queries.ts'

/** All records of an account, or of everybody, the oldest first. */
export async function recordsOf(database: Database, userId?: string): Promise<AuditRecord[]> {
  const records: AuditRecord[] = []
  const filter = { userId, kind: undefined, since: undefined }
  for await (const record of listRecords(database.writer, filter)) records.unshift(record)
  return records
}
