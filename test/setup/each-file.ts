/** Runs before each test file. Modules are loaded once for many files, this one anew for each. */
import { afterAll } from 'vitest'
import { cpuSecondsSince } from './cpu-time.ts'
import { removeFolders } from './folders.ts'
import { type SentStatement, startRecording, takeSent } from './sent-statements.ts'
import { type StatementRuns, startCounting, takeRuns } from './statements.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** Of a file: what it has computed, with the loading of its modules; see `cpu-time.ts`. */
    cpuSeconds?: number
    /** Of a file that has a database: which parts of statements ran. */
    statements?: StatementRuns
    /** Of a file on a server: what it has sent as the first of its process. */
    sent?: SentStatement[]
  }
}

const kind = process.env.TEST_DATABASE_KIND
// Before anything of `src` is loaded: statements of constants run once, when their module is.
if (kind) startCounting()
if (kind === 'server') startRecording()
await import('#src/extensions/index.ts')

// What is registered first runs last.
// biome-ignore lint/correctness/noEmptyPattern: Vitest reads there which fixtures are wanted.
afterAll(({}, file) => {
  file.meta.cpuSeconds = cpuSecondsSince()
})
afterAll(removeFolders)
if (kind) {
  // biome-ignore lint/correctness/noEmptyPattern: Vitest reads there which fixtures are wanted.
  afterAll(({}, file) => {
    file.meta.statements = takeRuns()
    file.meta.sent = takeSent()
  })
}
