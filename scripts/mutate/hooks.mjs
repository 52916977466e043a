/**
 * Runs before each test file, and notes how often its hooks reach which changes. For Stryker that is as loading a module: it
 * would run all tests for such a change.
 */
import { afterAll, beforeAll, inject } from 'vitest'

/** How often changes, by their ids, were reached outside of tests since the process began. */
const readHits = () => ({ ...globalThis[inject('globalNamespace')]?.mutantCoverage?.static })

let loaded = {}
beforeAll(() => {
  loaded = readHits()
})
// What is registered first runs last.
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads there which fixtures are wanted.
afterAll(({}, file) => {
  const more = Object.entries(readHits()).map(([id, hits]) => [id, hits - (loaded[id] ?? 0)])
  file.meta.hooks = Object.fromEntries(more.filter(([, hits]) => hits > 0))
})
