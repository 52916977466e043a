import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { OperatorError } from '#src/errors.ts'
import { codeOf, messageOf } from '#src/lib/caught.ts'
import { isArchive, openArchive } from './archive.ts'

/**
 * The files that a layer names, as absolute paths or addresses, each once. `*` stands for any part of a name; what it finds
 * comes in the order of the names.
 *
 * @param folder what relative paths begin at
 * @throws {OperatorError} when a name with `*` fits no file
 */
export async function pathsOf(folder: string, names: string[]): Promise<[string, ...string[]]> {
  const paths: string[] = []
  for (const name of names) {
    if (isAddress(name)) {
      paths.push(name)
      continue
    }
    const path = resolve(folder, name)
    paths.push(...(basename(path).includes('*') ? await findAll(path) : [path]))
  }
  return [...new Set(paths)] as [string, ...string[]]
}

/** Whether a file is named by an address. */
export function isAddress(name: string): boolean {
  return /^https?:/i.test(name)
}

async function findAll(pattern: string): Promise<string[]> {
  const folder = dirname(pattern)
  const names = await readdir(folder).catch((error) => {
    if (codeOf(error) === 'ENOTDIR' && isArchive(folder)) return namesIn(folder)
    if (codeOf(error) === 'ENOENT')
      throw new OperatorError(`${folder} does not exist.`, { code: 'NOT_FOUND' })
    throw new OperatorError(`${folder} cannot be read: ${messageOf(error)}.`)
  })
  const found = names.filter((name) => fits(name, basename(pattern).split('*')))
  if (found.length === 0) throw new OperatorError(`${pattern} fits no file.`)
  return found.toSorted().map((name) => join(folder, name))
}

/** The files in an archive, but for those in its folders. */
async function namesIn(path: string): Promise<string[]> {
  const { names, close } = await openArchive(path, path)
  close()
  return names.filter((name) => !name.includes('/'))
}

/** Whether a name has these parts one after the other, from its beginning to its end. */
function fits(name: string, [start = '', ...parts]: string[]): boolean {
  const end = parts.pop() ?? ''
  if (!name.startsWith(start) || !name.endsWith(end)) return false
  let at = start.length
  for (const part of parts) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return at + end.length <= name.length
}
