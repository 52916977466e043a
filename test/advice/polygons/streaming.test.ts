import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { askWithin } from '#test/advice/polygon/ask.ts'
import { statementsRunning, whileHeld } from '#test/advice/polygon/held-tiles.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import {
  createTestAppWithPerson,
  newPerson,
  type Person,
  type TestAppWithPerson,
} from '#test/setup/people.ts'
import { askForMany, collectionOf, linesOf } from './ask.ts'

// Runs on a server alone: on the one connection of the embedded database nothing goes on beside what holds the tiles back.

let fields = 0

/** Fields that nobody has asked about before: what they come to is not remembered. */
function newFields(count: number): object[] {
  return Array.from({ length: count }, () => ({
    type: 'Feature',
    geometry: rectangle(38.5, 9.5, 38.6 + fields++ / 1e5, 9.6),
  }))
}

const NDJSON = 'application/x-ndjson'

describe('the answer for many polygons', () => {
  let service: TestAppWithPerson
  let other: Person
  beforeAll(async () => {
    service = await createTestAppWithPerson({ settings: { POLYGON_TIMEOUT_MS: '60000' } })
    await service.app.listen({ host: '127.0.0.1', port: 0 })
    other = await newPerson(service.app)
  })
  afterAll(() => service.close())

  /** The answer as soon as it begins. */
  async function begin(features: unknown[]): Promise<IncomingMessage> {
    const sent = request({
      agent: false,
      port: (service.app.server.address() as AddressInfo).port,
      method: 'POST',
      path: '/advisory/yield/polygons',
      headers: { ...service.person.headers, 'content-type': 'application/json', accept: NDJSON },
    })
    sent.end(JSON.stringify(collectionOf(features)))
    const [response] = await once(sent, 'response')
    return response
  }

  async function textOf(response: IncomingMessage): Promise<string> {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    return Buffer.concat(chunks).toString()
  }

  test('two of a call are computed at once, and the polygon of another caller does not wait for the others', async () => {
    let many: ReturnType<typeof askForMany> | undefined
    let one: ReturnType<typeof askWithin> | undefined
    await whileHeld(service, async () => {
      many = askForMany(service.app, service.person, 'yield', collectionOf(newFields(20)), { accept: NDJSON })
      many.catch(() => {})
      await vi.waitUntil(async () => (await statementsRunning(service)) === 2, PATIENCE)
      one = askWithin(service.app, other, 'yield', newFields(1)[0] as object)
      await vi.waitUntil(async () => (await statementsRunning(service)) === 3, PATIENCE)
    })
    expect((await one)?.status).toBe(200)
    const lines = linesOf((await many)?.body as string)
    expect(lines.map(({ code }) => code)).toEqual(Array(20).fill(undefined))
  })

  test('begins with what is known while the rest is computed, and is cut where that fails', async () => {
    let response: IncomingMessage | undefined
    await whileHeld(service, async (client) => {
      response = await begin([{ type: 'Feature', id: 'first' }, ...newFields(5)])
      const [first] = await once(response, 'data')
      expect(JSON.parse(first)).toMatchObject({ id: 'first', code: 'INVALID_GEOMETRY' })
      await client.query('alter table raster_tile rename to tile_away')
    })
    onTestFinished(async () => {
      await sql`alter table tile_away rename to raster_tile`.execute(service.database.writer)
    })
    await expect(textOf(response as IncomingMessage)).rejects.toThrow('aborted')
    expect(response?.complete).toBe(false)
  })

  test('is whole where the client takes it to its end', async () => {
    const lines = linesOf(await textOf(await begin(newFields(300))))
    expect(lines.map(({ code, location }) => [code, (location as { type: string }).type])).toEqual(
      Array(300).fill([undefined, 'polygon']),
    )
  })

  test('what is asked again is answered without its tiles', async () => {
    const collection = collectionOf(newFields(3))
    const ask = () => askForMany(service.app, service.person, 'yield', collection)
    const first = (await ask()).json()
    await whileHeld(service, async () => expect((await ask()).json()).toEqual(first))
  })

  test('what takes too long is the error of its polygon alone', async () => {
    const impatient = await createTestAppWithPerson({ settings: { POLYGON_TIMEOUT_MS: '1000' } })
    onTestFinished(() => impatient.close())
    const known = newFields(1)
    await askForMany(impatient.app, impatient.person, 'yield', collectionOf(known))
    await whileHeld(impatient, async () => {
      const features = [...newFields(2), ...known]
      const response = await askForMany(impatient.app, impatient.person, 'yield', collectionOf(features))
      const { items } = response.json()
      expect(items.map(({ code }: { code?: string }) => code)).toEqual([
        'QUERY_TIMEOUT',
        'QUERY_TIMEOUT',
        undefined,
      ])
    })
  })

  test('is whole beside a caller whose polygons take all of their time', async () => {
    // Polygons have one place.
    const narrow = await createTestAppWithPerson({
      settings: { POLYGON_TIMEOUT_MS: '1000', DATABASE_POOL_SIZE: '3' },
    })
    onTestFinished(() => narrow.close())
    const known = collectionOf(newFields(3))
    const ask = (person: Person, collection: object) =>
      askForMany(narrow.app, person, 'yield', collection, { accept: NDJSON })
    await ask(narrow.person, known)
    const hostile = await newPerson(narrow.app)
    await whileHeld(narrow, async () => {
      const slow = ask(hostile, collectionOf(newFields(4)))
      slow.catch(() => {})
      await vi.waitUntil(async () => (await statementsRunning(narrow)) === 1, PATIENCE)
      const { statusCode, body } = await ask(narrow.person, known)
      expect([statusCode, linesOf(body).map(({ code }) => code)]).toEqual([200, Array(3).fill(undefined)])
      expect(linesOf((await slow).body).map(({ code }) => code)).toEqual(Array(4).fill('QUERY_TIMEOUT'))
    })
  })
})
