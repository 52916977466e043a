import type { Config } from '#src/config.ts'
import type { GridSize } from '#src/raster/grid.ts'
import type { PixelType } from '#src/raster/pixels.ts'
import { mostBytesOf } from './write.ts'

/** Offsets in TIFF have four bytes. */
const LARGEST_TIFF = 4e9

/** What of the configuration is about downloads. */
export type DownloadSettings = Pick<Config, 'DOWNLOADS' | 'DOWNLOAD_CACHE_MB' | 'WORKERS'>

/** How many bytes the files of a process may take. */
export function downloadBytesOf({ DOWNLOAD_CACHE_MB, WORKERS }: DownloadSettings): number {
  return Math.floor((DOWNLOAD_CACHE_MB * 1e6) / WORKERS)
}

/** Whether layers may be downloaded, and one of this size is not too large for that. */
export function isOffered(settings: DownloadSettings, size: GridSize, type: PixelType): boolean {
  return settings.DOWNLOADS && mostBytesOf(size, type) <= Math.min(downloadBytesOf(settings), LARGEST_TIFF)
}
