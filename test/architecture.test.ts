import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

/** What a file may import: things of a lower layer, and of its own folder. */
const LAYERS: [string, number][] = [
  ['src/server.ts', 7],
  ['src/cli/', 7],
  ['src/app.ts', 6],
  ['src/ingest/', 5],
  ['src/domains/', 4],
  ['src/plugins/', 3],
  ['src/database/', 2],
  ['src/config.ts', 1],
  ['src/errors.ts', 1],
  ['src/products.ts', 1],
  ['schemas/', 0],
]

function sourceFiles(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.d.ts'))
    .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(ROOT, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s+'([^']+)'/g)].map(([, specifier]) => {
    if (specifier?.startsWith('#')) return specifier.slice(1)
    if (specifier?.startsWith('.')) return relative(ROOT, resolve(ROOT, dirname(file), specifier))
    return `package:${specifier}`
  })
}

function layerOf(file: string): number | undefined {
  return LAYERS.find(([path]) => file === path || file.startsWith(path))?.[1]
}

function domainOf(file: string): string | undefined {
  return /^src\/domains\/([^/]+)\//.exec(file)?.[1]
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

  test('schemas import nothing but typebox and each other', () => {
    const breaches = imports.filter(
      ({ file, target }) =>
        file.startsWith('schemas/') && target !== 'package:typebox' && !target.startsWith('schemas/'),
    )
    expect(breaches).toEqual([])
  })

  test('no file is too long to be read in one sitting', () => {
    const long = files
      .map((file) => ({ file, lines: readFileSync(join(ROOT, file), 'utf8').split('\n').length }))
      .filter(({ lines }) => lines > 270)
    expect(long).toEqual([])
  })
})
