import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'

const ROOT = resolve(import.meta.dirname, '..')

/**
 * What a file may import: things of a lower layer, and of its own. What stands side by side knows nothing
 * of each other.
 */
const LAYERS: [path: string, layer: number][] = [
  ['src/server.ts', 8],
  ['src/cli/', 8],
  ['src/app.ts', 7],
  ['src/ingest/', 6],
  ['src/domains/', 5],
  ['src/http/', 4],
  ['src/database/', 3],
  ['src/raster/', 3],
  ['src/config.ts', 2],
  ['src/errors.ts', 2],
  ['src/products/', 2],
  ['src/lib/', 1],
  ['schemas/', 0],
]

/** Layers that stand side by side. */
const APART: [string, string][] = [['src/lib/', 'schemas/']]

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

  test('the rooms of advisory know the lookup and not each other', () => {
    const breaches = internal.filter(({ file, target }) => {
      const room = roomOf(file)
      const other = roomOf(target)
      return room && other && other !== room && other !== 'lookup'
    })
    expect(breaches).toEqual([])
  })

  test('rasters stand on nothing but themselves and Node', () => {
    const breaches = imports.filter(
      ({ file, target }) =>
        file.startsWith('src/raster/') &&
        !target.startsWith('src/raster/') &&
        !target.startsWith('package:node:'),
    )
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
