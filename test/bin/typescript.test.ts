import { execFile } from 'node:child_process'
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '../..')
const BUNDLES = 'node_modules/.cache/bundles/src-main.ts'

/** A project of two files, with the packages and the programs of this one. */
let project: string

beforeEach(async () => {
  project = await realpath(await mkdtemp(join(tmpdir(), 'agro-typescript-')))
  await cp(join(ROOT, 'bin'), join(project, 'bin'), { recursive: true })
  await cp(join(ROOT, 'package.json'), join(project, 'package.json'))
  await mkdir(join(project, 'node_modules'))
  for (const name of await readdir(join(ROOT, 'node_modules'))) {
    if (name !== '.cache')
      await symlink(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
  }
  await write('src/main.ts', "import { said } from './said.ts'\n\nconsole.log(said satisfies string)\n")
  await write('src/said.ts', "export const said: string = 'one'\n")
})

afterEach(() => rm(project, { recursive: true }))

async function write(file: string, content: string): Promise<void> {
  await mkdir(join(project, file, '..'), { recursive: true })
  await writeFile(join(project, file), content)
}

describe('a TypeScript file that is run', () => {
  test('is bundled once, and run with its arguments', async () => {
    await write('src/main.ts', 'console.log(process.argv.slice(2).join() as string)\n')
    expect(await run('a', 'b')).toBe('a,b')
    const bundle = await latest()
    const { ino, mtimeMs } = await stat(bundle)
    expect(await run('c')).toBe('c')
    expect(await latest()).toBe(bundle)
    expect(await stat(bundle)).toMatchObject({ ino, mtimeMs })
  })

  test('is run as it is edited, by as many bytes and at the same time too', async () => {
    expect(await run()).toBe('one')
    const { atime, mtime } = await stat(join(project, 'src/said.ts'))
    await write('src/said.ts', "export const said: string = 'two'\n")
    await utimes(join(project, 'src/said.ts'), atime, mtime)
    expect(await run()).toBe('two')
  })

  test('is run with the version of a package that is installed', async () => {
    await rm(join(project, 'node_modules/kysely'))
    const release = async (version: string) => {
      await write(
        'node_modules/kysely/package.json',
        JSON.stringify({ type: 'module', exports: './index.js', version }),
      )
      await write('node_modules/kysely/index.js', `export const version = '${version}'`)
    }
    await write('src/main.ts', "import { version } from 'kysely'\nconsole.log(version)\n")
    await release('1')
    expect(await run()).toBe('1')
    await release('2')
    expect(await run()).toBe('2')
  })

  test.each(['console.log("three")', undefined])(
    'is bundled anew where its bundle is damaged',
    async (content) => {
      await run()
      const bundle = await latest()
      await (content === undefined ? rm(bundle) : writeFile(bundle, content))
      expect(await run()).toBe('one')
      expect(await latest()).not.toBe(bundle)
    },
  )

  test('is bundled for other users, too', async () => {
    // With an embedded database a process keeps what it writes to itself.
    const umask = process.umask(0o077)
    try {
      await run()
    } finally {
      process.umask(umask)
    }
    const bundle = await latest()
    const modeOf = async (path: string) => (await stat(path)).mode
    expect(await modeOf(bundle)).toBe(await modeOf(join(project, 'bin/bundle.mjs')))
    for (const folder of ['.', '..', '../..', '../../..']) {
      expect(await modeOf(join(bundle, '..', folder))).toBe(await modeOf(join(project, 'bin')))
    }
  })

  test('is bundled by several processes at once', async () => {
    expect(await Promise.all([run(), run(), run()])).toEqual(['one', 'one', 'one'])
    expect(await run()).toBe('one')
  })

  test('keeps the bundles of the last ten minutes, and three of those before', async () => {
    const bundles: string[] = []
    const edit = async (said: string) => {
      await write('src/said.ts', `export const said = '${said}'\n`)
      expect(await run()).toBe(said)
      bundles.push(join(await latest(), '..'))
    }
    const kept = async () =>
      (await readdir(join(project, BUNDLES))).filter((name) => name !== 'latest.json').sort()
    for (const said of ['a', 'b', 'c', 'd']) await edit(said)
    expect(await kept()).toEqual(bundles.map((path) => basename(path)).sort())

    for (const [index, bundle] of bundles.entries()) {
      const minutesAgo = new Date(Date.now() - (20 - index) * 60_000)
      await utimes(bundle, minutesAgo, minutesAgo)
    }
    await edit('e')
    expect(await kept()).toEqual(
      bundles
        .slice(2)
        .map((path) => basename(path))
        .sort(),
    )
  })

  test('is run where nothing can be kept', async () => {
    await write('node_modules/.cache', 'not a folder')
    expect(await run()).toBe('one')
  })

  test('knows where it lies', async () => {
    await write('src/main.ts', "import './deep/er/file.ts'\n")
    await write('src/deep/er/file.ts', 'console.log(import.meta.url, import.meta.dirname as string)\n')
    const said = `file://${project}/src/deep/er/file.ts ${project}/src/deep/er`
    expect(await run()).toBe(said)
    expect(await run()).toBe(said)
  })

  test('says in stacks where its sources fail, what is imported later too', async () => {
    await write(
      'src/main.ts',
      "interface Unused {\n  a: 1\n}\n\nconst { fail } = await import('./fail.ts')\nfail()\n",
    )
    await write('src/fail.ts', "type Unused = 1\n\nexport function fail() {\n  throw new Error('so')\n}\n")
    const { stderr } = await run().then(
      () => expect.unreachable(),
      (error: { stderr: string }) => error,
    )
    expect(stderr).toContain(`at fail (${project}/src/fail.ts:4:9)`)
    expect(stderr).toMatch(/\/src\/main\.ts:6:1\b/)
  })

  test('has its mistakes named where it cannot be bundled', async () => {
    await write('src/said.ts', "export const said = 'one\n")
    await expect(run()).rejects.toThrow(/src\/said\.ts/)
    await write('src/said.ts', "export const said = 'one'\n")
    expect(await run()).toBe('one')
  })
})

test('the modules of each page are one text', async () => {
  await write('web/page/main.ts', "import { said } from '../said.ts'\nimport 'library'\nconsole.log(said)\n")
  await write('web/said.ts', "export const said: string = 'one'\n")
  const { bundledPages } = await import(join(project, 'bin/typescript.mjs'))
  const pages: Map<string, string> = await bundledPages()
  expect([...pages.keys()]).toEqual(['page/main.bundle.js'])
  expect(pages.get('page/main.bundle.js')?.trim()).toBe('import"library";console.log("one");')
})

async function run(...parameters: string[]): Promise<string> {
  const options = { cwd: tmpdir(), env: { PATH: process.env.PATH } }
  const main = join(project, 'src/main.ts')
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [join(project, 'bin/run.mjs'), main, ...parameters],
    options,
  )
  return stdout.trimEnd()
}

/** The JavaScript of the latest bundle. */
async function latest(): Promise<string> {
  const { bundle, entry } = JSON.parse(await readFile(join(project, BUNDLES, 'latest.json'), 'utf8'))
  return join(project, BUNDLES, bundle, entry)
}
