import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { beforeAll, describe, expect, test } from 'vitest'
import { fieldOf, GEOJSON, keepFields } from '#test/setup/fields.ts'
import { openService } from '#test/setup/open-service.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

// Runs on a server alone: how uploads wait is the same on both.

const service = openService({ settings: { SLOW_CLIENT_MS: '3000' } })

/** Gives up soon. */
const hasty = openService({ settings: { STATEMENT_TIMEOUT_MS: '1500' } })

const TYPE = { 'content-type': GEOJSON }

let url: string

beforeAll(async () => {
  url = await service.app.listen({ port: 0, host: '127.0.0.1' })
})

describe('slow uploads', () => {
  test('of four accounts of one address keep nobody waiting, and go on', async () => {
    await withSlow(await newPeople(4), async (slow) => {
      expect((await put(service.person)).status).toBe(200)
      expect(slow.map(({ status }) => status)).toEqual([undefined, undefined, undefined, undefined])
    })
  })

  test('of all places of a network keep none of another one waiting, and are not cut off for their own', async () => {
    await withSlow(await newPeople(64), async (slow) => {
      const waiting = await put(service.person)
      expect([waiting.status, waiting.body.code, waiting.headers['retry-after']]).toEqual([
        503,
        'OVERLOADED',
        '1',
      ])
      const elsewhere = await put(service.person, 'own', '192.0.2.7')
      expect(elsewhere.status).toBe(200)
      expect(new Set(slow.map(({ status }) => status))).toEqual(new Set([undefined]))
    })
  })

  test('are one at a time of an account: another one is refused', async () => {
    await withSlow([service.person], async ([slow]) => {
      const { status, headers, body } = await put(service.person, 'second')
      expect([status, body.code, slow?.status]).toEqual([503, 'OVERLOADED', undefined])
      expect(Number(headers['retry-after'])).toBeGreaterThan(0)
    })
  })
})

test('an upload whose piece the database does not take is answered before its draft is dropped', async () => {
  const { pool } = hasty.database
  const client = await pool.connect()
  const text = JSON.stringify({ type: 'FeatureCollection', features: [fieldOf('A')] })
  const sending = request(`${await hasty.app.listen({ port: 0, host: '127.0.0.1' })}/fields/hanging`, {
    method: 'PUT',
    headers: { ...hasty.person.headers, ...TYPE, 'content-length': text.length },
  })
  const answered = new Promise<number | undefined>((resolve, reject) => {
    sending.on('response', ({ statusCode }) => resolve(statusCode)).on('error', reject)
  })
  sending.write(text.slice(0, 10))
  try {
    const draft = () => client.query("select from field_collection where name = 'hanging'")
    await expect.poll(async () => (await draft()).rowCount).toBe(1)
    await client.query('begin; lock table field_collection in exclusive mode')
    sending.end(text.slice(10))
    expect(await answered).toBe(503)
    const waiting = () =>
      client.query(
        "select query from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      )
    const dropping = expect.stringContaining("set state = 'gone', changed_at = '-infinity'")
    await expect.poll(async () => (await waiting()).rows).toContainEqual({ query: dropping })
  } finally {
    await client.query('rollback')
    client.release()
  }
})

const put = (by: Person, name = 'own', from = '127.0.0.1') =>
  keepFields(service, name, [fieldOf('A')], { by, from })

/** 10 kB/s: faster than the slowest client that is served. */
const TICK_MS = 50
const TICK = ' '.repeat(500)

interface Slow {
  sending: ClientRequest
  /** The status of its answer; undefined until there is one. */
  status: number | undefined
}

/** Uploads that go on arriving while a test runs. */
async function withSlow(people: Person[], work: (slow: Slow[]) => Promise<void>): Promise<void> {
  const slow = people.map(({ headers }): Slow => {
    const sending = request(`${url}/fields/slow`, {
      method: 'PUT',
      headers: { ...headers, ...TYPE, 'content-length': 100_000_000 },
    })
    const upload: Slow = { sending, status: undefined }
    sending.on('response', (answer: IncomingMessage) => {
      upload.status = answer.statusCode
    })
    sending.on('error', () => {})
    sending.write('{"type":"FeatureCollection","features":[')
    return upload
  })
  const timer = setInterval(() => {
    for (const { sending } of slow) if (!sending.destroyed) sending.write(TICK)
  }, TICK_MS)
  const drafts = () =>
    service.database.pool.query("select from field_collection where name = 'slow' and state = 'draft'")
  try {
    await expect.poll(async () => (await drafts()).rowCount).toBe(people.length)
    await work(slow)
  } finally {
    clearInterval(timer)
    for (const { sending } of slow) sending.destroy()
    await expect.poll(async () => (await drafts()).rowCount).toBe(0)
  }
}

const newPeople = (count: number) => Promise.all(Array.from({ length: count }, () => newPerson(service.app)))
