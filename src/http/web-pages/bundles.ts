import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

/** The modules of a page in one file, or a text that imports them where there is none. */
export interface Bundle {
  path: string | undefined
  text: string
  /** The entity tag of its content. */
  tag: string
}

const ENDING = '.bundle.js'

/** By its name a bundle lies beside the module that it begins with: what that finds from its own address is found. */
export const bundleNameOf = (entry: string): string => entry.replace(/\.js$/, ENDING)

/**
 * Reads the modules of pages, those of each page in one file: a phone far away waits for each round of requests. They are
 * made when somebody asks for the first of them, by what bundles the service itself, and kept beside that.
 *
 * @param entries the modules that begin pages
 * @returns what reads a bundle by its name; undefined where none has that name
 */
export function createBundles(entries: readonly string[]): (name: string) => Promise<Bundle | undefined> {
  const entryOf = new Map(entries.map((entry) => [bundleNameOf(entry), entry]))
  const known = new Map<string, Promise<Bundle>>()
  let folder: Promise<string | undefined> | undefined

  async function load(entry: string): Promise<Bundle> {
    folder ??= makeBundles()
    const made = await folder
    const path = made && join(made, entry)
    const content = path && (await readFile(path, 'utf8').catch(() => undefined))
    // Where nothing can be made or kept, its modules are loaded one by one.
    const text = content ?? `import './${basename(entry)}'\n`
    const tag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
    return { path: content === undefined ? undefined : path, text, tag }
  }

  return async (name) => {
    const entry = entryOf.get(name)
    if (entry === undefined) return undefined
    const bundle = known.get(name) ?? load(entry)
    known.set(name, bundle)
    return bundle
  }
}

/** What bundles is JavaScript of its own, which no bundle has in it. */
async function makeBundles(): Promise<string | undefined> {
  const bundler = new URL('../../../bin/typescript.mjs', import.meta.url).href
  const { bundledPages } = (await import(bundler)) as { bundledPages: () => Promise<string | undefined> }
  return bundledPages()
}
