import { expect, test } from 'vitest'
import { createWorkQueue } from '#src/domains/auth/work-queue.ts'

/** A task that ends when it is told to. */
function task() {
  let end = (_error?: Error) => {}
  const ended = new Promise<void>((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve())
  })
  const state = { started: false, end }
  return {
    state,
    work: () => {
      state.started = true
      return ended
    },
  }
}

test('runs so many tasks at a time, lets so many wait, and turns others away at once', async () => {
  const queue = createWorkQueue({ running: 2, waiting: 1 })
  const [first, second, third] = [task(), task(), task()]
  const running = [queue.run(first.work), queue.run(second.work), queue.run(third.work)]
  await expect(queue.run(task().work)).rejects.toMatchObject({ code: 'OVERLOADED', status: 503 })
  expect([first, second, third].map(({ state }) => state.started)).toEqual([true, true, false])
  first.state.end()
  await running[0]
  expect(third.state.started).toBe(true)
  second.state.end()
  third.state.end()
  await Promise.all(running)
})

test('goes on after a task that fails', async () => {
  const queue = createWorkQueue({ running: 1, waiting: 1 })
  await expect(queue.run(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
  await expect(queue.run(() => Promise.resolve(7))).resolves.toBe(7)
})
