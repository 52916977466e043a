/** Runs before each test file. Modules are loaded once for many files, this one anew for each. */
import { afterAll } from 'vitest'
import { cpuSecondsSince } from './cpu-time.ts'
import { removeFolders } from './folders.ts'
import { recordStatements } from './sent-statements.ts'
import { type StatementRuns, startCounting, takeRuns } from './statements.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** Of a file: what it has computed, with the loading of its modules; see `cpu-time.ts`. */
    cpuSeconds?: number
    /** Of a file on the embedded database. */
    statements?: StatementRuns
  }
}

const countsStatements = process.env.TEST_DATABASE_KIND === 'embedded'
// Before anything of `src` is loaded: statements of constants run once, when their module is.
if (countsStatements) await startCounting()
await import('#src/extensions/index.ts')

// What is registered first runs last.
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads there which fixtures are wanted.
afterAll(({}, file) => {
  file.meta.cpuSeconds = cpuSecondsSince()
})
afterAll(removeFolders)

if (process.env.RECORD_STATEMENTS) recordStatements(process.env.RECORD_STATEMENTS)
if (countsStatements) {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads there which fixtures are wanted.
  afterAll(async ({}, file) => {
    file.meta.statements = await takeRuns()
  })
}
