import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PATIENCE } from './setup/patience.ts'

/** Parts of the text of a test that a slow machine fails, each with what does not. */
const REFUSED: [what: string, find: (text: string) => string[]][] = [
  [
    'waits for less than two minutes: take PATIENCE',
    (text) =>
      [...text.matchAll(/(?:\btimeout: |DefaultTimeout\(|^ *\}, (?=[\d_]{5}))([\d_]+)\b/gm)]
        .filter(([, literal = '']) => Number(literal.replaceAll('_', '')) < PATIENCE.timeout)
        .map(([found]) => found),
  ],
  [
    'waits for as long as Vitest does by default, a second: take PATIENCE',
    (text) =>
      [...text.matchAll(/\bvi\s*\.wait(?:For|Until)\(/g)]
        .map(({ index }) => callAt(text, index))
        .filter((call) => !call.includes('PATIENCE')),
  ],
  [
    'allows an amount of time or of computing: count, or prove an order',
    (text) => text.match(/\b(?:cpuUsage|loadavg)\(|\bnow\(\) - [\w.]+\)\.toBeLessThan/g) ?? [],
  ],
]

/** A call up to the bracket that closes it. */
function callAt(text: string, begin: number): string {
  let open = 0
  for (let at = text.indexOf('(', begin); at < text.length; at++) {
    if (text[at] === '(') open++
    if (text[at] === ')') open--
    if (open === 0) return text.slice(begin, at)
  }
  return text.slice(begin)
}

/** Helpers of tests that wait, and the tests; this file names what it refuses. */
const FILES = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' }).filter(
  (name) => /\.ts$/.test(name) && !['waits.test.ts', 'setup/cpu-time.ts'].includes(name),
)

test.each(REFUSED)('no test %s', (_, find) => {
  const found = FILES.flatMap((name) =>
    find(readFileSync(join(import.meta.dirname, name), 'utf8')).map((part) => [name, part]),
  )
  expect(found).toEqual([])
})

test('what a slow machine fails is found', () => {
  const slow = `
    await vi.waitFor(() => expect(f()).toBe(1), { timeout: 50_000 })
    await vi.waitUntil(() => isThere())
    page.setDefaultTimeout(1000)
    expect(process.cpuUsage(before).user).toBeLessThan(300)
    expect(performance.now() - began).toBeLessThan(3000)
    await vi.waitFor(() => f(), { ...PATIENCE, interval: 10 })
}, 60_000)`
  expect(REFUSED.map(([, find]) => find(slow))).toEqual([
    ['timeout: 50_000', 'DefaultTimeout(1000', '}, 60_000'],
    ['vi.waitFor(() => expect(f()).toBe(1), { timeout: 50_000 }', 'vi.waitUntil(() => isThere()'],
    ['cpuUsage(', 'now() - began).toBeLessThan'],
  ])
})
