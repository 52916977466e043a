import { expect, test } from 'vitest'
import type { Point } from '../../../web/parts/csv.ts'
import { adviseAll } from '../../../web/points/batches.ts'
import { ApiFailure } from '../../../web/shell/api.ts'

test('a call that is refused for now is sent again, and later each time', async () => {
  const refusals = [503, 0, 429]
  const { answers, waits } = await all(async (lines) => {
    const status = refusals.shift()
    if (status !== undefined) throw new ApiFailure(status, {})
    return lines
  })
  expect([answers.length, waits]).toEqual([2500, [1000, 2000, 4000]])
})

test.each([400, 503])('what is refused for good ends it: %d', async (status) => {
  let calls = 0
  const refuse = async () => {
    calls++
    throw new ApiFailure(status, { error: 'No.' })
  }
  await expect(all(refuse)).rejects.toThrow('No.')
  expect(calls).toBe(status === 400 ? 1 : 5)
})

test('an answer that is not whole is no answer', async () => {
  await expect(all(async (lines) => lines.slice(0, lines.indexOf('\n') + 1))).rejects.toThrow(
    '1 answers to 1000 points',
  )
})

/** Answers each point with its id, and takes down how many came at once. */
function echo(calls: number[]) {
  return async (lines: string) => {
    calls.push(lines.split('\n').length - 1)
    return lines
  }
}

test('it stops where it is told to', async () => {
  const stopping = new AbortController()
  const calls: number[] = []
  const send = async (lines: string) => {
    stopping.abort()
    return echo(calls)(lines)
  }
  await expect(all(send, stopping.signal)).rejects.toThrow('aborted')
  expect(calls).toEqual([1000])
})

const POINTS: Point[] = Array.from({ length: 2500 }, (_, index) => ({ id: String(index), lat: 9, lng: 38 }))

async function all(send: (lines: string) => Promise<string>, signal = new AbortController().signal) {
  const waits: number[] = []
  const wait = async (milliseconds: number) => waits.push(milliseconds)
  const answers = []
  for await (const some of adviseAll({ points: POINTS, send, signal, wait })) answers.push(...some)
  return { answers, waits }
}
