import { opendir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { codeOf } from '#src/lib/caught.ts'

export interface DiskRoomLimits {
  /** What all files together may take. */
  mostBytes: number
  /** How many processes of a service have the folder: each knows only of what it has written itself, until it looks. */
  processes: number
}

/** Keeps a folder within its bound. */
export interface DiskRoom {
  /** Whether there can be room for so many bytes. */
  fits(bytes: number): boolean
  /** Notes that a file was written, and removes those used longest ago where there are too many. */
  add(folder: string, bytes: number): Promise<void>
  /** Files that were removed. */
  evictions(): number
}

/** The folders that files lie in, by so many hexadecimal digits. */
export const FOLDERS = { digits: 2, count: 256 }

/**
 * Folders are looked after in groups, so that looking at one takes little; a group is still large enough that what is
 * used longest ago in it is about what is used longest ago in all.
 */
const LEAST_GROUP_BYTES = 64 * 2 ** 20

/** What is left in a group that was too large, so that it is not looked at for each file. */
const PART_KEPT = 0.85

/** What a write has left that was cut off is removed after so long. */
const UNFINISHED_MS = 3_600_000

/**
 * After so much of its own a process looks again, however much room there was: others, of which it knows nothing, may
 * have written as much.
 */
const PART_UNSEEN = 1 / 8

/** What is known of a group: its bytes when they were counted, and what was written by this process since. */
interface Group {
  counted: number
  added: number
  /** Whether somebody counts. */
  counting: boolean
}

interface KeptFile {
  path: string
  bytes: number
  usedAt: number
}

export function createDiskRoom(folder: string, { mostBytes, processes }: DiskRoomLimits): DiskRoom {
  const groups = Math.min(FOLDERS.count, Math.max(1, Math.floor(mostBytes / LEAST_GROUP_BYTES)))
  const mostOfGroup = mostBytes / groups
  const known = new Map<number, Group>()
  let evictions = 0

  /** Counts what a group has, and makes room where that is too much. */
  async function look(number: number): Promise<number> {
    const files: KeptFile[] = []
    for (let at = number; at < FOLDERS.count; at += groups) {
      const name = at.toString(16).padStart(FOLDERS.digits, '0')
      await addFilesOf(join(folder, name), files)
    }
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0)
    if (bytes <= mostOfGroup * LOOK_AGAIN_PART) return bytes
    files.sort((a, b) => a.usedAt - b.usedAt)
    for (const file of files) {
      if (bytes <= mostOfGroup * PART_KEPT) break
      await rm(file.path, { force: true })
      bytes -= file.bytes
      evictions++
    }
    return bytes
  }

  return {
    evictions: () => evictions,
    fits: (bytes) => bytes <= mostOfGroup / 8,
    async add(folderName, bytes) {
      const number = Number.parseInt(folderName, 16) % groups
      const group = known.get(number) ?? { counted: Number.POSITIVE_INFINITY, added: 0, counting: false }
      known.set(number, group)
      group.added += bytes
      // Others may have written as much since.
      const isFull = group.counted + group.added * processes > mostOfGroup * LOOK_AGAIN_PART
      if (group.counting || !(isFull || group.added > mostOfGroup * PART_UNSEEN)) return
      group.counting = true
      try {
        const added = group.added
        group.counted = await look(number)
        group.added -= added
      } finally {
        group.counting = false
      }
    },
  }
}

/** A group that is about so full is looked at: what others write meanwhile has room beside it. */
const LOOK_AGAIN_PART = 0.95

/** A part of a file, and what is left of one that was not written to its end. What else lies there is not ours. */
const OWN_NAME = /^[0-9a-f]{64}\.tif\.\d+-\d+(?<rest>\.[0-9a-f]{12})?$/

async function addFilesOf(folder: string, files: KeptFile[]): Promise<void> {
  const entries = await opendir(folder).catch(unlessGone)
  if (!entries) return
  for await (const { name } of entries) {
    const kind = OWN_NAME.exec(name)
    if (!kind) continue
    const path = join(folder, name)
    const found = await stat(path).catch(unlessGone)
    if (!found) continue
    if (kind.groups?.rest && Date.now() - found.mtimeMs > UNFINISHED_MS) await rm(path, { force: true })
    else files.push({ path, bytes: found.size, usedAt: found.mtimeMs })
  }
}

/** What another process has removed meanwhile is nothing to us. */
function unlessGone(error: unknown): undefined {
  if (codeOf(error) !== 'ENOENT') throw error
}
