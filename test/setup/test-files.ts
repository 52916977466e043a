import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/** What makes databases reads where the templates are. */
const DATABASES = "inject('templates')"

export interface TestFiles {
  /** Files that need no database. */
  unit: string[]
  /** Files that do. */
  database: string[]
}

/**
 * All test files. A file needs a database that makes one, itself or through a helper that it imports: no
 * list and no name has to be kept right.
 */
export function findTestFiles(): TestFiles {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .sort()
  const answers = new Map<string, boolean>()
  const database = files.filter((file) => needsDatabase(file, answers))
  return { unit: files.filter((file) => !database.includes(file)), database }
}

function needsDatabase(file: string, answers: Map<string, boolean>): boolean {
  const known = answers.get(file)
  if (known !== undefined) return known
  // Said before the imports are followed, for files that import each other.
  answers.set(file, false)
  const text = readFileSync(join(ROOT, file), 'utf8')
  const answer =
    text.includes(DATABASES) || testImportsOf(file, text).some((imported) => needsDatabase(imported, answers))
  answers.set(file, answer)
  return answer
}

/** The files in test/ that a file imports, types included. */
function testImportsOf(file: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import) '(#test\/|\.\.?\/)([^']+)'/g)]
    .map(([, base = '', path = '']) =>
      base === '#test/' ? join('test', path) : relative(ROOT, resolve(ROOT, dirname(file), base, path)),
    )
    .filter((path) => path.startsWith('test/') && existsSync(join(ROOT, path)))
}
