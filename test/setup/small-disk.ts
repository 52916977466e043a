import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A disk of two megabytes that the server may use; undefined where it cannot be made. */
export function mountSmallDisk(dataFolder: string): { folder: string; unmount(): void } | undefined {
  if (process.getuid?.() !== 0 || !existsSync(dataFolder)) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'agro-small-disk-'))
  const { uid } = statSync(dataFolder)
  const { status } = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=2m,uid=${uid},mode=0700`,
    'tmpfs',
    folder,
  ])
  const unmount = () => {
    if (status === 0) spawnSync('umount', ['-l', folder])
    rmSync(folder, { recursive: true, force: true })
  }
  if (status === 0) return { folder, unmount }
  unmount()
  return undefined
}
