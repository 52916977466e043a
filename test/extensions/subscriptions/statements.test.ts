import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { deleteOldDeliveries, renewClaim } from '#src/extensions/subscriptions/delivery-queries.ts'
import { openService } from '#test/setup/open-service.ts'

/* Timers send these, and no other test waits for them. */

const service = openService()

test('a claim is renewed, and deliveries are deleted, where there are none', async () => {
  const { writer } = service.database
  await expect(renewClaim(writer, randomUUID())).resolves.not.toThrow()
  await expect(deleteOldDeliveries(writer)).resolves.not.toThrow()
})
