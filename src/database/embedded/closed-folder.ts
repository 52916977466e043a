import { existsSync } from 'node:fs'
import { chmod, lstat, readdir, realpath } from 'node:fs/promises'
import { join } from 'node:path'

/** What the service writes into the folder of its data. */
const OURS = ['postgres', 'postgis', 'lock', 'unfinished', 'jwt-secret']

/** What others than the owner may do: the group, and everybody. */
const OTHERS = 0o077
const STICKY = 0o1000

/** What was found open to other users of the machine. */
export interface Closing {
  /** Files and folders that are closed now. */
  closed: number
  /** Those that could not be closed: they are somebody else's, or on a file system that knows no owners. */
  open: string[]
}

/** Has all that this process makes from now on closed to other users of the machine. */
export function keepFilesPrivate(): void {
  process.umask(OTHERS)
}

/**
 * Closes what is ours in a folder to other users of the machine: there are e-mails and hashes in it, also in
 * logs. The folder itself is closed where nothing else is in it; it may be a home folder, or /tmp.
 */
export async function closeToOthers(folder: string): Promise<Closing> {
  const closing: Closing = { closed: 0, open: [] }
  // Windows has lists of who may do what; these modes say nothing there.
  if (process.platform === 'win32') return closing
  for (const path of await pathsOf(await realpath(folder))) {
    if (!(await isOpen(path))) continue
    await chmod(path, (await lstat(path)).mode & ~OTHERS & 0o777).catch(() => {})
    if (await isOpen(path)) closing.open.push(path)
    else closing.closed++
  }
  return closing
}

/** What of ours in a folder is open to other users of the machine; nothing where there is no such folder. */
export async function openToOthers(folder: string): Promise<string[]> {
  if (process.platform === 'win32' || !existsSync(folder)) return []
  const paths = await pathsOf(await realpath(folder))
  const open = await Promise.all(paths.map(isOpen))
  return paths.filter((_, index) => open[index])
}

/** What is ours, the outermost first: then what is inside is out of reach at once. */
async function pathsOf(folder: string): Promise<string[]> {
  const names = await readdir(folder)
  const ours = names.filter((name) => OURS.includes(name))
  const inside = await Promise.all(ours.map((name) => pathsWithin(join(folder, name))))
  // A folder such as /tmp says by its sticky bit that it is for everybody.
  const isOurs = ours.length === names.length && ((await lstat(folder)).mode & STICKY) === 0
  return [...(isOurs ? [folder] : []), ...inside.flat()]
}

async function pathsWithin(path: string): Promise<string[]> {
  if (!(await lstat(path)).isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  // The mode of a link is nobody's, and what it leads to may be something else.
  const paths = entries.filter((entry) => !entry.isSymbolicLink())
  return [path, ...paths.map(({ parentPath, name }) => join(parentPath, name))]
}

async function isOpen(path: string): Promise<boolean> {
  return ((await lstat(path)).mode & OTHERS) !== 0
}
