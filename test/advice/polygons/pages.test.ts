import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { whileHeld } from '#test/advice/polygon/held-tiles.ts'
import { boundaryFile, feature, loadFile, rectangle } from '#test/setup/boundaries.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askForMany, collectionOf, linesOf, rowsOf } from './ask.ts'

// Runs on a server alone: on the one connection of the embedded database nothing goes on beside what holds tables.

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

function ask({ app, person }: TestAppWithPerson, accept = 'application/x-ndjson') {
  return askForMany(app, person, 'yield', { admin: { country_code: 'eth', level: 1 } }, { accept })
}

describe('more areas than are read at once', () => {
  let service: TestAppWithPerson
  beforeAll(async () => {
    service = await createTestAppWithPerson({
      settings: { DATABASE_POOL_SIZE: '8', DATABASE_QUEUE_LIMIT: '1', POLYGON_TIMEOUT_MS: '60000' },
    })
    await loadAreas(service)
  })
  afterAll(() => service.close())

  test('are all answered where too many wait for the database by the time that the later ones are read', async () => {
    const { app, person } = service
    const history = () => app.inject({ url: '/history/my', headers: person.headers })
    let answer: ReturnType<typeof ask> | undefined
    const others: ReturnType<typeof history>[] = []
    const whileHistoryIsHeld = (work: () => Promise<void>) => whileHeld(service, work, 'history_item')
    await whileHistoryIsHeld(async () => {
      await whileHeld(service, async () => {
        answer = ask(service)
        await untilReading(service, 'raster_tile', 2)
        others.push(...Array.from({ length: 8 }, history))
        expect((await Promise.race(others)).json().code).toBe('OVERLOADED')
      })
      const { statusCode, body } = (await answer) as Awaited<ReturnType<typeof ask>>
      expect([statusCode, linesOf(body).map(({ id }) => id)]).toEqual([200, CODES])
    })
    const statuses = (await Promise.all(others)).map(({ statusCode }) => statusCode)
    expect([...new Set(statuses)].sort()).toEqual([200, 503])
  })

  test.each([
    ['application/x-ndjson', (body: string) => linesOf(body)],
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
    const { database } = service
    await ask(service)
    await sql`
      delete from area_result using admin_area
      where admin_area_id = admin_area.id and code = ${CODES[0]}`.execute(database.writer)
    const { statusCode, body } = await whileHeld(service, async (client) => {
      const answer = ask(service, accept)
      await untilReading(service, 'raster_tile', 1)
      const cutOff = async () => {
        await client.query('rollback')
        return cancelUntil(service, 'admin_area', answer)
      }
      return whileHeld(service, cutOff, 'admin_area')
    })
    const items = itemsIn(body)
    expect(statusCode).toBe(200)
    expect(items.slice(0, -1).map(({ id }: { id: string }) => id)).toEqual(CODES.slice(0, READ_AT_ONCE))
    const { id, code } = items.at(-1)
    expect([id || undefined, code]).toEqual([undefined, 'DATABASE_UNAVAILABLE'])
  })
})

describe('areas whose tiles run into STATEMENT_TIMEOUT_MS', () => {
  let service: TestAppWithPerson
  beforeAll(async () => {
    service = await createTestAppWithPerson({ settings: { STATEMENT_TIMEOUT_MS: '3000' } })
    await loadAreas(service)
  })
  afterAll(() => service.close())

  test('end with an item that says why', async () => {
    expect(linesOf((await ask(service)).body)).toHaveLength(AREAS)
    await sql`
      delete from area_result using admin_area
      where admin_area_id = admin_area.id and code >= ${CODES[40]}`.execute(service.database.writer)
    const { statusCode, body } = await whileHeld(service, () => ask(service))
    const items = linesOf(body)
    expect(statusCode).toBe(200)
    expect(items.map(({ id }) => id)).toEqual([...CODES.slice(0, 40), undefined])
    expect(items.at(-1)).toEqual({ error: expect.any(String), code: 'DATABASE_UNAVAILABLE' })
  })
})

describe('polygons', () => {
  let service: TestAppWithPerson
  beforeAll(async () => {
    service = await createTestAppWithPerson()
  })
  afterAll(() => service.close())

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
