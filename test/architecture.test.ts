import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PRODUCTS } from '#schemas/products/index.ts'
import { EXTENSIONS } from '#src/extensions/index.ts'
import { FIGURES, ROOM_LINES } from './budgets.ts'
import { withDependents } from './setup/dependents.ts'
import { linesOfRooms, sourceFigures } from './source-figures.ts'

const ROOT = resolve(import.meta.dirname, '..')

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

/** Pages of extensions that are one file, for use without the service. */
const WHOLE = /^web\/extensions\/[^/]+\/whole\//

/** Types are erased before a module runs. */
const TYPE_IMPORT = /^(?:import|export) type [^']*'[^']*'/gm

const importsOf = (file: string) => specifiersIn(textOf(file), file)

function specifiersIn(text: string, file: string): string[] {
  return [...text.matchAll(/(?:from|import)\s+'([^']+)'/g)].map(([, specifier]) => {
    if (specifier?.startsWith('#')) return specifier.slice(1)
    if (specifier?.startsWith('.')) return relative(ROOT, resolve(ROOT, dirname(file), specifier))
    return `package:${specifier}`
  })
}

const files = [...sourceFiles('src'), ...sourceFiles('schemas')]
const imports = files.flatMap((file) => importsOf(file).map((target) => ({ file, target })))
const internal = imports.filter(({ target }) => !target.startsWith('package:'))

describe('the source', () => {
  test('every file belongs to a room', () => {
    expect(files.length).toBeGreaterThan(30)
    expect(files.filter((file) => layerOf(file) === undefined)).toEqual([])
  })

  // Not run where extensions are deleted: what several share has fewer that load it there.
  test('each file is loaded by another, except those that begin a process, and none of the core by one extension alone', () => {
    const loaders = new Map<string, string[]>()
    for (const file of files) {
      for (const [, path = ''] of textOf(file).matchAll(/'([#.][^']+\.ts)'/g)) {
        const target = path.startsWith('#') ? path.slice(1) : join(dirname(file), path)
        loaders.set(target, [...(loaders.get(target) ?? []), file])
      }
    }
    const unloaded = files.filter((file) => !loaders.has(file))
    expect(unloaded.toSorted()).toEqual(['src/cli/agro.ts', 'src/server.ts'])
    // With an extension go those that need it.
    const goneTogether = EXTENSIONS.map(({ name }) => withDependents(name))
    const core = files.filter((file) => !file.startsWith('src/extensions/') && loaders.has(file))
    const ofOne = core.filter((file) => {
      const extensions = loaders.get(file)?.map(extensionOf) ?? []
      return goneTogether.some((gone) =>
        extensions.every((name) => name !== undefined && gone.includes(name)),
      )
    })
    expect(ofOne).toEqual([])
  })

  test('imports go downward only', () => {
    const breaches = internal.filter(
      ({ file, target }) => (layerOf(target) ?? Number.POSITIVE_INFINITY) > (layerOf(file) as number),
    )
    expect(breaches).toEqual([])
  })

  test('modules of pages import each other and the glossary, and of schemas and libraries nothing but types', () => {
    const pages = webModules().filter((file) => !WHOLE.test(file))
    const others = pages
      .flatMap((file) => specifiersIn(textOf(file).replaceAll(TYPE_IMPORT, ''), file))
      .filter((target) => !target.startsWith('web/') && target !== 'schemas/glossary.ts')
    const types = pages
      .flatMap(importsOf)
      .filter((target) => !/^(web|package:(geojson|maplibre-gl)$)/.test(target) && !isSchema(target))
    expect([others, types]).toEqual([[], []])
  })

  test('modules of pages of the core import none of extensions: the bundler has their parts', () => {
    const breaches = webModules()
      .filter((file) => !file.startsWith('web/extensions/'))
      .flatMap((file) => importsOf(file).map((target) => ({ file, target })))
      .filter(({ target }) => /^(web|src)\/extensions\//.test(target))
    expect(breaches).toEqual([])
  })

  test('modules of pages of an extension import none of another that it does not need', () => {
    const nameIn = (file: string) => /^(?:web|src)\/extensions\/([^/]+)\//.exec(file)?.[1]
    const breaches = webModules().flatMap((file) =>
      importsOf(file).filter((target) => {
        const [own, other] = [nameIn(file), nameIn(target)]
        if (own === undefined || other === undefined || own === other) return false
        return !EXTENSIONS.find(({ name }) => name === own)?.needs?.includes(other)
      }),
    )
    expect(breaches).toEqual([])
  })

  test('pages that are one file have what makes answers of pixels from the service, which needs neither Node nor schemas', () => {
    const seen = new Set<string>()
    const open = webModules().filter((file) => WHOLE.test(file))
    for (let file = open.pop(); file !== undefined; file = open.pop()) {
      if (seen.has(file)) continue
      seen.add(file)
      const targets = specifiersIn(textOf(file).replaceAll(TYPE_IMPORT, ''), file)
      open.push(...targets.filter((target) => !target.startsWith('package:')))
      if (targets.some((target) => target.startsWith('package:'))) seen.add(`${file} ${targets.join(' ')}`)
    }
    const others = [...seen].filter((file) => !/^(web|src)\/[\w/-]+\.ts$/.test(file))
    const allowed = /^(schemas\/glossary\.ts|web\/extensions\/\w+\/whole\/main\.ts package:fflate .*)$/
    expect(others.filter((file) => !allowed.test(file))).toEqual([])
  })

  test('rasters stand on nothing but themselves, Node, and a package of geometry', () => {
    const geometry = 'package:robust-predicates'
    const breaches = imports.filter(
      ({ file, target }) =>
        file.startsWith('src/raster/') &&
        !target.startsWith('src/raster/') &&
        !target.startsWith('package:node:') &&
        target !== geometry,
    )
    expect(breaches).toEqual([])
  })

  test('what there is to read grows in no figure', () => {
    const grown = Object.entries(sourceFigures()).filter(
      ([name, figure]) => figure > (FIGURES[name]?.[0] ?? 0),
    )
    expect(grown).toEqual([])
  })

  test('each room has a budget of lines, which it keeps', () => {
    const lines = linesOfRooms()
    expect(Object.keys(lines).toSorted()).toEqual(Object.keys(ROOM_LINES).toSorted())
    expect(Object.entries(lines).filter(([room, count]) => count > (ROOM_LINES[room]?.[0] ?? 0))).toEqual([])
  })

  test('the core knows the interface of extensions, and where a process begins their list', () => {
    const breaches = internal.filter(
      ({ file, target }) => target.startsWith('src/extensions/') && !file.startsWith('src/extensions/'),
    )
    const list = breaches.filter(({ target }) => target !== 'src/extensions/extension.ts')
    const begins = ['src/app.ts', 'src/server.ts', 'src/cli/program.ts']
    expect(list).toEqual(begins.map((file) => ({ file, target: 'src/extensions/index.ts' })))
    expect(breaches.filter(({ file }) => !begins.includes(file))).toEqual([])
  })

  test('an extension imports the core, and other extensions that it needs', () => {
    const breaches = internal.flatMap(({ file, target }) => {
      const [own, other] = [extensionOf(file), extensionOf(target)]
      if (own === undefined || other === undefined || own === other) return []
      return EXTENSIONS.find(({ name }) => name === own)?.needs?.includes(other) ? [] : [{ file, target }]
    })
    expect(breaches).toEqual([])
  })

  test('the list has each folder of an extension', () => {
    const folders = readdirSync(join(ROOT, 'src/extensions'), { withFileTypes: true })
    const names = folders.filter((one) => one.isDirectory()).map(({ name }) => name)
    expect(EXTENSIONS.map(({ name }) => name).toSorted()).toEqual(names.toSorted())
  })

  test('no folders of a room lead back to themselves', () => {
    const circles = [...files, ...webModules()].map(folderOf)
    const targetsOf = (folder: string) =>
      [...files, ...webModules()]
        .filter((file) => folderOf(file) === folder)
        .flatMap((file) => importsOf(file).map(folderOf))
        .filter((target) => target !== folder)
    expect(circlesAmong([...new Set(circles)], targetsOf)).toEqual([])
  })

  test('routes are known to their room alone, which the app registers', () => {
    const breaches = internal.filter(
      ({ file, target }) =>
        target.endsWith('/routes.ts') && file !== 'src/app.ts' && roomOf(file) !== roomOf(target),
    )
    expect(breaches).toEqual([])
  })

  test('the source loads packages that an installation without development has', () => {
    const { dependencies } = JSON.parse(textOf('package.json'))
    const loaded = files.flatMap((file) => packagesOf(file).map((name) => `${file} loads ${name}`))
    expect(loaded.length).toBeGreaterThan(100)
    expect(loaded.filter((one) => !(one.replace(/^.* /, '') in dependencies))).toEqual([])
  })

  test('the configuration of tests reaches four files of theirs: with changed sources `npm run mutate` reads it as well', () => {
    const reached = ['vitest.config.ts']
    for (const file of reached) {
      const targets = importsOf(file).filter((target) => !target.startsWith('package:'))
      reached.push(...targets.filter((target) => !reached.includes(target)))
    }
    const names = ['counted-statements', 'patience', 'run-order', 'test-files']
    expect(reached.slice(1).toSorted()).toEqual(names.map((name) => `test/setup/${name}.ts`))
  })

  test('schemas import nothing but typebox and each other', () => {
    const breaches = imports.filter(
      ({ file, target }) => isSchema(file) && target !== 'package:typebox' && !isSchema(target),
    )
    expect(breaches).toEqual([])
  })

  test('no two files import each other, neither directly nor through others; types count', () => {
    expect(circlesAmong(files)).toEqual([])
    expect(circlesAmong(webModules(), importsOf)).toEqual([])
    expect(circlesAmong(readdirSync(join(ROOT, 'bin')).map((name) => join('bin', name)))).toEqual([])
  })

  test('only files of queries build SQL', () => {
    const BUILDS_SQL = /\bsql[`<]|\.(selectFrom|insertInto|updateTable|deleteFrom)\(|\.query\(\s*['"`]/
    const breaches = files.filter(
      (file) =>
        !file.startsWith('src/data/') && !/(^|[/-])queries\.ts$/.test(file) && BUILDS_SQL.test(textOf(file)),
    )
    expect(breaches).toEqual([])
  })

  test('transactions are begun in one place, which tries those again that a deadlock has undone', () => {
    const inSource = files.filter((file) => textOf(file).includes('.transaction()'))
    const allowed = [
      'src/data/migrate.ts',
      'src/data/sql.ts',
      // Needs an isolation of its own, and may have written a file.
      'src/extensions/transfer/relation-queries.ts',
      // Only looks.
      'src/extensions/doctor/command.ts',
      // Reads from a stream, which cannot be read twice.
      'src/ingest/boundaries/replace.ts',
    ]
    expect(inSource.filter((file) => !allowed.includes(file))).toEqual([])
  })

  test('no condition names a product: what it does follows from the definition', () => {
    const codes = PRODUCTS.list.map(({ code }) => code).join('|')
    const condition = new RegExp(`(?:[=<>]|\\b(?:in|case|values)\\b)\\s*\\(?\\s*'(?:${codes})'`)
    const functions = readdirSync(join(ROOT, 'sql/functions')).map((name) => `sql/functions/${name}`)
    const naming = [...files, ...webModules(), ...sourceFiles('bench'), ...functions].filter((file) =>
      condition.test(readFileSync(join(ROOT, file), 'utf8')),
    )
    expect(naming).toEqual([])
  })
})

/** The rooms from the ground up: a file imports from its own room and from those below. */
const ROOMS = [
  ['schemas/'],
  ['src/lib/'],
  ['src/raster/'],
  ['src/config.ts', 'src/errors.ts'],
  ['src/data/'],
  ['src/http/'],
  ['src/catalog/'],
  ['src/lookup/'],
  ['src/history/'],
  ['src/accounts/'],
  ['src/advice/'],
  ['src/maps/'],
  ['src/ingest/'],
  ['src/cli/'],
  ['src/extensions/'],
  ['src/app.ts'],
  ['src/prepare.ts'],
  ['src/start.ts', 'src/primary.ts', 'src/worker.ts', 'src/process.ts'],
  ['src/cli/agro.ts', 'src/cli/program.ts', 'src/server.ts'],
]

/** The modules of the pages. */
function webModules(): string[] {
  return readdirSync(join(ROOT, 'web'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('web', name))
}

/** With those that it imports while it runs. */
function allImportsOf(file: string): string[] {
  const later = textOf(file).matchAll(/\bimport\('(\.[^']+)'\)/g)
  return [...importsOf(file), ...[...later].map(([, path]) => join(dirname(file), path as string))]
}

function packagesOf(file: string): string[] {
  const text = textOf(file).replaceAll(TYPE_IMPORT, '')
  const found = text.matchAll(/\b(?:from|import|resolve)[\s(]+'(?!node:)((?:@[\w.-]+\/)?[a-z][\w.-]*)[/']/g)
  return [...found].map(([, name]) => name as string)
}

function layerOf(file: string): number | undefined {
  // Files that are named for themselves stand above their room.
  const layer = ROOMS.findLastIndex((paths) => paths.some((path) => file === path || file.startsWith(path)))
  return layer < 0 ? undefined : layer
}

/** Groups of files each of which leads back to itself (Tarjan, 1972: strongly connected components). */
function circlesAmong(all: string[], targetsOf = allImportsOf): string[][] {
  const targets = new Map(all.map((file): [string, string[]] => [file, targetsOf(file)]))
  const order = new Map<string, number>()
  const open: string[] = []
  const circles: string[][] = []

  function visit(file: string): number {
    const place = order.size
    order.set(file, place)
    open.push(file)
    let low = place
    for (const target of targets.get(file) ?? []) {
      if (!targets.has(target)) continue
      if (!order.has(target)) low = Math.min(low, visit(target))
      else if (open.includes(target)) low = Math.min(low, order.get(target) as number)
    }
    if (low === place) {
      const circle = open.splice(open.indexOf(file))
      if (circle.length > 1) circles.push(circle.sort())
    }
    return low
  }

  for (const file of all) if (!order.has(file)) visit(file)
  return circles
}

/** The room of a file of src. */
function roomOf(file: string): string | undefined {
  return /^src\/([^/]+)\//.exec(file)?.[1]
}

function extensionOf(file: string): string | undefined {
  return /^src\/extensions\/([^/]+)\//.exec(file)?.[1]
}

/** Of the core, or of an extension. */
function isSchema(file: string): boolean {
  return file.startsWith('schemas/') || /^src\/extensions\/[^/]+\/schemas\.ts$/.test(file)
}

/** A folder of a room with all that is below, or a file of the room itself. */
function folderOf(file: string): string {
  return file
    .split('/')
    .slice(0, file.startsWith('web/') ? 2 : 3)
    .join('/')
}
