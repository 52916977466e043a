import { FileDamaged, type FileStore } from './store.ts'

/** A part of a file, and how it is known to be what was written. */
export interface Range {
  name: string
  offset: number
  length: number
  isWhole(bytes: Buffer): boolean
}

/** Reads parts of files, none of which is damaged. */
export interface RangeReader {
  /**
   * @param signal ends it, as far as that can be done
   * @throws {StorageUnavailable} where the store does not answer
   * @throws {FileMissing} where there is no such file, or not so much of it
   * @throws {FileDamaged} where that is not what was written
   */
  read(range: Range, signal?: AbortSignal): Promise<Buffer>
}

/** Reads parts of the files of a store. */
export function rangesOf(store: FileStore): RangeReader {
  return {
    async read({ name, offset, length, isWhole }, signal) {
      const bytes = await store.read(name, offset, length, signal)
      if (isWhole(bytes)) return bytes
      throw new FileDamaged(`${length} bytes of ${name} in ${store.place} are damaged`)
    },
  }
}
