import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { PRODUCTS } from '#src/products/index.ts'
import { functionLengths } from './function-lengths.ts'

const ROOT = resolve(import.meta.dirname, '..')

/**
 * What a file may import: things of a lower layer, and of its own. What stands side by side knows nothing
 * of each other.
 */
const LAYERS: [path: string, layer: number][] = [
  ['src/server.ts', 10],
  ['src/process/', 9],
  ['src/cli/', 9],
  ['src/app.ts', 8],
  ['src/ingest/', 7],
  ['src/domains/', 6],
  ['src/http/', 5],
  ['src/tiles/', 4],
  ['src/database/', 3],
  ['src/raster/', 3],
  ['src/storage/', 3],
  ['src/config.ts', 2],
  ['src/errors.ts', 2],
  ['src/error-codes.ts', 2],
  ['src/products/', 2],
  ['src/lib/', 1],
  ['schemas/', 0],
]

/** Layers that stand side by side. */
const APART: [string, string][] = [
  ['src/lib/', 'schemas/'],
  ['src/database/', 'src/raster/'],
  ['src/storage/', 'src/raster/'],
  ['src/products/', 'src/config.ts'],
  ['src/products/', 'src/errors.ts'],
  ['src/products/', 'src/error-codes.ts'],
]

const LONGEST_FILE = 500
const LONGEST_TEST = 500
const LONGEST_FUNCTION = 80

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
}

/** The modules of the pages. */
function webModules(): string[] {
  return readdirSync(join(ROOT, 'web'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join('web', name))
}

function textOf(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

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
  return LAYERS.find(([path]) => file === path || file.startsWith(path))?.[1]
}

function domainOf(file: string): string | undefined {
  return /^src\/domains\/([^/]+)\//.exec(file)?.[1]
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

/** The room of the advisory domain that a file is in. */
function roomOf(file: string): string | undefined {
  return /^src\/domains\/advisory\/([^/]+)\//.exec(file)?.[1]
}

const files = [...sourceFiles('src'), ...sourceFiles('schemas')]
const imports = files.flatMap((file) => importsOf(file).map((target) => ({ file, target })))
const internal = imports.filter(({ target }) => !target.startsWith('package:'))

describe('the source', () => {
  test('every file belongs to a layer', () => {
    expect(files.length).toBeGreaterThan(30)
    expect(files.filter((file) => layerOf(file) === undefined)).toEqual([])
  })

  test('imports go downward only', () => {
    const breaches = internal.filter(
      ({ file, target }) => (layerOf(target) ?? Number.POSITIVE_INFINITY) > (layerOf(file) as number),
    )
    expect(breaches).toEqual([])
  })

  test('a domain uses of another domain nothing but its queries', () => {
    const breaches = internal.filter(({ file, target }) => {
      const other = domainOf(target)
      return domainOf(file) && other && other !== domainOf(file) && !target.endsWith('/queries.ts')
    })
    expect(breaches).toEqual([])
  })

  test('what stands side by side knows nothing of each other', () => {
    const breaches = internal.filter(({ file, target }) =>
      APART.some(
        ([one, other]) =>
          (file.startsWith(one) && target.startsWith(other)) ||
          (file.startsWith(other) && target.startsWith(one)),
      ),
    )
    expect(breaches.filter(({ file }) => layerOf(file) !== undefined)).toEqual([])
  })

  test('the rooms of advisory know the lookup and the quantities, and not each other', () => {
    const breaches = internal.filter(({ file, target }) => {
      const room = roomOf(file)
      const other = roomOf(target)
      return room && other && other !== room && other !== 'lookup' && other !== 'quantities'
    })
    expect(breaches).toEqual([])
  })

  test('modules of pages import each other, and of schemas and libraries nothing but types', () => {
    const others = webModules()
      .flatMap((file) => specifiersIn(textOf(file).replaceAll(TYPE_IMPORT, ''), file))
      .filter((target) => !target.startsWith('web/'))
    const types = webModules()
      .flatMap(importsOf)
      .filter((target) => !/^(web|schemas|package:(geojson|maplibre-gl)$)/.test(target))
    expect([others, types]).toEqual([[], []])
  })

  test('rasters stand on nothing but themselves, Node, and packages of geometry', () => {
    const geometry = ['package:flatbush', 'package:geographiclib-geodesic']
    const breaches = imports.filter(
      ({ file, target }) =>
        file.startsWith('src/raster/') &&
        !target.startsWith('src/raster/') &&
        !target.startsWith('package:node:') &&
        !geometry.includes(target),
    )
    expect(breaches).toEqual([])
  })

  test('the ingest uses of a domain nothing but its queries', () => {
    const breaches = internal.filter(
      ({ file, target }) =>
        file.startsWith('src/ingest/') && domainOf(target) && !target.endsWith('/queries.ts'),
    )
    expect(breaches).toEqual([])
  })

  test('routes are known to their domain alone, and domains are put together by the app', () => {
    const breaches = internal.filter(
      ({ file, target }) =>
        domainOf(target) &&
        domainOf(file) !== domainOf(target) &&
        (target.endsWith('/routes.ts') || (target.endsWith('/index.ts') && file !== 'src/app.ts')),
    )
    expect(breaches).toEqual([])
  })

  test('the source loads packages that an installation without development has', () => {
    const { dependencies } = JSON.parse(textOf('package.json'))
    const loaded = files.flatMap((file) => packagesOf(file).map((name) => `${file} loads ${name}`))
    expect(loaded.length).toBeGreaterThan(100)
    expect(loaded.filter((one) => !(one.replace(/^.* /, '') in dependencies))).toEqual([])
  })

  test('schemas import nothing but typebox and each other', () => {
    const breaches = imports.filter(
      ({ file, target }) =>
        file.startsWith('schemas/') && target !== 'package:typebox' && !target.startsWith('schemas/'),
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
        !file.startsWith('src/database/') &&
        !/(^|[/-])queries\.ts$/.test(file) &&
        BUILDS_SQL.test(textOf(file)),
    )
    expect(breaches).toEqual([])
  })

  test('transactions are begun in one place, which tries those again that a deadlock has undone', () => {
    const inSource = files.filter((file) => textOf(file).includes('.transaction()'))
    expect(inSource).toEqual([
      'src/database/migrate.ts',
      'src/database/transaction.ts',
      // Only looks.
      'src/cli/doctor/index.ts',
      // Needs an isolation of its own, and has written a file.
      'src/database/transfer/export.ts',
      // Reads from a stream, which cannot be read twice.
      'src/ingest/boundaries/replace.ts',
    ])
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

  test('no file is too long to be read in one sitting', () => {
    expect(longerThan(LONGEST_FILE, [...files, ...webModules()].map(lengthOf))).toEqual([])
  })

  test('nor is a test, or what tests share', () => {
    // It has a line for each route.
    const list = 'test/http/route-policies.ts'
    const lengths = sourceFiles('test')
      .filter((file) => file !== list)
      .map(lengthOf)
    expect(longerThan(LONGEST_TEST, lengths)).toEqual([])
  })

  test('no function is too long to be understood at once', () => {
    const lengths = [...files, ...webModules()].flatMap((file) =>
      functionLengths(textOf(file)).map(({ name, lines }) => ({ name: `${file} ${name}`, lines })),
    )
    expect(longerThan(LONGEST_FUNCTION, lengths)).toEqual([])
  })
})

function lengthOf(file: string): { name: string; lines: number } {
  return { name: file, lines: textOf(file).split('\n').length - 1 }
}

function longerThan(longest: number, lengths: { name: string; lines: number }[]): string[] {
  return lengths
    .filter(({ lines }) => lines > longest)
    .map(({ name, lines }) => `${name} has ${lines} lines: it may have ${longest}.`)
}
