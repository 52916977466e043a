import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { QUERIES } from './counted-statements.ts'

const ROOT = resolve(import.meta.dirname, '../..')

/** Statements of loaded modules, and whether they ran, by `FILE FUNCTION NUMBER`. */
export type StatementRuns = Record<string, boolean>

/** Since the last call of `takeRuns`. */
let runs: StatementRuns = {}

/** Counts from now on what runs in this process. Modules are loaded once for many files. */
export function startCounting(): void {
  const known = new Set<string>()
  globalThis.statementCounter ??= {
    loaded(keys) {
      for (const key of keys) runs[key] ??= false
    },
    ran(key, what) {
      if (!known.has(key)) {
        known.add(key)
        runs[key] = true
      }
      return what
    },
  }
}

/** @returns which statements were loaded or ran for the first time since the last call */
export function takeRuns(): StatementRuns {
  const taken = runs
  runs = {}
  return taken
}

/** @param all what each file of a whole run has said */
export function mistakesOfRuns(all: StatementRuns[]): { ran: number; mistakes: string[] } {
  const known = new Set(all.flatMap((runs) => Object.keys(runs)))
  const ran = new Set(all.flatMap((runs) => Object.keys(runs).filter((key) => runs[key])))
  const loaded = new Set([...known].map((key) => key.split(' ')[0]))
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
    .map((name) => join('src', name))
    .filter((file) => QUERIES.test(file))
  return {
    ran: ran.size,
    mistakes: [
      ...files.filter((file) => !loaded.has(file)).map((file) => `No test loads ${file}.`),
      ...[...known]
        .filter((key) => !ran.has(key))
        .toSorted()
        .map((key) => `No test runs statement ${key}.`),
    ],
  }
}
