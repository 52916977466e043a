import { expect, onTestFinished, test, vi } from 'vitest'
import { progressIfLong } from '#src/cli/terminal.ts'

test('what is done within two seconds shows nothing', () => {
  expect(shown(false, [0.5, 0.3], [1, 0.6], [2.5, 1])).toBe('')
})

test('what takes longer shows how much time is left, counted from its beginning', () => {
  expect(shown(false, [1, 0.05], [3, 0.1], [15, 0.5], [30, 1])).toBe(
    'deleting x: 10 %, 27 s left\ndeleting x: 50 %, 15 s left\ndeleting x: 100 %\n',
  )
})

test('at a terminal it is one line, which ends with the work', () => {
  const bar = (filled: number) => `[${'#'.repeat(filled)}${'.'.repeat(30 - filled)}]`
  expect(shown(true, [1, 0.1], [3, 0.2], [15, 1])).toBe(
    `\rdeleting x ${bar(6)} 20 %, 12 s left\u001b[K\rdeleting x ${bar(30)} 100 %\u001b[K\n`,
  )
})

/** What is shown of work that is so far done at so many seconds. */
function shown(isTTY: boolean, ...steps: [second: number, done: number][]): string {
  const clock = vi.spyOn(performance, 'now')
  onTestFinished(() => clock.mockRestore())
  let text = ''
  const write = (part: string) => {
    text += part
  }
  const output = { isTTY, write } as unknown as NodeJS.WriteStream
  clock.mockReturnValue(5000)
  const show = progressIfLong('deleting x', output)
  for (const [second, done] of steps) {
    clock.mockReturnValue(5000 + 1000 * second)
    show(done)
  }
  return text
}
