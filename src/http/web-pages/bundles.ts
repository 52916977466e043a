import { createHash } from 'node:crypto'
import { basename } from 'node:path'

/** The modules of a page in one text. */
export interface Bundle {
  text: string
  /** The entity tag of its content. */
  tag: string
  /** Whether the modules are in it; else it imports them. */
  isWhole: boolean
}

const ENDING = '.bundle.js'

/** By its name a bundle lies beside the module that it begins with: what that finds from its own address is found. */
export const bundleNameOf = (entry: string): string => entry.replace(/\.js$/, ENDING)

/**
 * Reads the modules of pages, those of each page in one text: a phone far away waits for each round of requests. They are
 * made when somebody asks for the first of them, by what bundles the service itself, and kept beside that. From then on they
 * are in memory: an upgrade removes files under a service that still runs.
 *
 * @param entries the modules that begin pages
 * @returns what reads a bundle by its name; undefined where none has that name
 */
export function createBundles(entries: readonly string[]): (name: string) => Promise<Bundle | undefined> {
  const entryOf = new Map(entries.map((entry) => [bundleNameOf(entry), entry]))
  let bundles: Promise<Map<string, Bundle> | undefined> | undefined

  async function read(): Promise<Map<string, Bundle> | undefined> {
    const texts = await readTexts()
    // Neither kept nor to be made just now: it may be later.
    if (!texts) bundles = undefined
    return texts && new Map([...texts].map(([entry, text]) => [entry, bundleOf(text, true)]))
  }

  return async (name) => {
    const entry = entryOf.get(name)
    if (entry === undefined) return undefined
    bundles ??= read()
    // The modules are there one by one, too, which takes a round of requests for each that imports others.
    return (await bundles)?.get(entry) ?? bundleOf(`import './${basename(entry)}'\n`, false)
  }
}

function bundleOf(text: string, isWhole: boolean): Bundle {
  return { text, isWhole, tag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"` }
}

/** What bundles is JavaScript of its own, which no bundle has in it. */
async function readTexts(): Promise<Map<string, string> | undefined> {
  const bundler = new URL('../../../bin/typescript.mjs', import.meta.url).href
  const { bundledPages } = (await import(bundler)) as {
    bundledPages: () => Promise<Map<string, string> | undefined>
  }
  return bundledPages()
}
