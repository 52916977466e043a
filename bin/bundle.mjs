// Bundles a TypeScript file with what it imports, for bin/typescript.mjs.
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative, sep } from 'node:path'
import { build, stop } from 'esbuild'
import { contentOf, digestOf, LATEST, ROOT } from './kept.mjs'

/** Packages of hundreds of small files. The others stay outside: what instruments them finds them where they are. */
const BUNDLED_PACKAGES = ['kysely', 'typebox']

/** Beside the latest: a process may import a part of its bundle long after its start. */
const OLDER_BUNDLES = 2

/** Others that start at the same time may be making or reading it. */
const YOUNG_MS = 10 * 60_000

/**
 * Makes a bundle, and keeps it as the latest of its folder.
 *
 * @param {string} entry the file, in the project
 * @param {string} folder of its bundles
 */
export const makeBundle = (entry, folder) => makeLatest(folder, (files) => bundleInto(files, entry))

/**
 * Makes one file of the modules of each page, and keeps them as the latest of their folder. A phone far away waits for each
 * round of requests.
 *
 * @param {string} folder of such bundles
 */
export const makePages = (folder) => makeLatest(folder, pagesInto)

/**
 * Processes may make the same at the same time: each has a folder of its own, and says that it is the latest when it is
 * complete.
 *
 * @param {string} folder
 * @param {(files: string) => Promise<object>} make makes files in a folder, and says what they follow from
 */
async function makeLatest(folder, make) {
  const files = join(folder, randomUUID())
  const first = mkdirSync(files, { recursive: true })
  try {
    const latest = await make(files)
    const unfinished = join(files, LATEST)
    writeFileSync(unfinished, JSON.stringify(latest))
    openAsSources(first, files)
    renameSync(unfinished, join(folder, LATEST))
  } catch (error) {
    rmSync(files, { recursive: true, force: true })
    throw error
  } finally {
    // Or its process would stay for as long as this one.
    await stop()
  }
  removeOld(folder)
}

/**
 * Lets whoever may read the sources read a bundle: the service may run as somebody else, and a process with an embedded
 * database keeps the files that it makes to itself.
 *
 * @param {string} first the outermost folder that was made
 * @param {string} files the innermost
 */
function openAsSources(first, files) {
  const ofFolders = statSync(import.meta.dirname).mode
  const ofFiles = statSync(import.meta.filename).mode
  for (let folder = files; folder.length >= first.length; folder = dirname(folder))
    chmodSync(folder, ofFolders)
  for (const entry of readdirSync(files, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? ofFolders : ofFiles)
  }
}

function removeOld(folder) {
  const bundles = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => ({ path: join(folder, name), madeAt: madeAt(join(folder, name)) }))
    .sort((a, b) => b.madeAt - a.madeAt)
  for (const { path, madeAt } of bundles.slice(1 + OLDER_BUNDLES)) {
    if (Date.now() - madeAt <= YOUNG_MS) continue
    try {
      rmSync(path, { recursive: true, force: true })
    } catch {
      // It is somebody else's, or is being removed.
    }
  }
}

/** When a bundle was made; of one that somebody else has removed meanwhile, long ago. */
function madeAt(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

async function bundleInto(outdir, entry) {
  const sources = new Map()
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outdir,
    outExtension: { '.js': '.mjs' },
    entryNames: '[name]',
    bundle: true,
    // What is imported later stays a file of its own.
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    sourcemap: 'linked',
    sourcesContent: false,
    plugins: [packagesOutside, readingSources(outdir, sources)],
    metafile: true,
    logLevel: 'silent',
  })
  const outputs = Object.entries(metafile.outputs).map(([path, output]) => ({ name: basename(path), output }))
  const names = outputs.map(({ name }) => name)
  const first = outputs.find(({ output }) => output.entryPoint === entry.replaceAll(sep, '/')).name
  return latestOf(outdir, first, sources, names, BUNDLED_PACKAGES)
}

/** Modules that begin a page. */
const BEGINS_A_PAGE = /(^|-)main\.ts$/

/** A bundle lies in a folder of `web`, as the core's modules do, and finds files from there. */
const PAGE_ENDING = '.bundle.js'

/** Pages of extensions that are one file: what they import is in it, for browsers of years ago. */
const isWhole = (name) => basename(dirname(name)) === 'whole'
const PACKAGES_OF_WHOLE_PAGES = ['fflate']

/**
 * The modules of each page in one text.
 *
 * @returns {Promise<Map<string, string>>} by the names of bundles, such as `map/main.bundle.js`
 */
export async function pageTexts() {
  const outdir = join(ROOT, 'web')
  try {
    const made = await buildPages({ outdir, write: false })
    const outputFiles = made.flatMap((one) => one.outputFiles)
    return new Map(outputFiles.map(({ path, text }) => [relative(outdir, path).replaceAll(sep, '/'), text]))
  } finally {
    await stop()
  }
}

async function pagesInto(outdir) {
  // Which pages and parts there are counts, too.
  const sources = new Map([['web/', contentOf(join(ROOT, 'web/'))]])
  const made = await buildPages({ outdir, metafile: true }, sources)
  const names = made
    .flatMap(({ metafile }) => Object.keys(metafile.outputs))
    .map((path) => relative(outdir, join(ROOT, path)))
  return latestOf(outdir, '.', sources, names, PACKAGES_OF_WHOLE_PAGES)
}

function buildPages(options, sources = new Map()) {
  const web = join(ROOT, 'web')
  const names = readdirSync(web, { recursive: true, encoding: 'utf8' }).filter((name) =>
    BEGINS_A_PAGE.test(basename(name)),
  )
  const common = {
    absWorkingDir: ROOT,
    outbase: 'web',
    outExtension: { '.js': PAGE_ENDING },
    bundle: true,
    minify: true,
    platform: 'browser',
    tsconfigRaw: { compilerOptions: { verbatimModuleSyntax: true } },
    logLevel: 'silent',
    plugins: [readingPages(sources)],
    ...options,
  }
  return Promise.all([
    build({
      ...common,
      entryPoints: names
        .filter((name) => !isWhole(name))
        .map((name) => ({ in: join('web', name), out: placeOf(name) })),
      format: 'esm',
      target: 'es2023',
      // Libraries are loaded by their names, when they are needed.
      packages: 'external',
    }),
    build({
      ...common,
      entryPoints: names.filter(isWhole).map((name) => join('web', name)),
      format: 'iife',
      target: 'es2020',
    }),
  ])
}

/** Without its ending: of `extensions/NAME/main.ts` it is `NAME/main`. */
const placeOf = (name) =>
  name
    .replaceAll(sep, '/')
    .replace(/^extensions\//, '')
    .replace(/\.ts$/, '')

/** What is said of the files of a folder, with what they follow from. */
function latestOf(outdir, entry, sources, names, packages = []) {
  // Beside sources: how it is made, where imports lead to, and the versions of the packages in it.
  for (const file of ['bin/bundle.mjs', 'package.json', ...[...packages, 'esbuild'].map(manifestOf)]) {
    sources.set(file, readFileSync(join(ROOT, file)))
  }
  return {
    bundle: basename(outdir),
    entry,
    inputs: summaryOf([...sources.keys()], (file) => sources.get(file)),
    outputs: summaryOf(names, (file) => readFileSync(join(outdir, file))),
  }
}

const manifestOf = (name) => `node_modules/${name}/package.json`

function summaryOf(files, read) {
  return { files, digest: digestOf(files, read) }
}

const packagesOutside = {
  name: 'packages outside',
  setup({ onResolve }) {
    onResolve({ filter: /^[^.#/]/ }, ({ path, kind }) => {
      const isBundled = BUNDLED_PACKAGES.some((name) => path === name || path.startsWith(`${name}/`))
      return kind === 'entry-point' || isBundled ? undefined : { path, external: true }
    })
  },
}

/** Keeps what was read of the sources, and has a page import the parts that extensions have in it. */
const readingPages = (sources) => ({
  name: 'reading pages',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) => {
      const source = readFileSync(path)
      sources.set(relative(ROOT, path), source)
      return { contents: withParts(source.toString()), loader: 'ts' }
    })
  },
})

const PARTS =
  /import\.meta\.glob(?:<\w+>)?\(\s*'(\.\.\/extensions)\/\*\/([\w-]+\.ts)',\s*\{\s*eager: true,\s*import: '(\w+)',?\s*\},?\s*\)/g

/** Puts in the place of `import.meta.glob`, as Vite has it, what each extension's module of a name exports. */
function withParts(source) {
  const imports = []
  const text = source.replaceAll(PARTS, (_, folder, file, exported) => {
    const paths = extensionFolders()
      .filter((name) => existsSync(join(EXTENSIONS, name, file)))
      .map((name) => `${folder}/${name}/${file}`)
    const first = imports.length
    imports.push(...paths.map((path, at) => `import { ${exported} as $part${first + at} } from '${path}'`))
    return `{ ${paths.map((path, at) => `'${path}': $part${first + at}`).join(', ')} }`
  })
  return [...imports, text].join('\n')
}

const EXTENSIONS = join(ROOT, 'web/extensions')

/** None where all are deleted. */
const extensionFolders = () => (existsSync(EXTENSIONS) ? readdirSync(EXTENSIONS).sort() : [])

/** Keeps what was read of the sources, and has them find files beside them: they ask where they are themselves. */
const readingSources = (outdir, sources) => ({
  name: 'reading sources',
  setup({ onLoad }) {
    onLoad({ filter: /\.ts$/, namespace: 'file' }, ({ path }) => {
      const source = readFileSync(path)
      sources.set(relative(ROOT, path), source)
      const text = source.toString()
      if (!text.includes('import.meta.')) return { contents: text, loader: 'ts' }
      const place = relative(outdir, path).replaceAll(sep, '/')
      // On its first line, so that those of stacks stay.
      const where =
        `import { dirname as $dirname } from 'node:path';import { fileURLToPath as $path } from 'node:url';` +
        `const $url = new URL(${JSON.stringify(place)}, import.meta.url).href;`
      const contents = text
        .replaceAll('import.meta.url', '$url')
        .replaceAll('import.meta.dirname', '$dirname($path($url))')
      return { contents: where + contents, loader: 'ts' }
    })
  },
})
