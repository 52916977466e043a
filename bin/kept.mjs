// What is kept of bundles: which is the latest of a folder, and of which sources it is.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The folder of the project. */
export const ROOT = dirname(import.meta.dirname)

/** The file of a folder that says which of its bundles is the latest. */
export const LATEST = 'latest.json'

/**
 * What a folder says of its latest bundle: `inputs` are files of the project and `outputs` those of the bundle, both with
 * what they come to. The files themselves are read, which takes some ten milliseconds and is never wrong about an edit.
 */
export function keptIn(folder) {
  try {
    const { bundle, entry, inputs, outputs } = JSON.parse(readFileSync(join(folder, LATEST), 'utf8'))
    const files = join(folder, bundle)
    // The bundle finds the sources by where it lies: a link to somewhere else would lead it astray.
    const isSame = realpathSync(files) === files && isDigestOf(inputs, ROOT) && isDigestOf(outputs, files)
    return isSame ? join(files, entry) : undefined
  } catch {
    return undefined
  }
}

function isDigestOf({ files, digest }, folder) {
  return digestOf(files, (file) => contentOf(join(folder, file))) === digest
}

/** Of a file; of a folder, whose name ends with a slash, the names of all that is in it. */
export const contentOf = (path) =>
  path.endsWith('/')
    ? Buffer.from(readdirSync(path, { recursive: true }).sort().join('\n'))
    : readFileSync(path)

/**
 * What files come to, by their names and contents.
 *
 * @param {string[]} files
 * @param {(file: string) => Buffer} read
 */
export function digestOf(files, read) {
  const hash = createHash('sha256')
  for (const file of files) {
    const content = read(file)
    hash.update(`${file} ${content.length}\n`).update(content)
  }
  return hash.digest('hex')
}
