import { RASTER_READERS } from '#src/ingest/readers.ts'

/** What extensions read is not read, whichever a test file before has loaded. Gives the way back. */
export function withoutReaders(): () => void {
  const readers = RASTER_READERS.splice(0)
  return () => void RASTER_READERS.push(...readers)
}
