/**
 * Runs before each test file, and notes how often its hooks reach which changes. For Stryker that is as loading a module: it
 * would run all tests for such a change.
 */
import { afterAll, beforeAll, inject } from 'vitest'

/** How often the changes, by their ids, were reached. */
export type Hits = Record<string, number>

declare module 'vitest' {
  interface ProvidedContext {
    globalNamespace: string
  }
  interface TaskMeta {
    /** Of a file. */
    hooks?: Hits
  }
}

/** What is reached outside of tests, since the process began. */
function readHits(): Hits {
  const { [inject('globalNamespace')]: stryker } = globalThis as Record<string, unknown>
  return { ...(stryker as { mutantCoverage?: { static: Hits } } | undefined)?.mutantCoverage?.static }
}

let loaded: Hits = {}
beforeAll(() => {
  loaded = readHits()
})
// What is registered first runs last.
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads there which fixtures are wanted.
afterAll(({}, file) => {
  const more = Object.entries(readHits()).map(([id, hits]) => [id, hits - (loaded[id] ?? 0)] as const)
  file.meta.hooks = Object.fromEntries(more.filter(([, hits]) => hits > 0))
})
