import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { PATIENCE } from '#test/setup/patience.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

// Runs on a server alone: who waits for whom is the same on both.

/** So many points are worked on at a time, to read them and to write their answers. */
const SLICE = 500

let service: TestApp
let attacker: Person
let neighbour: Person
beforeAll(async () => {
  service = await createTestApp()
  attacker = await newPerson(service.app)
  neighbour = await newPerson(service.app)
})
afterAll(() => service.close())

function ask(count: number, { headers }: Person) {
  const points = Array.from({ length: count }, () => ({ lat: 9, lng: 38.7 }))
  return service.app.inject({ method: 'POST', url: '/advisory/yield/points', headers, payload: { points } })
}

test('each slice of a long call waits for its turn, to be read and to be written, as its body does', async () => {
  const waits = vi.spyOn(service.app.turns, 'next')
  onTestFinished(() => waits.mockRestore())
  const slices = 20
  expect((await ask(slices * SLICE, attacker)).statusCode).toBe(200)
  expect(waits).toHaveBeenCalledTimes(1 + 2 * slices)
})

test('a short call is answered before the long ones of another caller that came before it', async () => {
  const order: string[] = []
  const long = Array.from({ length: 5 }, async () => {
    await ask(5000, attacker)
    order.push('long')
  })
  const short = ask(100, neighbour).then(() => order.push('short'))
  await Promise.all([...long, short])
  expect(order[0]).toBe('short')
})

test('a long line for the turns of the process is not taken for a database that does not answer', async () => {
  const busy = await createTestApp({ settings: { STATEMENT_TIMEOUT_MS: '200', RELEASE_MAX_AGE_MS: '60000' } })
  onTestFinished(() => busy.close())
  const point = { lat: 9, lng: 38.7, country_code: 'eth', crop: 'wheat' }
  const askHere = () =>
    busy.app.inject({ method: 'POST', url: '/advisory/yield/points', payload: { points: [point] } })
  // From now on it is answered from memory.
  await expect.poll(async () => (await askHere()).statusCode, PATIENCE).toBe(200)
  let over = false
  async function compete(network: string): Promise<void> {
    while (!over) {
      await busy.app.turns.next({ network, caller: network })
      const until = performance.now() + 2
      while (performance.now() < until);
    }
  }
  const competing = Array.from({ length: 300 }, (_, number) => compete(`network ${number}`))
  const began = performance.now()
  const { statusCode } = await askHere()
  const waitedMs = performance.now() - began
  over = true
  await Promise.all(competing)
  expect(waitedMs).toBeGreaterThan(busy.app.config.STATEMENT_TIMEOUT_MS)
  expect(statusCode).toBe(200)
})
