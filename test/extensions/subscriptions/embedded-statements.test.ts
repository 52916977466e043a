// Runs on the embedded database alone.

import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  claimChanged,
  claimDeliveries,
  deleteOldDeliveries,
  disableSubscription,
  findTimeToNext,
  postpone,
  recordComparison,
  recordDelivered,
  recordFailed,
  releaseClaim,
  renewClaim,
} from '#src/extensions/subscriptions/delivery-queries.ts'
import { createSecretRows } from '#src/extensions/subscriptions/queries.ts'
import { call } from '#test/setup/calls.ts'
import { openService } from '#test/setup/open-service.ts'

const service = openService()

test('of subscriptions and what is delivered', async () => {
  const db = service.database.writer
  const threshold = { kind: 'relative', value: 10 }
  const payload = { product: 'yield', lat: 9.5, lng: 38.5, threshold, url: 'https://hooks.example.org/agro' }
  const made = await call(service.app, 'POST /subscriptions', { by: service.person, payload })
  expect(made.status).toBe(201)
  const { id } = made.body
  const [row] = await createSecretRows(db).list(undefined, 10)
  const [secret] = row?.sealed ?? []
  await createSecretRows(db).replace(id, secret as Buffer, secret as Buffer)
  expect(await createSecretRows(db).list(id, 10)).toEqual([])

  await db.updateTable('subscription').set({ release: null }).execute()
  const [changed] = await claimChanged(db, 10, false)
  expect(changed).toMatchObject({ id, before: null })
  await renewClaim(db, id)
  await postpone(db, id, 0)
  const message = { id: randomUUID(), body: '{}', notified: [] }
  await recordComparison(db, { id, before: null, after: changed?.after ?? null }, message)
  expect(await findTimeToNext(db)).toBeLessThanOrEqual(0)
  const claim = async () =>
    (await claimDeliveries(db, 1, 1))?.[0] as NonNullable<Awaited<ReturnType<typeof claimDeliveries>>>[number]
  await releaseClaim(db, await claim())
  const delivery = await claim()
  expect(delivery.id).toBe(message.id)
  await recordFailed(db, delivery, 0)
  await recordDelivered(db, delivery)
  await disableSubscription(db, id, 'gone')
  await deleteOldDeliveries(db)
})
