import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { abandonMessage, claimMessage, deleteOldMessages } from '#src/extensions/messages/queries.ts'
import { openService } from '#test/setup/open-service.ts'

// Runs on the embedded database alone: what these statements are for is tested on a server.

const service = openService()

test('statements of messages', async () => {
  const db = service.database.writer
  const received = { id: randomBytes(32), sender: randomBytes(32) }
  const rules = { mostADay: 1, isStop: false, wakes: false }
  expect(await claimMessage(db, received, rules)).toMatchObject({ claimed: true, today: 0, offer: null })
  expect(await claimMessage(db, received, rules)).toMatchObject({ claimed: false, reply: null })
  await abandonMessage(db, received)
  expect(await deleteOldMessages(db, 10)).toBe(0)
})
