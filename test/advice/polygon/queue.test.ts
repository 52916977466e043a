import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { rectangle } from '#test/setup/boundaries.ts'
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
beforeAll(async () => {
  service = await createTestAppWithPerson({ settings: { POLYGON_TIMEOUT_MS: '60000' } })
  other = await newPerson(service.app)
})
afterAll(() => service.close())

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
  const impatient = await createTestAppWithPerson({ settings: { POLYGON_TIMEOUT_MS: '2000' } })
  onTestFinished(() => impatient.close())
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
