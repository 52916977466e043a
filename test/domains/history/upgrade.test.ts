import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '#src/database/migrate.ts'
import { createTestAppWithPerson } from '#test/setup/people.ts'
import { keepAt, recordOf } from './advisories.ts'

test('what a history holds before the upgrade is counted by it', async () => {
  const service = await createTestAppWithPerson({ template: 'empty' })
  onTestFinished(() => service.close())
  const db = service.database.writer
  await sql`drop function history_size_in_step cascade`.execute(db)
  await sql`drop table history_size, account_removal`.execute(db)
  for (const table of ['advisory_feedback', 'advisory_history', 'session']) {
    await sql`
      alter table ${sql.table(table)} add constraint ${sql.id(`${table}_user_id_fkey`)}
      foreign key (user_id) references app_user on delete cascade`.execute(db)
  }
  await sql`
    delete from applied_script
    where name in ('0015_history_quota.sql', 'history_size_in_step.sql')`.execute(db)
  const record = recordOf(service.person)
  const bytes = Buffer.byteLength(JSON.stringify(record.request) + JSON.stringify(record.answer))
  await sql`
    insert into advisory_history (
      id, user_id, created_at, kind, product, country_code, releases, request, answer, bytes
    )
    select
      gen_random_uuid(), ${service.person.user.id}, now(), 'point', 'yield', 'eth', '{}',
      ${JSON.stringify(record.request)}, ${JSON.stringify(record.answer)}, ${bytes}
    from generate_series(1, 3)`.execute(db)

  expect(await migrate(db)).toEqual(['0015_history_quota.sql', 'history_size_in_step.sql'])
  await keepAt(service, [[record, new Date()]])
  expect(await db.selectFrom('history_size').selectAll().execute()).toEqual([
    { user_id: service.person.user.id, items: 4, bytes: 4 * bytes },
  ])
})
