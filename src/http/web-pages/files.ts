import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { extname, join, relative, sep } from 'node:path'

/** A file that pages may load. */
export interface WebFile {
  /** Where it is on the disk. */
  path: string
  mediaType: string
  /** The entity tag of its content. */
  tag: string
}

export interface WebFiles {
  /** The same as long as all files are: a part of their addresses, since modules import each other by relative ones. */
  version: string
  /** By their names, such as `map/page.js`: what is not in it is not served. */
  files: ReadonlyMap<string, WebFile>
}

const OURS = join(import.meta.dirname, '../../../web')

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.geojson': 'application/geo+json',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Reads the files of the pages, and those of libraries. */
export function readWebFiles(libraries: Readonly<Record<string, string>>): WebFiles {
  const version = createHash('sha256')
  const files = new Map<string, WebFile>()
  for (const [name, path] of [...ourFiles(), ...Object.entries(libraries)].sort()) {
    const content = readFileSync(path)
    // Modules, too, which bundles are made of.
    version.update(name).update(content)
    const mediaType = MEDIA_TYPES[extname(name)]
    if (mediaType === undefined) continue
    const tag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`
    files.set(name, { path, mediaType, tag })
  }
  return { version: version.digest('hex').slice(0, 12), files }
}

function ourFiles(): [name: string, path: string][] {
  return readdirSync(OURS, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [relative(OURS, path).replaceAll(sep, '/'), path])
}
