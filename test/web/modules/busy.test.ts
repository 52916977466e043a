import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { ApiFailure, onBusy, whileBusy } from '../../../web/shell/api.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test.each([
  ['DATABASE_UNAVAILABLE', true],
  ['OVERLOADED', false],
])('a page goes on by itself after minutes of %s, and says what it waits for', async (code, isPreparing) => {
  const said: [seconds: number | null, isPreparing?: boolean][] = []
  onBusy((...one) => said.push(one))
  let refusals = 40
  const answer = whileBusy(async () => {
    if (refusals-- > 0) throw new ApiFailure(503, { code })
    return 'there'
  })
  await vi.runAllTimersAsync()
  expect(await answer).toBe('there')
  const waits = said.filter(([seconds]) => seconds !== null)
  expect(waits.map(([seconds]) => seconds).slice(0, 6)).toEqual([1, 2, 4, 8, 8, 8])
  expect([waits.length, new Set(waits.map(([, one]) => one))]).toEqual([40, new Set([isPreparing])])
  expect(said.at(-1)?.[0]).toBeNull()
})

test('a page says that the service is preparing while any of its calls waits for that', async () => {
  const said: [seconds: number | null, isPreparing?: boolean][] = []
  onBusy((...one) => said.push(one))
  const refusedBy = (...codes: string[]) =>
    whileBusy(async () => {
      const code = codes.shift()
      if (code) throw new ApiFailure(503, { code })
    })
  const all = [refusedBy('DATABASE_UNAVAILABLE', 'DATABASE_UNAVAILABLE'), refusedBy('OVERLOADED')]
  await vi.runAllTimersAsync()
  await Promise.all(all)
  expect(said.map(([, isPreparing]) => isPreparing)).toEqual([true, true, true, undefined])
})

test('a page gives up what is refused for a quarter of an hour', async () => {
  const answer = whileBusy(async () => {
    throw new ApiFailure(503, { error: 'The service is busy.', code: 'OVERLOADED' })
  })
  const refused = expect(answer).rejects.toThrow('The service is busy.')
  await vi.runAllTimersAsync()
  await refused
})
