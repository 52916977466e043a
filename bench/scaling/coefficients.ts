import { CONTENTS, type Content, type LoadRow, type ScalingResults, STORES, type Store } from './results.ts'

/** What the model is made from is measured on a square of so many pixels, with so many layers. */
export const REFERENCE = { pixels: 1024 ** 2, layers: 8 }

/** What one pixel, tile or granule of a content comes to, with eight layers; all of it measured. */
export interface Coefficients {
  tilesPerPixel: number
  granulesPerPixel: number
  /** In raster_tile with its TOAST table, in its primary key, and in tile_summary with its own. */
  tileBytesPerTile: number
  indexBytesPerTile: number
  summaryBytesPerTile: number
  fileBytesPerPixel: number
  headerBytesPerGranule: number
  walBytesPerPixel: Record<Store, number>
  /** What the process that loads computes, and PostgreSQL with it. */
  coreSecondsPerPixel: Record<Store, number>
}

export function coefficientsOf({ loads }: Pick<ScalingResults, 'loads'>): Record<Content, Coefficients> {
  const each = CONTENTS.map((content) => {
    const [postgis, files] = STORES.map((store) => referenceOf(loads, store, content)) as [LoadRow, LoadRow]
    const { pixels } = postgis
    const coefficients: Coefficients = {
      tilesPerPixel: postgis.tiles / pixels,
      granulesPerPixel: files.granules / pixels,
      tileBytesPerTile: postgis.tileBytes / postgis.tiles,
      indexBytesPerTile: postgis.tileIndexBytes / postgis.tiles,
      summaryBytesPerTile: postgis.summaryBytes / postgis.tiles,
      fileBytesPerPixel: files.fileBytes / pixels,
      headerBytesPerGranule: files.headerBytes / files.granules,
      walBytesPerPixel: { postgis: postgis.walBytes / pixels, files: files.walBytes / pixels },
      coreSecondsPerPixel: { postgis: coreSecondsOf(postgis) / pixels, files: coreSecondsOf(files) / pixels },
    }
    return [content, coefficients]
  })
  return Object.fromEntries(each)
}

/** What is computed for a load: unlike the time that it takes, it does not depend on what else the machine does. */
export function coreSecondsOf({ loaderCpuSeconds, serverCpuSeconds }: LoadRow): number {
  return loaderCpuSeconds + serverCpuSeconds
}

function referenceOf(loads: LoadRow[], store: Store, content: Content): LoadRow {
  const found = loads.find((row) => row.store === store && row.content === content && isReference(row))
  if (!found) throw new Error(`no load of ${content} into ${store} was measured`)
  return found
}

/** Whether the model is made from a load; it is held to all others. */
export function isReference({ pixels, layers }: LoadRow): boolean {
  return pixels === REFERENCE.pixels && layers === REFERENCE.layers
}
