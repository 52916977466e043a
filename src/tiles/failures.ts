import { FileDamaged, FileMissing, StorageUnavailable } from '#src/storage/store.ts'

/** Whether tiles are not to be had: their store is away, or has lost or spoiled them. */
export function isUnreadable(error: unknown): boolean {
  return error instanceof StorageUnavailable || error instanceof FileMissing || error instanceof FileDamaged
}
