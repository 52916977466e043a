import { setImmediate } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
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

test('however many long calls there are, one slice is worked on in a turn of the event loop', async () => {
  expect((await ask(1, attacker)).statusCode).toBe(200)
  const calls = 5
  const slices = 20
  let answered = 0
  const answers = Array.from({ length: calls }, async () => {
    const { statusCode } = await ask(slices * SLICE, attacker)
    answered++
    return statusCode
  })
  let turns = 0
  for (; answered < calls; turns++) await setImmediate()
  expect(await Promise.all(answers)).toEqual(Array(calls).fill(200))
  expect(turns).toBeGreaterThanOrEqual(2 * calls * slices)
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
