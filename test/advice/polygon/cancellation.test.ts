import { type AddressInfo, connect } from 'node:net'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { readUntil } from '#src/data/cancellable.ts'
import type { App } from '#src/http/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { createTestAppWithPerson, type TestAppWithPerson } from '#test/setup/people.ts'
import { askWithin } from './ask.ts'
import { statementsRunning, whileHeld } from './held-tiles.ts'
import { ringOf } from './shapes.ts'

// Runs on a server alone: a statement of the embedded database cannot be interrupted, and is waited for.

const FIELD = { geometry: { type: 'Polygon', coordinates: [ringOf('38 9, 39 9, 39 10, 38 9')] } }

/** The level as the log has it. */
const INFO = 30

let service: TestAppWithPerson
beforeAll(async () => {
  service = await createTestAppWithPerson({ settings: { POLYGON_TIMEOUT_MS: '3000' } })
})
afterAll(() => service.close())

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

test('a request that takes too long is answered 503, and lets go of the database', async () => {
  await whileHeld(service, async () => {
    const { status, headers, body } = await askWithin(service.app, service.person, 'yield', FIELD)
    expect(status).toBe(503)
    expect(body.code).toBe('QUERY_TIMEOUT')
    expect(headers['retry-after']).toBe('1')
    await vi.waitUntil(async () => (await statementsRunning(service)) === 0, PATIENCE)
  })
})

test('a request whose client goes away lets go of the database before its time is up, and is no failure', async () => {
  // Its time is up long after the waiting for its end is.
  const patient = await createTestAppWithPerson({ settings: { LOG_LEVEL: 'info' } })
  onTestFinished(() => patient.close())
  const logged = vi.spyOn(logStreamOf(patient.app), 'write').mockReturnValue(true)
  await patient.app.listen({ port: 0 })
  const started = vi.fn()
  const body = JSON.stringify(FIELD)
  await whileHeld(patient, async () => {
    const socket = connect((patient.app.server.address() as AddressInfo).port)
    socket.write(
      'POST /advisory/yield HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n' +
        `Authorization: ${patient.person.headers.authorization}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await vi.waitUntil(async () => (await statementsRunning(patient)) === 1, PATIENCE)
    started()
    socket.destroy()
    await vi.waitUntil(async () => (await statementsRunning(patient)) === 0, PATIENCE)
  })
  expect(started).toHaveBeenCalled()
  const line = await vi.waitUntil(
    () => logged.mock.calls.flat().find((text) => text.includes('The client has gone away.')),
    PATIENCE,
  )
  expect(JSON.parse(line)).toMatchObject({ level: INFO, msg: 'The client has gone away.' })
})

/** What the service writes its log to. */
function logStreamOf({ log }: App): { write(line: string): boolean } {
  const symbol = Object.getOwnPropertySymbols(log).find(({ description }) => description === 'pino.stream')
  if (!symbol) throw new Error('the log has no stream')
  return Reflect.get(log, symbol)
}

test('the next request is answered', async () => {
  const { status } = await askWithin(service.app, service.person, 'yield', FIELD)
  expect(status).toBe(200)
})
