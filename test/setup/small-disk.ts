import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mountDisk, unmountDisk } from '#chaos/faults/disks.ts'

/** A disk that the server may use; undefined where it cannot be made. */
export function mountSmallDisk(
  dataFolder: string,
  megabytes = 2,
): { folder: string; unmount(): void } | undefined {
  if (process.getuid?.() !== 0 || !existsSync(dataFolder)) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'agro-small-disk-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  if (!mountDisk(folder, megabytes)) return void remove()
  chownSync(folder, statSync(dataFolder).uid, -1)
  chmodSync(folder, 0o700)
  return {
    folder,
    unmount() {
      unmountDisk(folder)
      remove()
    },
  }
}
