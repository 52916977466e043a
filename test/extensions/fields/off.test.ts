import { expect, test } from 'vitest'
import { withOtherService } from '#test/accounts/other-service.ts'
import { fieldOf, keepFields } from '#test/setup/fields.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService()

test('fields of an account that is deleted while the extension is off do not stay', async () => {
  const { person } = service
  expect((await keepFields(service, 'left', [fieldOf('1')])).status).toBe(200)
  const count = async () => {
    const sql = 'select count(*)::integer as left from field_collection where user_id = $1'
    return (await service.database.pool.query(sql, [person.user.id])).rows[0].left
  }
  expect(await count()).toBe(1)
  await service.database.pool.query('delete from app_user where id = $1', [person.user.id])
  // The first service does not listen, so its jobs do not run.
  await withOtherService(service, { EXTENSIONS: '-fields,-subscriptions' }, async (app) => {
    await app.listen({ host: '127.0.0.1', port: 0 })
    app.jobs.wake('remove-accounts')
    await expect.poll(count).toBe(0)
  })
})
