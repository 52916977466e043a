import { relative, resolve } from 'node:path'

/**
 * The part of the configuration that counts which statements run: it is loaded with the configuration, and knows nothing
 * of what it counts.
 */

const ROOT = resolve(import.meta.dirname, '../..')
export const QUERIES = /^src\/.*queries\.ts$/

/** Where code makes a statement or a part of one, and where it sends one. */
const STATEMENT = /\bsql(?=`(?!`))|(\??)\.(execute|executeTakeFirst|executeTakeFirstOrThrow|stream)(?=\()/g
/** The function or constant that it lies in begins a line. */
const NAME = /^(?:export )?(?:async )?(?:function\*? |const |class )(\w+)/gm

/** What counted modules call: a key is `FILE FUNCTION NUMBER`. */
export interface StatementCounter {
  loaded(keys: string[]): void
  /** @returns what is run */
  ran<What>(key: string, what: What): What
}

declare global {
  var statementCounter: StatementCounter | undefined
}

/** Vite's plugin that has each file of queries say what it runs. Lines stay where they are. */
export const countStatements = {
  name: 'count-statements',
  enforce: 'pre',
  transform(source: string, path: string) {
    const file = relative(ROOT, path)
    if (!QUERIES.test(file)) return undefined
    const keys: string[] = []
    const counted = source.replace(STATEMENT, (found, optional: string | undefined, method, at: number) => {
      const [, name] = [...source.slice(0, at).matchAll(NAME)].at(-1) ?? []
      const key = `${file} ${name} ${keys.length + 1}`
      keys.push(key)
      // In what prepares databases for all files, nothing counts.
      const ran = (what: string) => `(globalThis.statementCounter?.ran('${key}', ${what}) ?? ${what})`
      return method ? `${optional && '?.'}[${ran(`'${method}'`)}]` : ran(found)
    })
    return { code: `globalThis.statementCounter?.loaded(${JSON.stringify(keys)});${counted}`, map: null }
  },
} as const
