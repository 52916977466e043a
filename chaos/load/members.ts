import { randomUUID } from 'node:crypto'
import { isSuccess, type Reply } from '#bench/load/client.ts'
import { type Asking, type Caller, callerOf, comparable, compare } from './callers.ts'
import type { Asked, Ledger, Plan } from './plan.ts'

/** How often a point that was not answered is asked for again, with the same Idempotency-Key. */
const ATTEMPTS = 3
const RETRY_MS = 1000

/** Points with a key, each under a name of its own: what is acknowledged is in the history, once. */
export function keeper(asking: Asking, { keptPoint, account }: Plan, ledger: Ledger): Caller {
  return callerOf(100, async () => {
    const name = randomUUID()
    ledger.named.push(name)
    const sent = {
      path: keptPoint.path,
      body: { ...keptPoint.body, name },
      headers: { 'idempotency-key': name },
    }
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const reply = await asking('kept point', sent, account.key, ({ body }) =>
        compare(comparable(body).replace(name, 'Point'), keptPoint.answers),
      )
      if (isSuccess(reply)) {
        const { history_id: id } = JSON.parse(reply.body)
        if (id !== undefined) ledger.kept.push([id, name])
        return
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  })
}

/** Reads the newest page: what was deleted is not there, and nothing is there twice or that nobody asked for. */
export function historyReader(asking: Asking, { account }: Plan, ledger: Ledger): Caller {
  return callerOf(250, async () => {
    const gone = new Set(ledger.deleted)
    await asking(
      'history',
      { method: 'GET', path: '/history/my?limit=20&kind=point' },
      account.key,
      ({ body }) => {
        const { items } = JSON.parse(body) as { items: { id: string; location: { name: string } }[] }
        const names = items.map(({ location }) => location.name)
        if (new Set(names).size < names.length) return { wrong: 'an item is there twice' }
        if (items.some(({ id }) => gone.has(id))) return { wrong: 'a deleted item is there' }
        const asked = new Set(ledger.named)
        return names.every((name) => asked.has(name)) ? {} : { wrong: 'an item that nobody asked for' }
      },
    )
  })
}

/** Rates what was kept. */
export function rater(asking: Asking, { account }: Plan, ledger: Ledger): Caller {
  let turn = 0
  return callerOf(500, async () => {
    // Even ones are rated and odd ones deleted, so that neither is in the other's way.
    const item = ledger.kept[turn]
    if (!item) return
    turn += 2
    const [id] = item
    const rating = 1 + (turn % 5)
    const reply = await asking(
      'feedback',
      { path: `/history/${id}/feedback`, body: { rating } },
      account.key,
      ({ body }) => (JSON.parse(body).rating === rating ? {} : { wrong: body }),
    )
    if (isSuccess(reply)) ledger.rated.push([id, rating])
  })
}

/** Deletes some of what was kept. */
export function deleter(asking: Asking, { account }: Plan, ledger: Ledger): Caller {
  let turn = 1
  return callerOf(700, async () => {
    const item = ledger.kept[turn]
    if (!item) return
    turn += 2
    const [id] = item
    ledger.deleting.push(id)
    const reply = await asking('deletion', { method: 'DELETE', path: `/history/${id}` }, account.key)
    if (isSuccess(reply)) ledger.deleted.push(id)
  })
}

const tokenIn = ({ body }: Reply): Pick<Asked, 'wrong'> =>
  typeof JSON.parse(body).access_token === 'string' ? {} : { wrong: 'no token' }

export function loginCaller(asking: Asking, { visitor: { email, password } }: Plan): Caller {
  return callerOf(1000, async () => {
    await asking('login', { path: '/auth/login', body: { email, password } }, undefined, tokenIn)
  })
}

/** A session is continued so often, and then another one: only so many times are free. */
const STEPS = 50

/** Continues a session, one step after the other. A step that was not answered is repeated. */
export function refresher(asking: Asking, { account }: Plan): Caller {
  const { email, password } = account
  let token = account.refresh_token
  let steps = 0
  let isUnderWay = false
  return callerOf(500, async () => {
    if (isUnderWay) return
    isUnderWay = true
    const reply = await (steps < STEPS
      ? asking('refresh', { path: '/auth/refresh', body: { refresh_token: token } }, undefined, tokenIn)
      : asking('login', { path: '/auth/login', body: { email, password } }, undefined, tokenIn))
    isUnderWay = false
    if (!isSuccess(reply)) return
    token = JSON.parse(reply.body).refresh_token
    steps = steps < STEPS ? steps + 1 : 0
  })
}

/** New accounts: what was acknowledged can log in. */
export function registrar(asking: Asking, ledger: Ledger): Caller {
  let turn = 0
  return callerOf(1000, async () => {
    const account = { email: `${randomUUID()}@example.org`, password: randomUUID(), name: 'Chaos' }
    const sent = { path: '/auth/register', body: account }
    if (isSuccess(await asking('registration', sent, undefined, undefined, addressOf(turn++))))
      ledger.registered.push(account)
  })
}

/** From one address only so many may register. */
function addressOf(turn: number): string {
  return `127.4.${(turn >> 7) % 250}.${1 + (turn % 128)}`
}

/** Makes keys, and ends every other one: those that were ended are no use. */
export function keyHolder(asking: Asking, { account }: Plan, ledger: Ledger): Caller {
  let isEnding = false
  return callerOf(1000, async () => {
    isEnding = !isEnding
    const [last] = ledger.keys
    if (isEnding || !last) {
      const body = '{"name":"chaos"}'
      const reply = await asking('key', { path: '/auth/keys', body }, account.access_token)
      if (isSuccess(reply)) ledger.keys.push(JSON.parse(reply.body))
    } else {
      ledger.keys.shift()
      const path = `/auth/keys/${last.id}`
      const reply = await asking('key', { method: 'DELETE', path }, account.access_token)
      if (isSuccess(reply)) ledger.endedKeys.push(last.key)
    }
  })
}
