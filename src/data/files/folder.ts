import { randomBytes } from 'node:crypto'
import { access, constants, mkdir, open, opendir, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { codeOf, messageOf } from '#src/lib/promises.ts'
import { FileMissing, type FileStore, fileAt, type ListedFile, pathOf, StorageUnavailable } from './store.ts'

/** Makes the store of a folder, which several machines may share. It is made by the first file. */
export function openFolder(folder: string): FileStore {
  const placeOf = (name: string) => join(folder, pathOf(name))

  return {
    place: folder,
    async read(name, offset, length) {
      try {
        const file = await open(placeOf(name))
        try {
          const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, offset)
          if (bytesRead === length) return buffer
        } finally {
          await file.close()
        }
      } catch (error) {
        // Without the folder nothing can be said of what is in it: a disk may not be mounted.
        if (codeOf(error) !== 'ENOENT' || !(await isThere(folder))) throw unavailable(folder, error)
      }
      throw new FileMissing(`${folder} has not all of ${name}`)
    },
    async write(name, bytes) {
      const path = placeOf(name)
      const unfinished = `${path}.${randomBytes(6).toString('hex')}`
      try {
        await makeFolder(dirname(path))
        const file = await open(unfinished, 'wx')
        try {
          await file.writeFile(bytes)
          await file.sync()
        } finally {
          await file.close()
        }
        await rename(unfinished, path)
        await syncFolder(dirname(path))
      } catch (error) {
        await rm(unfinished, { force: true }).catch(() => {})
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
    async canWrite() {
      const nearest = await nearestFolder(resolve(folder))
      return access(nearest, constants.W_OK | constants.X_OK).then(
        () => true,
        () => false,
      )
    },
    async remove(name) {
      await rm(placeOf(name), { force: true }).catch((error) => {
        throw unavailable(folder, error)
      })
    },
  }
}

async function isThere(folder: string): Promise<boolean> {
  return stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

/** The folder, or the nearest above it where it has not been made yet. */
async function nearestFolder(folder: string): Promise<string> {
  return (await isThere(folder)) || dirname(folder) === folder ? folder : nearestFolder(dirname(folder))
}

/** A file with what is known of it; undefined where it has been removed or finished meanwhile. */
async function listed(
  path: string,
  file: Pick<ListedFile, 'name' | 'unfinished'>,
): Promise<ListedFile | undefined> {
  try {
    const { size, mtime } = await stat(path)
    return { ...file, bytes: size, writtenAt: mtime }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Makes a folder that outlasts a loss of power, with those above it. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true })
  if (first === undefined) return
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}

/** A file that was renamed is there after a loss of power once its folder has been written. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

function unavailable(folder: string, error: unknown): StorageUnavailable {
  return new StorageUnavailable(`the files in ${folder} cannot be reached: ${messageOf(error)}`, {
    cause: error,
  })
}
