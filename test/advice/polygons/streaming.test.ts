import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { askWithin } from '#test/advice/polygon/ask.ts'
import { statementsRunning, whileHeld } from '#test/advice/polygon/held-tiles.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import {
  createTestAppWithPerson,
  newPerson,
  type Person,
  type TestAppWithPerson,
} from '#test/setup/people.ts'
import { askForMany, collectionOf, linesOf, rowsOf } from './ask.ts'

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

test('the answer for many polygons: two of a call are computed at once, and the polygon of another caller does not wait for the others', async () => {
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

test('the answer for many polygons: begins with what is known while the rest is computed, and is cut where that fails', async () => {
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
  await expect(text(response as IncomingMessage)).rejects.toThrow('aborted')
  expect(response?.complete).toBe(false)
})

test('the answer for many polygons: is whole where the client takes it to its end', async () => {
  const lines = linesOf(await text(await begin(newFields(300))))
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

describe('where polygons have a second, and one place', () => {
  let narrow: TestAppWithPerson
  beforeAll(async () => {
    narrow = await createTestAppWithPerson({
      settings: { POLYGON_TIMEOUT_MS: '1000', DATABASE_POOL_SIZE: '3' },
    })
  })
  afterAll(() => narrow.close())

  const ask = (person: Person, features: object[]) =>
    askForMany(narrow.app, person, 'yield', collectionOf(features), { accept: NDJSON })
  const codesIn = (body: string) => linesOf(body).map(({ code }) => code)

  test('what takes too long is the error of its polygon alone', async () => {
    const known = newFields(1)
    await ask(narrow.person, known)
    await whileHeld(narrow, async () => {
      const { body } = await ask(narrow.person, [...newFields(2), ...known])
      expect(codesIn(body)).toEqual(['QUERY_TIMEOUT', 'QUERY_TIMEOUT', undefined])
    })
  })

  test('an answer is whole beside a caller whose polygons take all of their time', async () => {
    const known = newFields(3)
    await ask(narrow.person, known)
    const hostile = await newPerson(narrow.app)
    await whileHeld(narrow, async () => {
      const slow = ask(hostile, newFields(4))
      slow.catch(() => {})
      await vi.waitUntil(async () => (await statementsRunning(narrow)) === 1, PATIENCE)
      const { statusCode, body } = await ask(narrow.person, known)
      expect([statusCode, codesIn(body)]).toEqual([200, Array(3).fill(undefined)])
      expect(codesIn((await slow).body)).toEqual(Array(4).fill('QUERY_TIMEOUT'))
    })
  })
})

/** More than are read at once. */
const AREAS = 120
const READ_AT_ONCE = 100

const CODES = Array.from({ length: AREAS }, (_, index) => `ET-${String(index).padStart(3, '0')}`)

async function loadAreas({ database }: TestAppWithPerson): Promise<void> {
  const areas = CODES.map((code, index) => {
    const [west, south] = [38 + (index % 12) / 50, 9 + Math.floor(index / 12) / 50]
    return feature({ code, name: `Area ${index}` }, rectangle(west, south, west + 0.02, south + 0.02))
  })
  await loadFile(database, await boundaryFile(areas), 'eth', 1)
}

/** The locks that statements wait for at a table. */
function waitingFor(table: string) {
  return sql`pg_locks join pg_database on oid = database
    where relation = ${table}::regclass and not granted and datname = current_database()`
}

/** Waits until so many statements about a table wait for it. */
async function untilReading(
  { database }: TestAppWithPerson,
  table: string,
  statements: number,
): Promise<void> {
  const waiting = sql<{ count: number }>`select count(*)::integer as count from ${waitingFor(table)}`
  await vi.waitFor(async () => {
    const { rows } = await waiting.execute(database.writer)
    expect(rows[0]?.count).toBe(statements)
  }, PATIENCE)
}

/** Has the server end all statements that wait for a table, until there is an answer without them. */
async function cancelUntil<Answer>(
  { database }: TestAppWithPerson,
  table: string,
  answer: Promise<Answer>,
): Promise<Answer> {
  const cancel = sql`select pg_cancel_backend(pid) from ${waitingFor(table)}`
  let isAnswered = false
  const end = () => {
    isAnswered = true
  }
  answer.then(end, end)
  await vi.waitFor(async () => {
    await cancel.execute(database.writer)
    expect(isAnswered).toBe(true)
  }, PATIENCE)
  return answer
}

function askForAreas({ app, person }: TestAppWithPerson, accept = 'application/x-ndjson') {
  return askForMany(app, person, 'yield', { admin: { country_code: 'eth', level: 1 } }, { accept })
}

describe('more areas than are read at once', () => {
  let crowded: TestAppWithPerson
  beforeAll(async () => {
    crowded = await createTestAppWithPerson({
      settings: { DATABASE_POOL_SIZE: '8', DATABASE_QUEUE_LIMIT: '1', POLYGON_TIMEOUT_MS: '60000' },
    })
    await loadAreas(crowded)
  })
  afterAll(() => crowded.close())

  test('are all answered where too many wait for the database by the time that the later ones are read', async () => {
    const { app, person } = crowded
    const history = () => app.inject({ url: '/history/my', headers: person.headers })
    let answer: ReturnType<typeof askForAreas> | undefined
    const others: ReturnType<typeof history>[] = []
    const whileHistoryIsHeld = (work: () => Promise<void>) => whileHeld(crowded, work, 'history_item')
    await whileHistoryIsHeld(async () => {
      await whileHeld(crowded, async () => {
        answer = askForAreas(crowded)
        await untilReading(crowded, 'raster_tile', 2)
        others.push(...Array.from({ length: 8 }, history))
        expect((await Promise.race(others)).json().code).toBe('OVERLOADED')
      })
      const { statusCode, body } = (await answer) as Awaited<ReturnType<typeof askForAreas>>
      expect([statusCode, linesOf(body).map(({ id }) => id)]).toEqual([200, CODES])
    })
    const statuses = (await Promise.all(others)).map(({ statusCode }) => statusCode)
    expect([...new Set(statuses)].sort()).toEqual([200, 503])
  })

  test.each([
    ['application/json', (body: string) => JSON.parse(body).items],
    ['text/csv', (body: string) => rowsOf(body)],
    [
      'application/geo+json',
      (body: string) =>
        JSON.parse(body).features.map(({ id, properties }: { id: string; properties: object }) => ({
          id,
          ...properties,
        })),
    ],
  ])('end with an item that says why where the later ones cannot be read: %s', async (accept, itemsIn) => {
    const { database } = crowded
    await askForAreas(crowded)
    await sql`
      delete from area_result using admin_area
      where admin_area_id = admin_area.id and code = ${CODES[0]}`.execute(database.writer)
    const { statusCode, body } = await whileHeld(crowded, async (client) => {
      const answer = askForAreas(crowded, accept)
      await untilReading(crowded, 'raster_tile', 1)
      const cutOff = async () => {
        await client.query('rollback')
        return cancelUntil(crowded, 'admin_area', answer)
      }
      return whileHeld(crowded, cutOff, 'admin_area')
    })
    const items = itemsIn(body)
    expect(statusCode).toBe(200)
    expect(items.slice(0, -1).map(({ id }: { id: string }) => id)).toEqual(CODES.slice(0, READ_AT_ONCE))
    const { id, code } = items.at(-1)
    expect([id || undefined, code]).toEqual([undefined, 'DATABASE_UNAVAILABLE'])
  })
})

describe('many polygons', () => {
  const FIELDS = CODES.slice(0, 4).map((id, index) => ({
    ...feature({}, rectangle(38 + index, 9, 38.1 + index, 9.1)),
    id,
  }))

  function askAbout(fields: object[]) {
    const { app, person } = service
    return askForMany(app, person, 'yield', collectionOf(fields), { accept: 'application/x-ndjson' })
  }

  function askForDataValues(fields: object[]) {
    const { app, person } = service
    const dhis2 = { data_elements: [{ column: 'yield_kg_ha Normal', data_element: 'fbfJHSPpUQD' }] }
    return askForMany(app, person, 'yield', { polygons: collectionOf(fields), format: 'dhis2', dhis2 })
  }

  /** Has the server end whatever reads tiles for an answer. */
  function withoutTiles(fields: object[], asking = askAbout) {
    return whileHeld(service, () => cancelUntil(service, 'raster_tile', asking(fields)))
  }

  test('are refused where the tiles of the first cannot be read', async () => {
    const { statusCode, body } = await withoutTiles(FIELDS)
    expect([statusCode, JSON.parse(body).code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
  })

  test('end with an item that says why where the tiles of a later one cannot be read', async () => {
    const known = linesOf((await askAbout(FIELDS.slice(0, 2))).body)
    const { statusCode, body } = await withoutTiles(FIELDS)
    expect(statusCode).toBe(200)
    expect(linesOf(body)).toEqual([...known, { error: expect.any(String), code: 'DATABASE_UNAVAILABLE' }])
  })

  test('are cut off there in a data value set, which would seem whole', async () => {
    expect((await askForDataValues(FIELDS.slice(0, 2))).statusCode).toBe(200)
    await expect(withoutTiles(FIELDS, askForDataValues)).rejects.toThrow('response destroyed')
  })
})
