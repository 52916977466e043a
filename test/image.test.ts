import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { bundleOf, keepPages } from '../bin/typescript.mjs'

const ROOT = resolve(import.meta.dirname, '..')

const read = (name: string) => readFileSync(join(ROOT, name), 'utf8')

/** What the Dockerfile takes from the repository, by its names there. */
const copied = [...read('Dockerfile').matchAll(/^COPY (?!--from)(.*) \S+$/gm)].flatMap(([, names = '']) =>
  names.split(' '),
)

/** What Docker is given at all: the lines of .dockerignore that let something in. */
const givenToDocker = [...read('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, name = '']) => name)

/** The documents that pages show. */
const documents = sourcesIn('src').flatMap((file) =>
  [...read(file).matchAll(/file: '([\w./]+\.md)'/g)].map(([, name = '']) => join('docs', name)),
)

test('the image has every file and folder that the service reads while it runs', () => {
  const wanted = [...new Set([...namedFiles(), ...documents])].filter((name) => name !== '')
  expect(wanted).toEqual(expect.arrayContaining(['package.json', 'sql', 'web']))
  expect(wanted.filter((name) => !isWithin(name, copied))).toEqual([])
  // Of docs, what is shown alone.
  const given = wanted.filter((name) => name !== 'docs')
  expect(given.filter((name) => !isWithin(name, givenToDocker))).toEqual([])
})

test('the image is built of nothing that Docker is not given', () => {
  const given = (name: string) => givenToDocker.some((one) => one === name || one.startsWith(`${name}/`))
  expect(copied.filter((name) => !given(name))).toEqual([])
})

test('the image has all that bundles are of, so that they are taken for those of its sources', async () => {
  const leftOut = [...read('Dockerfile').matchAll(/rm -rf ((?:[^&]|\\\n)*)/g)].flatMap(([, names = '']) =>
    names.split(/[\s\\]+/).filter(Boolean),
  )
  expect(leftOut).toContain('node_modules/tsx')
  for (const [name, made] of [
    ['web', await keepPages()],
    ['src-server.ts', await bundleOf(join(ROOT, 'src/server.ts'))],
  ] as const) {
    const folder = join('node_modules/.cache/bundles', name)
    const { bundle, entry, inputs } = JSON.parse(read(join(folder, 'latest.json')))
    expect(made).toBe(join(ROOT, folder, bundle, entry))
    expect(inputs.files.filter((file: string) => isWithin(file, leftOut))).toEqual([])
  }
})

/** The files of the repository that the source names by where they are, as seen from the file that names them. */
function namedFiles(): string[] {
  return ['src', 'bin'].flatMap((folder) => sourcesIn(folder).flatMap(namedIn))
}

function sourcesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs)$/.test(name))
    .map((name) => join(folder, name))
}

function namedIn(file: string): string[] {
  const patterns = [/import\.meta\.dirname, '([^']+)'/g, /new URL\('([^']+)', import\.meta\.url\)/g]
  return patterns
    .flatMap((pattern) => [...read(file).matchAll(pattern)])
    .map(([, place = '']) => relative(ROOT, join(ROOT, dirname(file), place)))
}

const isWithin = (name: string, folders: string[]) =>
  folders.some((folder) => name === folder || name.startsWith(`${folder}/`))
