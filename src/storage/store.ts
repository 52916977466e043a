/** Files that never change, by names that nothing else ever has: in a folder, on a web server or in a bucket. */
export interface FileStore {
  /** Where it is, for people. */
  readonly place: string
  /**
   * Reads a part of a file.
   *
   * @throws {StorageUnavailable} where the store does not answer
   * @throws {FileMissing} where there is no such file, or not so much of it
   */
  read(name: string, offset: number, length: number): Promise<Buffer>
  /**
   * Stores a file; when it is done, the file outlasts a loss of power. What has the name already is replaced by the same.
   *
   * @throws {StorageUnavailable}
   * @throws {OperatorError} where nothing can be written there
   */
  write(name: string, bytes: Buffer): Promise<void>
  /**
   * All files, in no order.
   *
   * @throws as `write`
   */
  list(): AsyncIterable<ListedFile>
  /** Removes a file; one that is not there is no mistake. */
  remove(name: string): Promise<void>
}

export interface ListedFile {
  name: string
  bytes: number
  /** When it was written last. */
  writtenAt: Date
}

/** A store does not answer, or refuses to: the same may go well in a moment. */
export class StorageUnavailable extends Error {
  override name = 'StorageUnavailable'
}

/** A store answers, and has not what was asked for. */
export class FileMissing extends Error {
  override name = 'FileMissing'
}

/** Where a file lies in its store: folders of thousands of files are slow to list. */
export function pathOf(name: string): string {
  return `${name.slice(0, 2)}/${name}`
}

/** The name of the file at a path that `pathOf` has made; undefined where something else is there. */
export function nameAt(path: string): string | undefined {
  return /^([0-9a-f]{2})\/(\1[0-9a-f]{62}\.tif)$/.exec(path)?.[2]
}
