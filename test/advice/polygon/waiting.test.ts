import { type AddressInfo, connect } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { readUntil } from '#src/data/cancellable.ts'
import { createTestApp } from '#test/setup/app.ts'
import { rectangle } from '#test/setup/boundaries.ts'
import { captureLog } from '#test/setup/log.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import {
  createTestAppWithPerson,
  newPerson,
  type Person,
  type TestAppWithPerson,
} from '#test/setup/people.ts'
import { askWithin } from './ask.ts'
import { statementsRunning, whileHeld } from './held-tiles.ts'

// Runs on a server alone: who waits for whom is the same on both.

let fields = 0

/** A field that nobody has asked about before: what it comes to is not remembered. */
function newField() {
  const width = 0.1 + fields++ / 1e5
  return { geometry: rectangle(38.5, 9.5, 38.5 + width, 9.6) }
}

let service: TestAppWithPerson
let other: Person
/** One whose polygons have two seconds. */
let impatient: TestAppWithPerson
let logged: string[]
beforeAll(async () => {
  // Its time is up long after the waiting for anything is.
  const patient = await createTestApp({ settings: { POLYGON_TIMEOUT_MS: '300000', LOG_LEVEL: 'info' } })
  logged = captureLog(patient.app)
  service = { ...patient, person: await newPerson(patient.app) }
  await service.app.listen({ host: '127.0.0.1', port: 0 })
  impatient = await createTestAppWithPerson({
    settings: { POLYGON_TIMEOUT_MS: '2000', RELEASE_MAX_AGE_MS: '0' },
  })
  other = await newPerson(service.app)
})
afterAll(async () => {
  await impatient.close()
  await service.close()
})

test('two polygons of a caller are computed at once, and those of another caller do not wait for more', async () => {
  const asked: ReturnType<typeof askWithin>[] = []
  await whileHeld(service, async () => {
    for (let count = 0; count < 6; count++) {
      asked.push(askWithin(service.app, service.person, 'yield', newField()))
    }
    await vi.waitUntil(async () => (await statementsRunning(service)) === 2, PATIENCE)
    asked.push(askWithin(service.app, other, 'yield', newField()))
    await vi.waitUntil(async () => (await statementsRunning(service)) === 3, PATIENCE)
  })
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual(asked.map(() => 200))
})

test('where too many wait, one of the caller with most is refused at once, and the other caller is answered', async () => {
  const first: ReturnType<typeof askWithin>[] = []
  let last: ReturnType<typeof askWithin> | undefined
  await whileHeld(service, async () => {
    for (let count = 0; count < 103; count++) {
      first.push(askWithin(service.app, service.person, 'yield', newField()))
    }
    last = askWithin(service.app, other, 'yield', newField())
    const refused = await Promise.race(first)
    expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([
      503,
      'OVERLOADED',
      '1',
    ])
    expect(refused.body.error).toBe('Too many polygons are being computed; try again in a second.')
  })
  const statuses = (await Promise.all(first)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 503)).toHaveLength(1)
  expect(statuses.filter((status) => status === 200)).toHaveLength(102)
  expect((await last)?.status).toBe(200)
})

test('a polygon that waits too long for its turn is refused, and not one that is computed for as long', async () => {
  const ask = () => askWithin(impatient.app, impatient.person, 'yield', newField())
  await whileHeld(impatient, async () => {
    const running = [ask(), ask()]
    await vi.waitUntil(async () => (await statementsRunning(impatient)) === 2, PATIENCE)
    const waiting = Array.from({ length: 8 }, ask)
    const codes = (await Promise.all(running)).map(({ body }) => body.code)
    expect(codes).toEqual(['QUERY_TIMEOUT', 'QUERY_TIMEOUT'])
    const { status, body } = await Promise.race(waiting)
    expect([status, body.code]).toEqual([503, 'OVERLOADED'])
  })
})

/** The level as the log has it. */
const INFO = 30

test('what has been aborted is not asked any more', async () => {
  const { ask } = readUntil(service.database, AbortSignal.abort(new Error('gone')))
  await expect(ask(sql`select 1`)).rejects.toThrow('gone')
})

test('a statement is cancelled on the server, and its connection is not used again', async () => {
  const controller = new AbortController()
  const { ask } = readUntil(service.database, controller.signal)
  const asked = ask(sql`select pg_sleep(60), 'to be cancelled'`)
  const failed = expect(asked).rejects.toThrow('enough')
  await vi.waitUntil(async () => (await statementsRunning(service, 'to be cancelled')) === 1, PATIENCE)
  controller.abort(new Error('enough'))
  await failed
  await vi.waitUntil(async () => (await statementsRunning(service, 'to be cancelled')) === 0, PATIENCE)
  const answers = await Promise.all(
    Array.from({ length: 20 }, () =>
      readUntil(service.database, new AbortController().signal).ask(sql`select 1 as x`),
    ),
  )
  expect(answers).toEqual(Array.from({ length: 20 }, () => [{ x: 1 }]))
})

test('a request whose client goes away lets go of the database before its time is up, and is no failure', async () => {
  const started = vi.fn()
  const body = JSON.stringify(newField())
  await whileHeld(service, async () => {
    const socket = connect((service.app.server.address() as AddressInfo).port)
    socket.write(
      'POST /advisory/yield HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
        `Authorization: ${service.person.headers.authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await vi.waitUntil(async () => (await statementsRunning(service)) === 1, PATIENCE)
    started()
    socket.destroy()
    await vi.waitUntil(async () => (await statementsRunning(service)) === 0, PATIENCE)
  })
  expect(started).toHaveBeenCalled()
  const line = await vi.waitUntil(
    () => logged.find((text) => text.includes('The client has gone away.')),
    PATIENCE,
  )
  expect(JSON.parse(line)).toMatchObject({ level: INFO, msg: 'The client has gone away.' })
})

test.each([
  ['a polygon, for its tiles', newField(), 'raster_tile'],
  ['a polygon, for the extents of countries', newField(), 'country'],
  ['a polygon, for what is published', newField(), 'publication'],
  ['an area, for its name', { admin: { country_code: 'eth', code: 'ETH-01' } }, 'admin_area'],
])('POLYGON_TIMEOUT_MS bounds how long %s is waited', async (_, payload, table) => {
  const ask = () => askWithin(impatient.app, impatient.person, 'yield', payload)
  const { status, headers, body } = await whileHeld(impatient, ask, table)
  expect([status, body.code, headers['retry-after']]).toEqual([503, 'QUERY_TIMEOUT', '1'])
  await vi.waitUntil(async () => (await statementsRunning(impatient, table)) === 0, PATIENCE)
  await expect.poll(async () => (await ask()).status, { timeout: 60_000 }).toBe(200)
})
