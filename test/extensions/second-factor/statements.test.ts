import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { createSecretRows, spendRecoveryCode } from '#src/extensions/second-factor/queries.ts'
import { openService } from '#test/setup/open-service.ts'

// Runs on the embedded database alone.

const service = openService()

test('statements that run without an owner', async () => {
  const { database, person } = service
  const db = database.writer
  expect(await spendRecoveryCode(db, person.user.id, randomBytes(32))).toBe(false)
  const secrets = createSecretRows(db)
  expect(await secrets.list(person.user.id, 10)).toEqual([])
  await secrets.replace(person.user.id, randomBytes(8), randomBytes(8))
})
