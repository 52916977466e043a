import { expect, test } from 'vitest'
import type { Asking } from '#chaos/load/callers.ts'
import { loginCaller } from '#chaos/load/members.ts'
import type { Plan } from '#chaos/load/plan.ts'

test('whoever logs in again and again ends no session that the rest of the load goes on with', async () => {
  const account = { email: 'account@example.org', password: 'a' }
  const visitor = { email: 'visitor@example.org', password: 'v' }
  const sent: object[] = []
  const asking: Asking = async (_, { body = {} }) => {
    sent.push(body as object)
    return { status: 503, headers: {}, body: '', ms: 1 }
  }
  await loginCaller(asking, { account, visitor } as Plan).ask()
  expect(sent).toEqual([visitor])
})
