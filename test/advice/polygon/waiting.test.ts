import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { sql } from 'kysely'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { loadConfig } from '#src/config.ts'
import { readUntil } from '#src/data/cancellable.ts'
import { loadRelease } from '#src/ingest/load.ts'
import { askForMany, collectionOf, linesOf, rowsOf } from '#test/advice/polygons/ask.ts'
import { startApp } from '#test/setup/app.ts'
import { begin, beginAnswer } from '#test/setup/begun-answers.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { call } from '#test/setup/calls.ts'
import { captureLog } from '#test/setup/log.ts'
import { openFor, openService } from '#test/setup/open-service.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person, type TestAppWithPerson } from '#test/setup/people.ts'
import { realYield } from '#test/setup/releases.ts'
import { askWithin } from './ask.ts'
import { statementsRunning, whileHeld } from './held-tiles.ts'

// Runs on a server alone: on the one connection of the embedded database nothing goes on beside what holds the tiles back.

let fields = 0

/** Fields that nobody has asked about before: what they come to is not remembered. */
function newFields(count: number): { type: 'Feature'; geometry: object }[] {
  return Array.from({ length: count }, () => ({
    type: 'Feature',
    geometry: rectangle(38.5, 9.5, 38.6 + fields++ / 1e5, 9.6),
  }))
}

const newField = () => ({ geometry: newFields(1)[0]?.geometry })

const NDJSON = 'application/x-ndjson'

// Its time is up long after the waiting for anything is.
const service = openService({ settings: { POLYGON_TIMEOUT_MS: '300000', LOG_LEVEL: 'info' } })
/** One on the same database whose polygons have a second, and one place. */
const narrow: TestAppWithPerson = openFor(async () => {
  const { testDatabase } = service
  const settings = { POLYGON_TIMEOUT_MS: '1000', DATABASE_POOL_SIZE: '3', RELEASE_MAX_AGE_MS: '0' }
  const opened = await startApp(loadConfig({ ...testDatabase.environment, ...settings }))
  return { ...opened, testDatabase, person: await newPerson(opened.app) }
})
let other: Person
let logged: string[]
beforeAll(async () => {
  // The statements that are counted are those of requests.
  await sql`
    insert into area_claim
    select release.id, admin_area.id, 'infinity' from release cross join admin_area`.execute(
    service.database.writer,
  )
  logged = captureLog(service.app)
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  other = await newPerson(service.app)
})

const askAboutOne = ({ app, person }: TestAppWithPerson, by = person) =>
  askWithin(app, by, 'yield', newField())

const askAboutMany = ({ app, person }: TestAppWithPerson, features: object[], by = person) =>
  askForMany(app, by, 'yield', collectionOf(features), { accept: NDJSON })

const codesIn = (body: string) => linesOf(body).map(({ code }) => code)

test.each<[string, () => Promise<unknown[]>]>([
  [
    'polygons of a caller',
    async () => {
      const answers = await Promise.all(Array.from({ length: 6 }, () => askAboutOne(service)))
      return answers.map(({ body }) => body.code)
    },
  ],
  ['polygons of one call for many', async () => codesIn((await askAboutMany(service, newFields(6))).text)],
])(
  'two %s are computed at once, and the polygon of another caller waits for none of them',
  async (_, ask) => {
    let codes: Promise<unknown[]> | undefined
    let one: ReturnType<typeof askAboutOne> | undefined
    await whileHeld(service, async () => {
      codes = ask()
      codes.catch(() => {})
      await untilRunning(service, 2)
      one = askAboutOne(service, other)
      await untilRunning(service, 3)
    })
    expect(await codes).toEqual(Array(6).fill(undefined))
    expect((await one)?.status).toBe(200)
  },
)

test('where too many wait, one of the caller with most is refused at once, and the other caller is answered', async () => {
  const first: ReturnType<typeof askAboutOne>[] = []
  let last: ReturnType<typeof askAboutOne> | undefined
  await whileHeld(service, async () => {
    for (let count = 0; count < 103; count++) first.push(askAboutOne(service))
    last = askAboutOne(service, other)
    const { status, headers, body } = await Promise.race(first)
    expect([status, headers['retry-after']]).toEqual([503, '1'])
    const error = 'Too many polygons are being computed; try again in a second.'
    expect(body).toMatchObject({ code: 'OVERLOADED', error })
  })
  const statuses = (await Promise.all(first)).map(({ status }) => status)
  expect(statuses.toSorted()).toEqual([...Array(102).fill(200), 503])
  expect((await last)?.status).toBe(200)
})

test('a polygon that waits too long for its turn is refused, and not one that is computed for as long', async () => {
  await whileHeld(narrow, async () => {
    const running = askAboutOne(narrow)
    await untilRunning(narrow, 1)
    const waiting = Array.from({ length: 8 }, () => askAboutOne(narrow))
    expect((await running).body.code).toBe('QUERY_TIMEOUT')
    const { status, body } = await Promise.race(waiting)
    expect([status, body.code]).toEqual([503, 'OVERLOADED'])
  })
})

test.each([
  ['a polygon, for its tiles', newField(), 'raster_tile'],
  ['a polygon, for the extents of countries', newField(), 'country'],
  ['a polygon, for what is published', newField(), 'publication'],
  ['an area, for its name', { admin: { country_code: 'eth', code: 'ETH-01' } }, 'admin_area'],
])('POLYGON_TIMEOUT_MS bounds how long %s is waited', async (_, payload, table) => {
  const ask = () => askWithin(narrow.app, narrow.person, 'yield', payload)
  const { status, headers, body } = await whileHeld(narrow, ask, table)
  expect([status, body.code, headers['retry-after']]).toEqual([503, 'QUERY_TIMEOUT', '1'])
  await untilRunning(narrow, 0, table)
  await expect.poll(async () => (await ask()).status, PATIENCE).toBe(200)
})

test('an answer for many polygons is whole beside a caller whose polygons take all of their time', async () => {
  const known = newFields(3)
  await askAboutMany(narrow, known)
  const hostile = await newPerson(narrow.app)
  await whileHeld(narrow, async () => {
    const slow = askAboutMany(narrow, [...newFields(2), ...known], hostile)
    slow.catch(() => {})
    await untilRunning(narrow, 1)
    const { status, text: body } = await askAboutMany(narrow, known)
    expect([status, codesIn(body)]).toEqual([200, Array(3).fill(undefined)])
    // Each is the error of its polygon alone.
    expect(codesIn((await slow).text)).toEqual([
      'QUERY_TIMEOUT',
      'QUERY_TIMEOUT',
      ...Array(3).fill(undefined),
    ])
  })
})

test('what has been aborted is not asked any more', async () => {
  const { ask } = readUntil(service.database, AbortSignal.abort(new Error('gone')))
  await expect(ask(sql`select 1`)).rejects.toThrow('gone')
})

test('a statement is cancelled on the server, and its connection is not used again', async () => {
  const controller = new AbortController()
  const { ask } = readUntil(service.database, controller.signal)
  const failed = expect(ask(sql`select pg_sleep(60), 'to be cancelled'`)).rejects.toThrow('enough')
  await untilRunning(service, 1, 'to be cancelled')
  const { reader, readPool } = service.database
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where state = 'active' and query like ${'%to be cancelled%'}`.execute(
    reader,
  )
  controller.abort(new Error('enough'))
  await failed
  await untilRunning(service, 0, 'to be cancelled')
  await vi.waitUntil(() => readPool.idleCount === readPool.totalCount, PATIENCE)
  const { signal } = new AbortController()
  const pid = sql<{ pid: number }>`select pg_backend_pid() as pid`
  const asked = Array.from({ length: 20 }, () => readUntil(service.database, signal).ask(pid))
  const found = (await Promise.all(asked)).flat()
  expect(found).toHaveLength(20)
  expect(found).not.toContainEqual(rows[0])
})

test('a request whose client goes away lets go of the database before its time is up, and is no failure', async () => {
  await whileHeld(service, async () => {
    const sent = begin(service.app, 'POST /advisory/yield', {
      by: service.person,
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify(newField()),
    })
    await untilRunning(service, 1)
    sent.destroy()
    await untilRunning(service, 0)
  })
  const msg = 'The client has gone away.'
  const line = await vi.waitUntil(() => logged.find((text) => text.includes(msg)), PATIENCE)
  // The level of what is no failure.
  expect(JSON.parse(line)).toMatchObject({ level: 30, msg })
})

/** The answer for many polygons as soon as it begins. */
async function answerTo(features: object[]): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json', accept: NDJSON }
  const sent = { by: service.person, headers, payload: JSON.stringify(collectionOf(features)) }
  return (await beginAnswer(service.app, 'POST /advisory/yield/polygons', sent)).response
}

describe('the answer for many polygons', () => {
  test('begins with what is known while the rest is computed, and is cut where that fails', async () => {
    let response: IncomingMessage | undefined
    await whileHeld(service, async (client) => {
      response = await answerTo([{ type: 'Feature', id: 'first' }, ...newFields(5)])
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

  test('is whole where the client takes it to its end, and comes again without tiles', async () => {
    const features = newFields(120)
    const first = await text(await answerTo(features))
    expect(codesIn(first)).toEqual(Array(120).fill(undefined))
    await whileHeld(service, async () => expect(await text(await answerTo(features))).toBe(first))
  })
})

function waitingFor(table: string) {
  return sql`pg_locks join pg_database on oid = database
    where relation = ${table}::regclass and not granted and datname = current_database()`
}

async function untilReading({ database }: TestAppWithPerson, table: string, statements: number) {
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

describe('more areas than are read at once', () => {
  const AREAS = 120
  const READ_AT_ONCE = 100
  const CODES = Array.from({ length: AREAS }, (_, index) => `ET-${String(index).padStart(3, '0')}`)

  const crowded = openService({
    template: 'empty',
    prepare: (database) => loadRelease(database, realYield()),
    settings: { DATABASE_POOL_SIZE: '8', DATABASE_QUEUE_LIMIT: '1', POLYGON_TIMEOUT_MS: '60000' },
  })
  beforeAll(async () => {
    const areas = CODES.map((code, index) => {
      const [west, south] = [38 + (index % 12) / 50, 9 + Math.floor(index / 12) / 50]
      return feature({ code, name: `Area ${index}` }, rectangle(west, south, west + 0.02, south + 0.02))
    })
    await loadFile(crowded.database, await boundaryFile(areas), 'eth', 1)
  })

  const askForAreas = (accept = NDJSON) =>
    askForMany(crowded.app, crowded.person, 'yield', { admin: { country_code: 'eth', level: 1 } }, { accept })

  test('are all answered where too many wait for the database by the time that the later ones are read', async () => {
    const { app, person } = crowded
    const history = () => call(app, 'GET /history/my', { by: person })
    let answer: ReturnType<typeof askForAreas> | undefined
    const others: ReturnType<typeof history>[] = []
    const whileHistoryIsHeld = (work: () => Promise<void>) => whileHeld(crowded, work, 'history_item')
    await whileHistoryIsHeld(async () => {
      await whileHeld(crowded, async () => {
        answer = askForAreas()
        await untilReading(crowded, 'raster_tile', 2)
        others.push(...Array.from({ length: 8 }, history))
        expect((await Promise.race(others)).body.code).toBe('OVERLOADED')
      })
      const { status, text: body } = (await answer) as Awaited<ReturnType<typeof askForAreas>>
      expect([status, linesOf(body).map(({ id }) => id)]).toEqual([200, CODES])
    })
    const statuses = (await Promise.all(others)).map(({ status }) => status)
    expect([...new Set(statuses)].sort()).toEqual([200, 503])
  })

  interface Item {
    id: string
    code?: string
  }
  const flat = ({ id, properties }: { id: string; properties: object }) => ({ id, ...properties })

  test.each<[string, (body: string) => Item[]]>([
    ['application/json', (body) => JSON.parse(body).items],
    ['text/csv', (body) => rowsOf(body) as unknown as Item[]],
    ['application/geo+json', (body) => JSON.parse(body).features.map(flat)],
  ])('end with an item that says why where the later ones cannot be read: %s', async (accept, itemsIn) => {
    await askForAreas()
    await sql`
      delete from area_result using admin_area
      where admin_area_id = admin_area.id and code = ${CODES[0]}`.execute(crowded.database.writer)
    const { status, text: body } = await whileHeld(crowded, async (client) => {
      const answer = askForAreas(accept)
      await untilReading(crowded, 'raster_tile', 1)
      const cutOff = async () => {
        await client.query('rollback')
        return cancelUntil(crowded, 'admin_area', answer)
      }
      return whileHeld(crowded, cutOff, 'admin_area')
    })
    const items = itemsIn(body)
    expect(status).toBe(200)
    expect(items.slice(0, -1).map(({ id }) => id)).toEqual(CODES.slice(0, READ_AT_ONCE))
    const { id, code } = items.at(-1) as Item
    expect([id || undefined, code]).toEqual([undefined, 'DATABASE_UNAVAILABLE'])
  })
})

describe('many polygons whose tiles cannot be read', () => {
  const FIELDS = [0, 1, 2, 3].map((index) => ({
    ...feature({}, rectangle(38 + index, 9, 38.1 + index, 9.1)),
    id: `field ${index}`,
  }))

  function askForDataValues(features: object[]) {
    const { app, person } = service
    const dhis2 = { data_elements: [{ column: 'yield_kg_ha Normal', data_element: 'fbfJHSPpUQD' }] }
    return askForMany(app, person, 'yield', { polygons: collectionOf(features), format: 'dhis2', dhis2 })
  }

  const withoutTiles = (asking: () => ReturnType<typeof askForMany>) =>
    whileHeld(service, () => cancelUntil(service, 'raster_tile', asking()))

  test('are refused where they are those of the first', async () => {
    const { status, body } = await withoutTiles(() => askAboutMany(service, FIELDS))
    expect([status, body.code]).toEqual([503, 'DATABASE_UNAVAILABLE'])
  })

  test('end with an item that says why where they are those of a later one', async () => {
    const known = linesOf((await askAboutMany(service, FIELDS.slice(0, 2))).text)
    const { status, text: body } = await withoutTiles(() => askAboutMany(service, FIELDS))
    expect(status).toBe(200)
    expect(linesOf(body)).toEqual([...known, { error: expect.any(String), code: 'DATABASE_UNAVAILABLE' }])
  })

  test('are cut off there in a data value set, which would seem whole', async () => {
    expect((await askForDataValues(FIELDS.slice(0, 2))).status).toBe(200)
    await expect(withoutTiles(() => askForDataValues(FIELDS))).rejects.toThrow('response destroyed')
  })
})

const untilRunning = (on: TestAppWithPerson, count: number, statement?: string) =>
  vi.waitUntil(async () => (await statementsRunning(on, statement)) === count, PATIENCE)
