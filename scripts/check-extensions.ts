/**
 * Deletes extensions in a scratch copy, with those that need them, and runs what has to go on without: types, lint, the
 * architecture, and unit tests: those of the making of the document and of links, and all that reach the list of extensions or
 * read settings. Sets of extensions are deleted together, so that of every two each is once gone while the other is there.
 * Names choose some, each deleted by itself: `npm run check-extensions -- packs`.
 */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, relative, resolve } from 'node:path'
import { promisify } from 'node:util'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { withDependents } from '#test/setup/dependents.ts'
import { createRandom } from '#test/setup/random.ts'
import { findTestFiles } from '#test/setup/test-files.ts'

const ROOT = resolve(import.meta.dirname, '..')
const LIST = 'src/extensions/index.ts'

/** Not of the project. */
const LEFT_OUT = new Set(['.git', 'node_modules', 'data'])

const run = promisify(execFile)

/** The folders and files of an extension. */
const placesOf = (name: string): string[] => [
  ...['src', 'test', 'web'].map((top) => `${top}/extensions/${name}`),
  `docs/guide/${name}.md`,
]

/** How many changes are tried before there is one set more. */
const CHANGES = 4000

/** Few sets to delete: each extension is gone once while any other is there that does not need it. */
function drawSets(): string[][] {
  const names = EXTENSIONS.map(({ name }) => name)
  const pairs = names.flatMap((gone) =>
    names.filter((name) => !withDependents(gone).includes(name)).map((there) => [gone, there] as const),
  )
  const withAll = (set: Set<string>) => new Set([...set].flatMap(withDependents))
  const countLeft = (sets: Set<string>[]) => {
    const whole = sets.map(withAll)
    return pairs.filter(([gone, there]) => !whole.some((set) => set.has(gone) && !set.has(there))).length
  }
  const random = createRandom(3)
  const draw = (below: number) => Math.floor(random() * below)
  // Among fewer, two extensions would be gone and there together.
  for (let count = Math.ceil(Math.log2(names.length)); ; count++) {
    let sets = Array.from({ length: count }, () => new Set<string>())
    let left = pairs.length
    for (let change = 0; change < CHANGES && left > 0; change++) {
      const at = draw(count)
      const name = names[draw(names.length)] as string
      const set = new Set(sets[at])
      if (!set.delete(name)) set.add(name)
      const changed = sets.with(at, set)
      const leftThen = countLeft(changed)
      if (leftThen <= left) [sets, left] = [changed, leftThen]
    }
    if (left === 0) return sets.map((set) => [...withAll(set)])
  }
}

/** The list without the lines of some extensions. */
function withoutLines(list: string, names: string[]): string {
  return names.reduce((text, name) => {
    const [line, exported = ''] =
      new RegExp(`^import \\{ (\\w+) \\} from '\\./${name}/.*\n`, 'm').exec(text) ?? []
    if (line === undefined) throw new Error(`${LIST} has no line for ${name}`)
    return text.replace(line, '').replace(new RegExp(`(?<=[[\\s])${exported}(, ?|(?=\\]))`), '')
  }, list)
}

/** Reads documents, and imports nothing of the source. */
const OF_LINKS = 'test/links.test.ts'

/** Test files without a database that reach the list, through whatever they import. */
async function findTests(): Promise<string[]> {
  const known = new Map([[LIST, true]])
  function reaches(file: string): boolean {
    const found = known.get(file)
    if (found !== undefined) return found
    // Said before the imports are followed, for files that import each other.
    known.set(file, false)
    const imports = readFileSync(join(ROOT, file), 'utf8').matchAll(/(?:from|import)\s*\(?'([#.][^']+)'/g)
    const answer = [...imports].some(([, path = '']) => {
      const target = path.startsWith('#') ? path.slice(1) : relative(ROOT, resolve(ROOT, dirname(file), path))
      return target.endsWith('.ts') && existsSync(join(ROOT, target)) && reaches(target)
    })
    known.set(file, answer)
    return answer
  }
  const tests: string[] = []
  for (const file of findTestFiles(false).unit) {
    // Their processes have the list, and are about none of it.
    if (file.startsWith('test/process/')) continue
    const readsSettings = (await readFile(join(ROOT, file), 'utf8')).includes("'#src/config.ts'")
    if (file === OF_LINKS || readsSettings || reaches(file)) tests.push(file)
  }
  return tests
}

/** A test of the architecture: what several extensions share has fewer that load it here. */
const OF_THE_WHOLE = 'each file is loaded by another'

interface Copy {
  folder: string
  run(command: string, ...parameters: string[]): Promise<unknown>
}

async function copyProject(): Promise<Copy> {
  const folder = await mkdtemp(join(tmpdir(), 'agro-extensions-'))
  await cp(ROOT, folder, {
    recursive: true,
    filter: (path) => !LEFT_OUT.has(relative(ROOT, path)) && !path.includes('/node_modules'),
  })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  return {
    folder,
    run: (command, ...parameters) =>
      run(join('node_modules/.bin', command), parameters, { cwd: folder, maxBuffer: 2 ** 26 }),
  }
}

/** The output of the first command that fails without extensions; undefined where all goes on. */
async function tryWithout(
  names: string[],
  { folder, run }: Copy,
  tests: string[],
): Promise<string | undefined> {
  const list = await readFile(join(folder, LIST), 'utf8')
  const gone = names.flatMap(placesOf).filter((path) => existsSync(join(folder, path)))
  await writeFile(join(folder, LIST), withoutLines(list, names))
  for (const path of gone) await rm(join(folder, path), { recursive: true })
  try {
    for (const project of ['.', 'web', 'web/tsconfig.whole.json', 'test/web/modules']) {
      const built = join(folder, `${project.replaceAll('/', '-')}.tsbuildinfo`)
      // Several checkers would do the same work several times: each core has a copy.
      const parameters = ['--noEmit', '--checkers', '1', '--incremental', '--tsBuildInfoFile', built]
      await run('tsc', '-p', project, ...parameters)
    }
    // No other file that is left has changed.
    await run('biome', 'lint', LIST)
    const left = tests.filter((file) => existsSync(join(folder, file)))
    const modules = [
      '--experimental.fsModuleCache',
      `--experimental.fsModuleCachePath=${join(folder, 'modules')}`,
    ]
    const others = ['--testNamePattern', `^(?!.*${OF_THE_WHOLE})`]
    await run('vitest', 'run', '--project', 'unit', '--maxWorkers', '1', ...others, ...modules, ...left)
    return undefined
  } catch (error) {
    const {
      stdout = '',
      stderr = '',
      message,
    } = error as { stdout?: string; stderr?: string; message: string }
    return `${message.split('\n')[0]}\n${stdout}${stderr}`
  } finally {
    await writeFile(join(folder, LIST), list)
    for (const path of gone) await cp(join(ROOT, path), join(folder, path), { recursive: true })
  }
}

const named = process.argv.slice(2)
const waiting = named.length > 0 ? named.map(withDependents) : drawSets()
const tests = await findTests()

async function work(): Promise<void> {
  const copy = await copyProject()
  for (let names = waiting.shift(); names !== undefined; names = waiting.shift()) {
    const began = performance.now()
    const failure = await tryWithout(names, copy, tests)
    const seconds = ((performance.now() - began) / 1000).toFixed(0)
    console.log(`${failure === undefined ? 'goes on' : 'FAILS'} without ${names.join(', ')} (${seconds} s)`)
    if (failure === undefined) continue
    console.log(failure)
    process.exitCode = 1
  }
  await rm(copy.folder, { recursive: true })
}

await Promise.all(Array.from({ length: Math.min(2, availableParallelism(), waiting.length) }, work))
