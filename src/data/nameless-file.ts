import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Opens a file without a name: the system frees its bytes with the handle, also after a crash. */
export async function openNameless(folder: string): Promise<FileHandle> {
  const path = join(folder, `agro-${randomBytes(9).toString('hex')}`)
  const handle = await open(path, 'wx+', 0o600)
  try {
    await rm(path)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}
