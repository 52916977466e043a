// Runs on a server alone: who waits for whom is the same on both.
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { createTestApp, type TestApp } from '#test/setup/app.ts'
import { newPerson, type Person } from '#test/setup/people.ts'

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
