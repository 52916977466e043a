import { type FileHandle, open } from 'node:fs/promises'

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
