import type { FileHandle } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { Cache } from '#src/lib/cache.ts'

/** A file that was made, and what names its bytes. */
interface MadeFile {
  bytes: number
  /** The same for the same bytes, and for no others. */
  checksum: string
}

/** A nameless file with all of its bytes. */
export interface WrittenFile extends MadeFile {
  handle: FileHandle
}

/** A file that stays until its reader closes it. */
export interface OpenMadeFile extends MadeFile {
  /** Closes the file at its own end. */
  stream(first: number, last: number): Readable
  close(): void
}

interface StoredFile extends WrittenFile {
  /** The cache is one of them. */
  users: number
}

/** Each has a file descriptor. */
const MOST_FILES = 200

/** Checksums of evicted files: a hundred bytes each. */
const MOST_KNOWN = 10_000

/** Stored files and evicted ones with readers take so many times the bound of stored ones. */
const MOST_WITH_READ = 2

/** The bound of the disk, in the same unit: with one new file, and its parts beside it. */
export const MOST_ON_DISK = MOST_WITH_READ + 2

/**
 * Keeps files that take a while to make and never change, by keys.
 *
 * @param mostBytes of all stored files; a file that is being made comes on top
 */
export function createMadeFiles(mostBytes: number) {
  const facts = new Cache<string, MadeFile>('known files', { max: MOST_KNOWN })
  const making = new Map<string, Promise<void>>()
  /** Of stored files and of evicted ones with readers. */
  let bytesOnDisk = 0
  const stored = new Cache<string, StoredFile>('made files', {
    max: MOST_FILES,
    maxSize: mostBytes,
    sizeOf: ({ bytes }) => bytes,
    onRemoved: leave,
  })

  function leave(file: StoredFile): void {
    if (--file.users > 0) return
    bytesOnDisk -= file.bytes
    // Its bytes are free in any case.
    file.handle.close().catch(() => {})
  }

  async function add(key: string, write: () => Promise<WrittenFile>): Promise<void> {
    const file = { ...(await write()), users: 1 }
    bytesOnDisk += file.bytes
    facts.set(key, { bytes: file.bytes, checksum: file.checksum })
    stored.set(key, file)
    // It may be too large.
    if (stored.peek(key) !== file) leave(file)
  }

  return {
    /** Size and checksum, also of an evicted file. */
    facts: (key: string) => facts.get(key),
    open(key: string): OpenMadeFile | undefined {
      const file = stored.get(key)
      if (!file) return undefined
      file.users++
      const { bytes, checksum, handle } = file
      const close = () => leave(file)
      return { bytes, checksum, close, stream: (first, last) => streamOf(handle, first, last, close) }
    },
    /** Whether no file may be made for now, since readers hold too many evicted ones. The maker asks first. */
    isFull: () => bytesOnDisk > MOST_WITH_READ * mostBytes,
    /** Makes a file, once for concurrent callers. */
    make(key: string, write: () => Promise<WrittenFile>): Promise<void> {
      const begun = making.get(key)
      if (begun) return begun
      const ending = add(key, write).finally(() => making.delete(key))
      making.set(key, ending)
      return ending
    },
    async close(): Promise<void> {
      await Promise.allSettled(making.values())
      stored.clear()
    },
  }
}

/** Streams of Node close the handle, which others read too. */
function streamOf(handle: FileHandle, first: number, last: number, close: () => void): Readable {
  let at = first
  return new Readable({
    read(size) {
      const length = Math.min(size, last + 1 - at)
      if (length === 0) return void this.push(null)
      handle.read(Buffer.allocUnsafe(length), 0, length, at).then(
        ({ buffer, bytesRead }) => {
          at += bytesRead
          this.push(buffer.subarray(0, bytesRead))
        },
        (error) => this.destroy(error),
      )
    },
    destroy(error, done) {
      close()
      done(error)
    },
  })
}
