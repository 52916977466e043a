import { randomBytes } from 'node:crypto'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService({ settings: { EXTENSIONS: EXTENSIONS.map(({ name }) => `-${name}`).join() } })

test('messages are deleted in time also where the extension is off', async () => {
  const db = service.database.writer
  await sql`
    insert into message (id, sender, arrived_at)
    values (${randomBytes(32)}, ${randomBytes(32)}, now() - interval '3 days')`.execute(db)
  service.app.jobs.wake('delete-old-messages')
  await expect.poll(() => db.selectFrom('message').select('id').execute()).toEqual([])
})
