import { createHash } from 'node:crypto'

/** The modules of a page in one text. */
export interface Bundle {
  text: string
  /** The entity tag of the text. */
  tag: string
}

/**
 * Reads the modules of pages, one text a page: a phone far away waits for each round of requests. The first request reads or
 * makes all of them. Then they are in memory, since an upgrade removes files under a running service.
 *
 * @returns a reader of bundles by name, which throws where none is stored and none can be made
 */
export function createBundles(): (name: string) => Promise<Bundle | undefined> {
  let bundles: Promise<Map<string, Bundle>> | undefined
  return async (name) => {
    if (!name.endsWith('.bundle.js')) return undefined
    bundles ??= readBundles().catch((error: unknown) => {
      // The next request tries again.
      bundles = undefined
      throw error
    })
    return (await bundles).get(name)
  }
}

async function readBundles(): Promise<Map<string, Bundle>> {
  // The bundler is JavaScript of its own, outside of all bundles.
  const bundler = new URL('../../../bin/typescript.mjs', import.meta.url).href
  const { bundledPages } = (await import(bundler)) as { bundledPages: () => Promise<Map<string, string>> }
  return new Map([...(await bundledPages())].map(([name, text]) => [name, { text, tag: tagOf(text) }]))
}

const tagOf = (text: string) => `"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`
