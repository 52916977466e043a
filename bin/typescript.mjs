// Imports TypeScript, each thread anew: as JavaScript that was bundled once and is kept, since hundreds of files would take
// a second or two to read and compile. Where nothing can be kept, as it is: Node 22.18 and later strip the types
// themselves, tsx does on Node 20.
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import module from 'node:module'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { keptIn, ROOT } from './kept.mjs'

/** Not in the folder for everybody, where others may have put something. */
const CACHE = join(ROOT, 'node_modules/.cache')

/**
 * Imports a TypeScript file, with all that it imports.
 *
 * @param {string | URL} file a path, or a URL of a file
 */
export async function importTypeScript(file) {
  const path = typeof file === 'string' ? file : fileURLToPath(file)
  const bundle = await bundleOf(path)
  // Node 22 and later keep what they have compiled.
  if (isOurs(dirname(CACHE))) module.enableCompileCache?.(join(CACHE, 'compiled'))
  if (bundle) {
    // Stacks name the lines of the sources.
    process.setSourceMapsEnabled(true)
    return import(pathToFileURL(bundle).href)
  }
  if (!process.features.typescript) {
    const { register } = await import('tsx/esm/api')
    register()
  }
  return import(pathToFileURL(path).href)
}

/**
 * The bundle of a TypeScript file: the one that is kept, where it is of these sources, or else a new one.
 *
 * @param {string} path
 * @returns {Promise<string | undefined>} its path; undefined where none can be made or kept, or the sources are wrong
 */
export async function bundleOf(path) {
  const name = relative(ROOT, path)
  if (name.startsWith('..')) return undefined
  return keptOrMade(name.replaceAll(sep, '-'), ({ makeBundle }, folder) => makeBundle(name, folder))
}

/**
 * The modules of each page in one text, by the names of bundles, such as `map/main.bundle.js`: the stored ones of these
 * sources, or else new ones.
 *
 * @returns {Promise<Map<string, string>>}
 * @throws where none is stored and esbuild fails
 */
export async function bundledPages() {
  const folder = await keepPages()
  return folder ? textsIn(folder) : (await import('./bundle.mjs')).pageTexts()
}

/**
 * Keeps the modules of each page in one file, where that is not done yet.
 *
 * @returns {Promise<string | undefined>} their folder; undefined where nothing can be kept
 */
export const keepPages = () => keptOrMade('web', ({ makePages }, folder) => makePages(folder))

function textsIn(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  const paths = files
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => path.endsWith('.js'))
  return new Map(
    paths.map((path) => [relative(folder, path).replaceAll(sep, '/'), readFileSync(path, 'utf8')]),
  )
}

/**
 * @param {string} name of the folder
 * @param {(makers: typeof import('./bundle.mjs'), folder: string) => Promise<void>} make
 */
async function keptOrMade(name, make) {
  const folder = join(CACHE, 'bundles', name)
  const bundle = keptIn(folder)
  if (bundle) return bundle
  try {
    if (!isOurs(dirname(CACHE))) return undefined
    await make(await import('./bundle.mjs'), folder)
    return keptIn(folder)
  } catch {
    return undefined
  }
}

/**
 * Whether what is put into a folder can be found and removed by its owner: not behind a link, which would lead a bundle
 * astray, and not by root in the folder of somebody else, who could install packages no more.
 */
function isOurs(folder) {
  try {
    return realpathSync(folder) === folder && statSync(folder).uid === (process.getuid?.() ?? 0)
  } catch {
    return false
  }
}
