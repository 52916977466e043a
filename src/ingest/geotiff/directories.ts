import { type FileHandle, open } from 'node:fs/promises'
import { OperatorError } from '#src/errors.ts'

/** Bytes of the values of one type, by its number: 3 is SHORT, 4 LONG, 12 DOUBLE, 16 LONG8. */
const TYPE_BYTES = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]

/** The places of a million strips or tiles, and more than any other tag of a raster takes. */
const MAX_TAG_BYTES = 8 * 2 ** 20
/** What a file begins with, to the place of its first directory. */
const HEADER_BYTES = { classic: 8, big: 16 }
/** Images of a file: it has one, its overviews and their masks. */
const MAX_DIRECTORIES = 100
/** Classic TIFF cannot have more. */
const MAX_ENTRIES = 65_535

const NEW_SUBFILE_TYPE = 254
/** Its bits of an overview, and of a transparency mask. */
const REDUCED = 1
const MASK = 4

/** How the numbers of a file are written: classic TIFF has offsets of 4 bytes, BigTIFF of 8. */
interface Form {
  littleEndian: boolean
  big: boolean
}

interface Directory {
  /** Whether it is of the mask of the whole image, not of one of its overviews. */
  masks: boolean
  /** Where the next one lies; 0 after the last. */
  next: number
}

/**
 * Walks through the directories of a TIFF before anything is read that they point at: geotiff takes their
 * word for how long a tag is, and follows a circle for ever.
 *
 * @returns which of them, from 0, is of the mask of the first
 * @throws {OperatorError} where a tag is longer than any raster needs, or the directories do not end
 */
export async function examineDirectories(file: FileBytes, path: string): Promise<{ mask?: number }> {
  const head = await viewOf(file, 0, HEADER_BYTES.classic)
  const form: Form = { littleEndian: head.getUint8(0) === 0x49, big: false }
  form.big = head.getUint16(2, form.littleEndian) === 43
  const seen = new Set<number>()
  let mask: number | undefined
  let offset = form.big ? offsetAt(await viewOf(file, 0, HEADER_BYTES.big), 8, form) : offsetAt(head, 4, form)
  while (offset !== 0) {
    if (seen.has(offset)) throw new OperatorError(`${path} is damaged: its directories go round in a circle.`)
    if (seen.size === MAX_DIRECTORIES) {
      throw new OperatorError(`${path} has more than ${MAX_DIRECTORIES} images; one of them is read.`)
    }
    const directory = await examine(file, offset, form, path)
    if (directory.masks && seen.size > 0) mask ??= seen.size
    seen.add(offset)
    offset = directory.next
  }
  return { mask }
}

async function examine(file: FileBytes, offset: number, form: Form, path: string): Promise<Directory> {
  const { littleEndian, big } = form
  const [countBytes, entryBytes, offsetBytes] = big ? [8, 20, 8] : [2, 12, 4]
  const head = await viewOf(file, offset, countBytes)
  const count = big ? offsetAt(head, 0, form) : head.getUint16(0, littleEndian)
  if (count > MAX_ENTRIES) {
    throw new OperatorError(
      `${path} is damaged: a directory of it has ${count} tags, of ${MAX_ENTRIES} at most.`,
    )
  }
  const entries = await viewOf(file, offset + countBytes, count * entryBytes + offsetBytes)
  let masks = false
  for (let at = 0; at < count * entryBytes; at += entryBytes) {
    const tag = entries.getUint16(at, littleEndian)
    const values = big ? offsetAt(entries, at + 4, form) : entries.getUint32(at + 4, littleEndian)
    const bytes = values * (TYPE_BYTES[entries.getUint16(at + 2, littleEndian)] ?? 0)
    if (bytes > MAX_TAG_BYTES) {
      throw new OperatorError(
        `${path} says that its tag ${tag} has ${values} values, which are ${bytes} bytes; at most ${MAX_TAG_BYTES} are read of a tag.`,
      )
    }
    if (tag === NEW_SUBFILE_TYPE) {
      masks = (entries.getUint8(at + valueByte(form)) & (MASK | REDUCED)) === MASK
    }
  }
  return { masks, next: offsetAt(entries, count * entryBytes, form) }
}

/** Where the lowest byte of an entry's LONG lies. */
function valueByte({ littleEndian, big }: Form): number {
  return (big ? 12 : 8) + (littleEndian ? 0 : 3)
}

function offsetAt(view: DataView, at: number, { littleEndian, big }: Form): number {
  return big ? Number(view.getBigUint64(at, littleEndian)) : view.getUint32(at, littleEndian)
}

/** @throws where the file ends before these bytes do */
async function viewOf(file: FileBytes, offset: number, length: number): Promise<DataView> {
  if (offset + length > file.fileSize) {
    throw new Error(
      `it is to be at bytes ${offset} to ${offset + length - 1}, and the file has ${file.fileSize}`,
    )
  }
  return new DataView((await file.fetchSlice({ offset, length })).data)
}

/** A part of a file. */
interface Slice {
  offset: number
  length: number
}

/** Each byte with its bits the other way round. */
const TURNED = Uint8Array.from({ length: 256 }, (_, byte) => {
  let turned = 0
  for (let bit = 0; bit < 8; bit++) turned |= ((byte >> bit) & 1) << (7 - bit)
  return turned
})

/**
 * The bytes of a file, in the form that geotiff's parser asks for them. Its own source pads what lies
 * beyond the end of the file with zeros, and a block at offset 0 is one that was never written: a
 * truncated file would read as an empty one. Here a slice ends where the file ends.
 */
export class FileBytes {
  readonly #file: FileHandle
  readonly fileSize: number

  private constructor(file: FileHandle, size: number) {
    this.#file = file
    this.fileSize = size
  }

  static async open(path: string): Promise<FileBytes> {
    const file = await open(path)
    return new FileBytes(file, (await file.stat()).size)
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

  /** The bytes of a slice, of which each may have its bits the other way round. */
  async read(slice: Slice, turned: boolean): Promise<Uint8Array> {
    const bytes = new Uint8Array((await this.fetchSlice(slice)).data)
    if (turned) for (let at = 0; at < bytes.length; at++) bytes[at] = TURNED[bytes[at] as number] as number
    return bytes
  }

  async close(): Promise<void> {
    await this.#file.close()
  }
}
