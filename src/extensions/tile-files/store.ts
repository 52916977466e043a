import { randomBytes } from 'node:crypto'
import { mkdir, open, opendir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { StorageUnavailable } from '#src/data/failures.ts'
import { formatError, readErrorCode } from '#src/lib/promises.ts'

/** Immutable files by unique names: in a folder, on a web server or in a bucket. */
export interface FileStore {
  /** For people. */
  readonly address: string
  /** Throws StorageUnavailable, or FileMissing for a file that is missing or too short. */
  read(name: string, offset: number, length: number, signal?: AbortSignal): Promise<Buffer>
  /** From then on the file outlasts a loss of power. Throws StorageUnavailable, or OperatorError in a store for reads. */
  write(name: string, bytes: Buffer): Promise<void>
  /** All files in no order, also those that were cut off; throws as `write`. */
  list(): AsyncIterable<ListedFile>
  /** A missing file is no mistake. */
  remove(name: string): Promise<void>
}

export interface ListedFile {
  name: string
  /** Whether its write was cut off. */
  unfinished: boolean
  bytes: number
  writtenAt: Date
}

/**
 * Writers of files share it, removers hold it alone: an unused file may be rewritten during its removal. All processes
 * share this arbitrary number.
 */
export const FILES_LOCK = 7_239_462

class FileUnreadable extends StorageUnavailable {
  constructor(message: string) {
    super(message, { hasAnswered: true })
  }
}

export class FileMissing extends FileUnreadable {
  override name = 'FileMissing'
}

export class FileDamaged extends FileUnreadable {
  override name = 'FileDamaged'
}

/** A path in a store: folders of thousands of files are slow to list. */
export function pathOf(name: string): string {
  return `${name.slice(0, 2)}/${name}`
}

/** The file at a path of `pathOf`; undefined for other paths. */
export function fileAt(path: string): Pick<ListedFile, 'name' | 'unfinished'> | undefined {
  const [, , name, rest] = /^([0-9a-f]{2})\/(\1[0-9a-f]{62}\.tif(\.[0-9a-f]{12})?)$/.exec(path) ?? []
  return name === undefined ? undefined : { name, unfinished: rest !== undefined }
}

/** A part of a file, and its check. */
export interface Range {
  name: string
  offset: number
  length: number
  isWhole(bytes: Buffer): boolean
}

/** Reads checked parts of files. */
export interface RangeReader {
  /** Throws as `read` of a store, and FileDamaged where the check fails. */
  read(range: Range, signal?: AbortSignal): Promise<Buffer>
}

export function createRangeReader(store: FileStore): RangeReader {
  return {
    async read({ name, offset, length, isWhole }, signal) {
      const bytes = await store.read(name, offset, length, signal)
      if (isWhole(bytes)) return bytes
      throw new FileDamaged(`${length} bytes of ${name} in ${store.address} are damaged`)
    },
  }
}

/** The store of a folder, which several machines may share. The first file creates it. */
export function openFolder(folder: string): FileStore {
  const pathTo = (name: string) => join(folder, pathOf(name))

  return {
    address: folder,
    async read(name, offset, length) {
      try {
        const file = await open(pathTo(name))
        try {
          const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset)
          if (bytesRead === length) return buffer
        } finally {
          await file.close()
        }
      } catch (error) {
        // Without the folder, a disk may not be mounted.
        if (readErrorCode(error) !== 'ENOENT' || !(await isThere(folder))) throw unavailable(folder, error)
      }
      throw new FileMissing(`${folder} has not all of ${name}`)
    },
    async write(name, bytes) {
      const path = pathTo(name)
      try {
        await makeFolder(dirname(path))
        await writeWhole(path, bytes, { flush: true })
        await syncFolder(dirname(path))
      } catch (error) {
        throw unavailable(folder, error)
      }
    },
    async *list() {
      if (!(await isThere(folder))) return
      try {
        for await (const entry of await opendir(folder, { recursive: true })) {
          const path = join(entry.parentPath, entry.name)
          const file = fileAt(relative(folder, path))
          const found = file && (await listed(path, file))
          if (found) yield found
        }
      } catch (error) {
        throw unavailable(folder, error)
      }
    },
    async remove(name) {
      await rm(pathTo(name), { force: true }).catch((error) => {
        throw unavailable(folder, error)
      })
    },
  }
}

/** The file is there once it has all of its bytes. */
export async function writeWhole(
  path: string,
  bytes: Buffer,
  options: { mode?: number; flush?: boolean },
): Promise<void> {
  const unfinished = `${path}.${randomBytes(6).toString('hex')}`
  try {
    await writeFile(unfinished, bytes, { flag: 'wx', ...options })
    await rename(unfinished, path)
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => {})
    throw error
  }
}

async function isThere(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

/** Undefined where the file was removed or renamed meanwhile. */
async function listed(
  path: string,
  file: Pick<ListedFile, 'name' | 'unfinished'>,
): Promise<ListedFile | undefined> {
  try {
    const { size, mtime } = await stat(path)
    return { ...file, bytes: size, writtenAt: mtime }
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Makes a folder and its parents, which outlast a loss of power. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true })
  if (first === undefined) return
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}

/** Renamed files outlast a loss of power after this. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

function unavailable(folder: string, error: unknown): StorageUnavailable {
  return new StorageUnavailable(`the files in ${folder} cannot be reached: ${formatError(error)}`, {
    cause: error,
  })
}
