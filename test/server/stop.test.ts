import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setInterval } from 'node:timers/promises'
import pg from 'pg'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { whileHeld } from '#test/advice/polygon/held-tiles.ts'
import { createTestDatabase, type TestDatabase } from '#test/setup/database.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { addressOf, startService, type TestProcess } from '#test/setup/service-process.ts'

const POINT = '/advisory/yield/point?lat=9&lng=38.7'
const ACCOUNT = { email: 'a@example.org', password: 'teff grows at dawn', name: 'Amina Bekele' }

let testDatabase: TestDatabase
let service: TestProcess
let address: string

// Who stops it and who keeps it from that is the same on both databases.
describe('a service that is stopped', () => {
  beforeEach(async () => {
    testDatabase = await createTestDatabase('demo')
    service = startService(testDatabase.environment)
    address = await addressOf(service)
  })
  afterEach(() => testDatabase.drop())

  async function post(path: string, headers: Record<string, string> = {}, body?: object): Promise<Answer> {
    const answer = await fetch(`${address}${path}`, {
      method: 'POST',
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      body: body && JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as Answer['body'] }
  }

  /** A connection that a request is sent over, and nothing read from. */
  function send(text: string): Socket {
    const socket = connect(Number(new URL(address).port), '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    socket.pause().write(text)
    return socket
  }

  test('ends with code 0, whatever clients do, and says how many it gave up', async () => {
    const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`
    // Fifty times 600 kB: more than the buffers of both sides take.
    const unread = send(get('/openapi.json').repeat(50))
    const readSlowly = send(get('/openapi.json').repeat(50))
    const sentByHalf = send(`POST ${POINT} HTTP/1.1\r\nHost: x\r\nContent-Length: 999\r\n\r\n{`)
    await Promise.all([unread, readSlowly].map((socket) => once(socket, 'readable')))
    await post(POINT)

    service.signal('SIGTERM')
    for await (const _ of setInterval(100)) {
      sentByHalf.write(' ')
      readSlowly.read(10_000)
      if (readSlowly.destroyed || (await Promise.race([service.ended.then(() => true), undefined]))) break
    }
    // With code 1 it would have ended at its own bound of all.
    expect([await service.ended, service.stderr()]).toEqual([0, ''])
    expect(service.stdout()).toContain('agro: requests that took too long were given up: 3\n')
  })

  test('has written all that it has answered: the history, and what is counted in memory', async () => {
    await post('/auth/register', {}, ACCOUNT)
    const login = await post('/auth/login', {}, ACCOUNT)
    const token = { authorization: `Bearer ${login.body.access_token}` }
    const { body: key } = await post('/auth/keys', token, { name: 'tests' })

    const asked = Array.from({ length: 200 }, (_, call) =>
      post(POINT, call % 2 === 0 ? { authorization: `Bearer ${key.key}` } : {}),
    )
    // Some are answered, others under way.
    await asked[50]
    service.signal('SIGTERM')
    const outcomes = await Promise.allSettled(asked)
    expect(await service.ended).toBe(0)

    const answers = outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? [outcome.value] : []))
    expect(answers.length).toBeGreaterThan(50)
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    const ids = answers.flatMap(({ body }) => body.history_id ?? [])
    const [kept] = await query<{ items: string[] }>(
      'select array_agg(id::text) as items from advisory_history',
    )
    expect(kept?.items).toEqual(expect.arrayContaining(ids))
    const [counts] = await query(
      `select
        (select sum(requests)::int from request_count where operation = 'yieldAtPoint') as points,
        (select sum(requests)::int from api_key_usage) as of_key`,
    )
    expect(counts).toEqual({ points: answers.length, of_key: ids.length })
  })

  test('names an item of a history only once it is stored, so that none is lost where it is killed', async () => {
    await post('/auth/register', {}, ACCOUNT)
    const login = await post('/auth/login', {}, ACCOUNT)
    const token = { authorization: `Bearer ${login.body.access_token}` }
    const waiting = `
      select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
    const keepWaiting = async () => {
      const outcomes = Promise.allSettled(Array.from({ length: 200 }, () => post(POINT, token)))
      await vi.waitUntil(async () => (await query(waiting)).length > 0, PATIENCE)
      service.signal('SIGKILL')
      return await outcomes
    }
    const outcomes = await whileHeld({ testDatabase }, keepWaiting, 'history_item')
    expect(await service.ended).toBe('SIGKILL')
    const named = outcomes.filter(({ status }) => status === 'fulfilled')
    const [kept] = await query<{ items: number }>('select count(*)::int as items from advisory_history')
    expect(named.length).toBeLessThanOrEqual(kept?.items ?? 0)
  })

  async function query<Row>(text: string): Promise<Row[]> {
    const client = new pg.Client(testDatabase.environment.DATABASE_URL)
    await client.connect()
    return (await client.query(text).finally(() => client.end())).rows
  }
})

interface Answer {
  status: number
  body: Record<string, string>
}
