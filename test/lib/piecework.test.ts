import { expect, test, vi } from 'vitest'
import { createPiecework } from '#src/http/background-work.ts'
import { PATIENCE } from '#test/setup/patience.ts'

/** Pieces that end when they are told to. */
function work() {
  const ends: ((more: boolean | Error) => void)[] = []
  const sorry = vi.fn()
  let most = 0
  let running = 0
  const piecework = createPiecework(async () => {
    most = Math.max(most, ++running)
    const outcome = await new Promise<boolean | Error>((resolve) => ends.push(resolve))
    running--
    if (outcome instanceof Error) throw outcome
    return outcome
  }, sorry)
  const begun = (pieces: number) => vi.waitFor(() => expect(ends).toHaveLength(pieces), PATIENCE)
  return { ...piecework, ends, begun, sorry, most: () => most }
}

test('pieces follow one another until there is no more, however often work is begun', async () => {
  const { begin, begun, ends, end, most } = work()
  begin()
  begin()
  await begun(1)
  ends[0]?.(true)
  await begun(2)
  ends[1]?.(true)
  await begun(3)
  ends[2]?.(false)
  await end()
  expect([ends.length, most()]).toEqual([3, 1])
})

test('what comes while the last piece is under way is done after it', async () => {
  const { begin, begun, ends, end } = work()
  begin()
  await begun(1)
  begin()
  ends[0]?.(false)
  await begun(2)
  ends[1]?.(false)
  await end()
  expect(ends).toHaveLength(2)
})

test('a piece that fails ends the work, until it is begun again', async () => {
  const { begin, begun, ends, end, sorry } = work()
  const error = new Error('no')
  begin()
  await begun(1)
  ends[0]?.(error)
  await vi.waitFor(() => expect(sorry.mock.calls).toEqual([[error]]), PATIENCE)
  begin()
  await begun(2)
  ends[1]?.(false)
  await end()
  expect(sorry).toHaveBeenCalledTimes(1)
})

test('the end waits for the piece that is under way, and no other begins', async () => {
  const { begin, begun, ends, end, sorry } = work()
  begin()
  await begun(1)
  let ended = false
  const ending = end().then(() => {
    ended = true
  })
  await Promise.resolve()
  expect(ended).toBe(false)
  ends[0]?.(true)
  await ending
  begin()
  expect([ends.length, sorry.mock.calls]).toEqual([1, []])
})
