import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { exportDatabase, importDatabase, REFERENCE } from '#src/extensions/transfer/copy-queries.ts'
import { listRelations } from '#src/extensions/transfer/relation-queries.ts'
import { newFolder } from '#test/setup/folders.ts'
import { openService } from '#test/setup/open-service.ts'
import { useService } from '#test/setup/used-service.ts'

// Runs on the embedded database alone: what these statements are for is tested on a server.

const service = openService({ template: 'demo' })

test('statements of transfer', async () => {
  await useService(service.app)
  const db = service.database.writer
  const file = join(await newFolder(), 'one.agro')
  const written = await exportDatabase(db, file)
  expect(written.history_item?.rows).toBeGreaterThan(0)
  const tables = (await listRelations(db))
    .filter(({ name }) => !REFERENCE.some((replaced) => replaced === name))
    .map(({ name }) => sql.table(name))
  await db.transaction().execute(async (trx) => {
    // Else the audit's trigger keeps its records.
    await sql`set local session_replication_role = replica`.execute(trx)
    await sql`truncate ${sql.join(tables)} cascade`.execute(trx)
  })
  expect(await importDatabase(db, file)).toEqual(written)
})
