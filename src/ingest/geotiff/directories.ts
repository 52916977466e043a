import { type FileHandle, open, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { openNameless } from '#src/data/nameless-file.ts'
import { OperatorError } from '#src/errors.ts'

/** By type: 3 is SHORT, 4 LONG, 12 DOUBLE, 16 LONG8. */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]

/** Offsets of a million blocks; no other tag of a raster is longer. */
const MAX_TAG_BYTES = 8 * 2 ** 20
/** Up to the offset of the first directory. */
const HEADER_BYTES = { classic: 8, big: 16 }
/** An image, its overviews and their masks. */
const MAX_DIRECTORIES = 100
/** The limit of classic TIFF. */
const MAX_ENTRIES = 65_535

const NEW_SUBFILE_TYPE = 254
/** Bits of overviews and transparency masks. */
const REDUCED = 1
const MASK = 4

/** Classic TIFF has offsets of 4 bytes, BigTIFF of 8. */
interface NumberFormat {
  littleEndian: boolean
  big: boolean
}

/**
 * Checks the directories before geotiff follows them: it trusts lengths of tags, and follows circles for ever.
 *
 * @returns the index of the first image's mask
 */
export async function examineDirectories(file: FileBytes, path: string): Promise<{ mask?: number }> {
  const head = await readView(file, 0, HEADER_BYTES.classic)
  const format: NumberFormat = { littleEndian: head.getUint8(0) === 0x49, big: false }
  format.big = head.getUint16(2, format.littleEndian) === 43
  const seen = new Set<number>()
  let mask: number | undefined
  let offset = format.big
    ? offsetAt(await readView(file, 0, HEADER_BYTES.big), 8, format)
    : offsetAt(head, 4, format)
  while (offset !== 0) {
    if (seen.has(offset)) throw new OperatorError(`${path} is damaged: its directories go round in a circle.`)
    if (seen.size === MAX_DIRECTORIES) {
      throw new OperatorError(`${path} has more than ${MAX_DIRECTORIES} images; one of them is read.`)
    }
    const directory = await examine(file, offset, format, path)
    if (directory.masks && seen.size > 0) mask ??= seen.size
    seen.add(offset)
    offset = directory.next
  }
  return { mask }
}

/** @returns whether it is the mask of the whole image, and the offset of the next one, 0 after the last */
async function examine(file: FileBytes, offset: number, format: NumberFormat, path: string) {
  const { littleEndian, big } = format
  const [countBytes, entryBytes, offsetBytes] = big ? [8, 20, 8] : [2, 12, 4]
  const head = await readView(file, offset, countBytes)
  const count = big ? offsetAt(head, 0, format) : head.getUint16(0, littleEndian)
  if (count > MAX_ENTRIES) {
    throw new OperatorError(
      `${path} is damaged: a directory of it has ${count} tags, of ${MAX_ENTRIES} at most.`,
    )
  }
  const entries = await readView(file, offset + countBytes, count * entryBytes + offsetBytes)
  let masks = false
  for (let at = 0; at < count * entryBytes; at += entryBytes) {
    const tag = entries.getUint16(at, littleEndian)
    const values = big ? offsetAt(entries, at + 4, format) : entries.getUint32(at + 4, littleEndian)
    const bytes = values * (TYPE_BYTES[entries.getUint16(at + 2, littleEndian)] ?? 0)
    if (bytes > MAX_TAG_BYTES) {
      throw new OperatorError(
        `${path} says that its tag ${tag} has ${values} values, which are ${bytes} bytes; at most ${MAX_TAG_BYTES} are read of a tag.`,
      )
    }
    if (tag === NEW_SUBFILE_TYPE) {
      // The lowest byte of a LONG.
      const lowest = at + (format.big ? 12 : 8) + (format.littleEndian ? 0 : 3)
      masks = (entries.getUint8(lowest) & (MASK | REDUCED)) === MASK
    }
  }
  return { masks, next: offsetAt(entries, count * entryBytes, format) }
}

function offsetAt(view: DataView, at: number, { littleEndian, big }: NumberFormat): number {
  return big ? Number(view.getBigUint64(at, littleEndian)) : view.getUint32(at, littleEndian)
}

async function readView(file: FileBytes, offset: number, length: number): Promise<DataView> {
  if (offset + length > file.fileSize) {
    throw new Error(
      `it is to be at bytes ${offset} to ${offset + length - 1}, and the file has ${file.fileSize}`,
    )
  }
  return new DataView((await file.fetchSlice({ offset, length })).data)
}

/** Read at a time, of slices that follow each other. */
const AHEAD_BYTES = 128 * 1024

export interface Slice {
  offset: number
  length: number
}

/**
 * A source for geotiff's parser. Its own pads the end of a file with zeros, and offset 0 means an unwritten block: a
 * truncated file would look empty. This one ends with the file.
 */
export class FileBytes {
  readonly #file: FileHandle
  readonly fileSize: number
  /** Of the last slice. */
  #lastEnd = 0
  #ahead: { offset: number; end: number; bytes: Promise<Uint8Array> } | undefined

  private constructor(file: FileHandle, size: number) {
    this.#file = file
    this.fileSize = size
  }

  static async open(path: string): Promise<FileBytes> {
    const file = await open(path)
    return new FileBytes(file, (await file.stat()).size)
  }

  /** A file without a name, which ends with its use. */
  static async createTemporary(pieces: AsyncIterable<Uint8Array>): Promise<FileBytes> {
    const file = await openNameless(tmpdir())
    try {
      await writeFile(file, pieces)
      return new FileBytes(file, (await file.stat()).size)
    } catch (error) {
      await file.close()
      throw error
    }
  }

  async fetch(slices: Slice[]): Promise<ArrayBuffer[]> {
    return Promise.all(slices.map(async (slice) => (await this.fetchSlice(slice)).data))
  }

  async fetchSlice({ offset, length }: Slice): Promise<Slice & { data: ArrayBuffer }> {
    const bytes = new Uint8Array(Math.max(0, Math.min(length, this.fileSize - offset)))
    for (let at = 0; at < bytes.length; ) {
      const { bytesRead } = await this.#file.read(bytes, at, bytes.length - at, offset + at)
      if (bytesRead === 0) throw new Error('the file became shorter while it was read')
      at += bytesRead
    }
    return { offset, length, data: bytes.buffer }
  }

  /** Not to be changed. Small slices one after the other, such as strips, are read together. */
  async read({ offset, length }: Slice): Promise<Uint8Array> {
    const end = offset + length
    let ahead = this.#ahead
    if (!ahead || offset < ahead.offset || end > ahead.end) {
      const size = offset === this.#lastEnd ? Math.max(length, AHEAD_BYTES) : length
      const bytes = this.fetchSlice({ offset, length: size }).then(({ data }) => new Uint8Array(data))
      ahead = { offset, end: offset + size, bytes }
      this.#ahead = ahead
    }
    this.#lastEnd = end
    return (await ahead.bytes).subarray(offset - ahead.offset, end - ahead.offset)
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
