import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '../..')

/** What makes databases reads where the templates are. */
const DATABASES = "inject('templates')"

/** Folders of statements and geometry: their tests run on whichever database there is. */
const ON_EITHER =
  /^test\/(accounts|advice|catalog|extensions|data\/(?!files|tiles)|history|ingest|lookup|maps|products|raster)/

/** What a file may say of itself, as a line of its own: where it runs, and why. */
const SAYS = /^\/\/ Runs on ([^:.]*)/m

/** The mode of Vitest that `npm test` runs in. */
export const SHORT = 'short'

/** What a file with a database says that is in the short run too. */
const IN_EVERY_RUN = /^\/\/ In every run: /m

type Kind = 'embedded' | 'server'

/** The test files of each project. */
export interface TestFiles {
  /** Files that need no database. */
  unit: string[]
  embedded: string[]
  server: string[]
}

/**
 * All test files. A file needs a database that makes one, itself or through a helper that it imports: no
 * list and no name has to be kept right. Which one follows from its folder, unless it says so itself, as one
 * has to that starts servers of its own alone.
 *
 * @param hasServer whether there is a server, which then runs whatever either database can run
 */
export function findTestFiles(hasServer: boolean): TestFiles {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.test.ts'))
    .map((name) => join('test', name))
    .sort()
  const answers = new Map<string, boolean>()
  const found: TestFiles = { unit: [], embedded: [], server: [] }
  for (const file of files) {
    const says = SAYS.test(readFileSync(join(ROOT, file), 'utf8'))
    const projects = says || needsDatabase(file, answers) ? databasesOf(file, hasServer) : (['unit'] as const)
    for (const project of projects) found[project].push(file)
  }
  return found
}

/** Of {@link findTestFiles}, what `npm test` runs: all without a database, and a few files on the one that there is. */
export function findShortFiles(hasServer: boolean): TestFiles {
  const { unit, embedded, server } = findTestFiles(hasServer)
  const some = [...new Set([...embedded, ...server])].filter((file) =>
    IN_EVERY_RUN.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  return { unit, embedded: hasServer ? [] : some, server: hasServer ? some : [] }
}

function databasesOf(file: string, hasServer: boolean): Kind[] {
  const kindsOf: Record<string, Kind[]> = {
    'both databases': ['embedded', 'server'],
    'either database': [hasServer ? 'server' : 'embedded'],
    'the embedded database alone': ['embedded'],
    'a server alone': ['server'],
  }
  const usual = ON_EITHER.test(file) ? 'either database' : 'a server alone'
  const [, where = usual] = SAYS.exec(readFileSync(join(ROOT, file), 'utf8')) ?? []
  const kinds = kindsOf[where]
  if (!kinds) throw new Error(`${file} runs on "${where}", not on ${Object.keys(kindsOf).join(' or ')}`)
  return kinds
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
