import { type Coefficients, REFERENCE } from './coefficients.ts'
import type { Content, RowBytes, Store } from './results.ts'

/** Pixels that releases have, of eight layers or another number. */
export interface Dataset {
  content: Content
  /** Of all grids, each once. */
  pixels: number
  layers: number
}

/** What a dataset takes, each time that it is loaded. */
export interface Storage {
  tiles: number
  granules: number
  /** In PostgreSQL: raster_tile, its primary key, and summaries. */
  tileBytes: number
  tileIndexBytes: number
  summaryBytes: number
  granuleRowBytes: number
  databaseBytes: number
  /** In files; 0 in the store postgis. */
  fileBytes: number
  walBytes: number
  /**
   * What the process that loads computes, and PostgreSQL with it: the time that one load takes at most, where both have a
   * core. They work beside each other, so it is less.
   */
  coreSeconds: number
}

/**
 * What grows with pixels: all of it in proportion, also to the layers. Rows and keys of tiles do not depend on their
 * number, so that few layers take a little more than this.
 */
export function storageOf(
  { pixels, layers, content }: Dataset,
  store: Store,
  coefficients: Record<Content, Coefficients>,
  rows: Pick<RowBytes, 'granule'>,
): Storage {
  const of = coefficients[content]
  const share = layers / REFERENCE.layers
  const inFiles = store === 'files'
  const tiles = pixels * of.tilesPerPixel
  const granules = inFiles ? pixels * of.granulesPerPixel : 0
  const tileBytes = inFiles ? 0 : tiles * of.tileBytesPerTile * share
  const tileIndexBytes = inFiles ? 0 : tiles * of.indexBytesPerTile
  const summaryBytes = tiles * of.summaryBytesPerTile * share
  const granuleRowBytes = granules * rows.granule
  return {
    tiles,
    granules,
    tileBytes,
    tileIndexBytes,
    summaryBytes,
    granuleRowBytes,
    databaseBytes: tileBytes + tileIndexBytes + summaryBytes + granuleRowBytes,
    fileBytes: inFiles ? pixels * of.fileBytesPerPixel * share : 0,
    walBytes: pixels * of.walBytesPerPixel[store] * share,
    coreSeconds: pixels * of.coreSecondsPerPixel[store] * share,
  }
}
