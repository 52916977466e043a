import { randomUUID } from 'node:crypto'
import { ask, isSuccess, type Reply, type Sent } from '#bench/load/client.ts'
import { client, planFor } from './load/load.ts'
import type { Plan } from './load/plan.ts'

/** An account that goes to and fro between two processes, and what did not hold on its way. */
interface Crossing {
  one: number
  other: number
  plan: Plan
  expect(holds: boolean, reply: Reply, otherwise: string): void
}

/**
 * What somebody has from one of two processes has to be worth the same at the other, and what one of them ended has to
 * be over at the other.
 *
 * @param one the port of the process where the account is made
 * @returns what does not hold, a sentence each
 */
export async function tryCrossings(one: number, other: number, known: Plan['known']): Promise<string[]> {
  const mistakes: string[] = []
  const crossing: Crossing = {
    one,
    other,
    plan: await planFor(one, known),
    expect(holds, { status, body }, otherwise) {
      if (!holds) mistakes.push(`${otherwise} (${status} ${body.slice(0, 200)})`)
    },
  }
  await crossWithHistory(crossing)
  await crossWithSession(crossing)
  await crossWithPassword(crossing)
  return mistakes
}

async function crossWithHistory({ one, other, plan, expect }: Crossing): Promise<void> {
  const { account, keptPoint } = plan
  const headers = { 'idempotency-key': randomUUID() }
  const point = { path: keptPoint.path, body: JSON.stringify(keptPoint.body), headers }
  const kept = await send(one, account.key, point)
  const again = await send(other, account.key, point)
  expect(again.body === kept.body, again, 'a point was answered anew in spite of its Idempotency-Key')
  const path = `/history/${fieldOf(kept, 'history_id')}`
  await send(other, account.key, { path: `${path}/feedback`, body: '{"rating":4}' })
  const rated = await send(one, account.key, { method: 'GET', path })
  expect(/"rating":4\b/.test(rated.body), rated, 'feedback was not there')
  await send(one, account.key, { method: 'DELETE', path })
  const deleted = await send(other, account.key, { method: 'GET', path })
  expect(deleted.status === 404, deleted, 'an item that was deleted was there')
}

/** No process may have seen the token that it is to refuse: callers are remembered for some seconds. */
async function crossWithSession({ one, other, plan: { account }, expect }: Crossing): Promise<void> {
  const refresh = (port: number, token: string) =>
    send(port, undefined, { path: '/auth/refresh', body: { refresh_token: token } })
  const continued = await refresh(other, account.refresh_token)
  expect(continued.status === 200, continued, 'a session could not be continued')
  const back = await refresh(one, fieldOf(continued, 'refresh_token'))
  expect(back.status === 200, back, 'a session could not be continued where it was begun')

  const token = fieldOf(back, 'access_token')
  const key = await send(one, token, { path: '/auth/keys', body: '{"name":"chaos"}' })
  expect(key.status === 201, key, 'no key could be made')
  await send(one, token, { method: 'DELETE', path: `/auth/keys/${fieldOf(key, 'id')}` })
  const ended = await send(other, fieldOf(key, 'key'), { method: 'GET', path: '/history/my' })
  expect(ended.status === 401, ended, 'a key that was ended was of use')

  const loggedOut = await send(one, token, { path: '/auth/logout' })
  expect(loggedOut.status === 204, loggedOut, 'a session could not be ended')
  const late = await send(other, token, { method: 'GET', path: '/user/profile' })
  expect(late.status === 401, late, 'a session that was ended went on')
  const revived = await refresh(other, fieldOf(back, 'refresh_token'))
  const use = await send(other, fieldOf(revived, 'access_token'), { method: 'GET', path: '/user/profile' })
  expect(use.status === 401, use, 'a session that was ended could be continued')
}

async function crossWithPassword({ one, other, plan: { account }, expect }: Crossing): Promise<void> {
  const { email, password } = account
  const login = (port: number, given: string) =>
    send(port, undefined, { path: '/auth/login', body: { email, password: given } })
  const newPassword = randomUUID()
  const changed = await send(other, fieldOf(await login(other, password), 'access_token'), {
    path: '/auth/password',
    body: { current_password: password, new_password: newPassword },
  })
  expect(isSuccess(changed), changed, 'the password could not be changed')
  const old = await login(one, password)
  expect(old.status === 401, old, 'the password of before was of use')
  const right = await login(one, newPassword)
  expect(right.status === 200, right, 'the new password was of no use')
  await send(one, fieldOf(right, 'access_token'), {
    method: 'DELETE',
    path: '/user/profile',
    body: { password: newPassword },
  })
  const gone = await login(other, newPassword)
  expect(gone.status === 401, gone, 'an account that was deleted was there')
}

function send(port: number, token: string | undefined, sent: Sent): Promise<Reply> {
  return ask(client(port, token), sent)
}

/** What a success has under a name. */
function fieldOf(reply: Reply, name: string): string {
  return isSuccess(reply) ? JSON.parse(reply.body)[name] : ''
}
