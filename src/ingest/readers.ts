import { listExtensionsThatAreOn } from '#src/config.ts'
import type { CrsText } from '#src/data/crs.ts'
import type { GridSize, PixelGrid, Window } from '#src/raster/grid.ts'
import type { Pixels, PixelType } from '#src/raster/pixels.ts'

export type GeoKeys = Record<string, number | string>

/** A CRS as a file says it. */
export type FileCrs =
  /** Of EPSG or ESRI. A projected one may have keys that contradict it. */
  | { kind: 'epsg'; code: number; keys?: GeoKeys }
  | ({ kind: 'text' } & CrsText)
  /** A projection without a code, of a coded CRS. */
  | { kind: 'projection'; proj: string; of: number }
  | { kind: 'unnamed-wgs84' }
  /** Degrees that are no longitude and latitude. */
  | { kind: 'rotated-pole' }
  | { kind: 'unknown'; reason: string }

/** What a manifest says of a band. */
export interface MeantBand {
  /** Its number from 1, or its name; of several bands it has to be said, but for those of GeoTIFFs. */
  band?: number | string | undefined
  nodata?: number | 'nan' | 'none' | undefined
  scale?: number | undefined
  offset?: number | undefined
}

/** A band as its file and the manifest say. */
export interface Band {
  /** From 1. */
  number: number
  pixelType: PixelType
  description: string | undefined
  /** As written: for Float32 pixels still to be rounded. */
  nodata: number | undefined
  scale: number
  offset: number
}

/** What a file says in words. */
export interface Words {
  description: string | undefined
  unit: string | undefined
  notes: Record<string, string>
}

/** Pixels are missing where it is 0. */
export interface Mask {
  path: string
  /** One array a band (from 1). */
  read(window: Window, bands: number[]): Promise<Pixels[]>
  close?(): Promise<void>
}

/** An open raster, whatever its format: bands on one grid. */
export interface RasterFile {
  path: string
  grid: PixelGrid
  crs: FileCrs
  /** On the CRS; of no effect where the manifest has another. */
  notes: string[]
  /** Read at a time. */
  block: GridSize
  bandCount: number
  /** Of a band, from 1; at 0 of all of it. */
  words(band: number): Words
  /** Any mask may hide a pixel. */
  masks: Mask[]
  /** Of masks beside the file. */
  maskPaths: string[]
  /** From 1, a band that is a mask. */
  alphaBand: number | undefined
  /** Possibly changed by its compression. */
  lossy: boolean
  /** The pixel of unwritten parts. */
  fill: number
  /** @param band from 1 */
  isWritten(window: Window, band: number): boolean
  /** @param fillIsMissing unwritten pixels have no value, so that they take neither memory nor disk @throws {OperatorError} */
  refuseInflated(fillIsMissing: boolean): void
  /** @param notes gets sentences for the operator @throws {OperatorError} for a band that is not there */
  band(entry: MeantBand, notes: Set<string>): Band
  /** One array a band (from 1), row by row. @throws {OperatorError} for damaged parts */
  read(window: Window, bands: number[]): Promise<Pixels[]>
  close(): Promise<void>
}

/** Of an extension: reads what the core does not. */
export interface RasterReader {
  /** Of the names of its files. */
  ending: RegExp
  /** Of the names of folders that are rasters. */
  folder: RegExp
  /** Of the names of files at the top of a folder that is a raster, whatever it is called. */
  top: RegExp
  /** @param beginning one character a byte; empty for a folder @returns undefined for other formats */
  open(path: string, beginning: string): Promise<RasterFile | undefined>
  /**
   * Copies a file from its address, with those beside it, into an empty folder.
   *
   * @param left bytes that may still be read
   * @returns the path of the copy, and its bytes with all beside it
   * @throws {OperatorError} for a file that is not there, or may not be read
   */
  copy(address: URL, folder: string, left: number): Promise<{ path: string; bytes: number }>
}

export const RASTER_READERS: { extension: string; load(): Promise<RasterReader> }[] = []

/** Those of extensions that are on. */
export async function loadReaders(): Promise<RasterReader[]> {
  const on = listExtensionsThatAreOn(process.env)
  const readers: RasterReader[] = []
  for (const { extension, load } of RASTER_READERS) if (on.includes(extension)) readers.push(await load())
  return readers
}

const GEOTIFF = /\.tiff?$/i

/** The rasters of an archive by their names: files, and folders that are one, which may be all of it: ''. */
export async function listRasters(names: readonly string[]): Promise<string[]> {
  const readers = await loadReaders()
  const isFile = (name: string) => GEOTIFF.test(name) || readers.some(({ ending }) => ending.test(name))
  const isFolder = (name: string) => readers.some(({ folder }) => folder.test(name))
  const folders = new Set<string>()
  const found = names.flatMap((name) => {
    const parents = name.split('/')
    const last = parents.pop() as string
    const at = parents.findIndex(isFolder)
    const isTop = readers.some(({ top }) => top.test(last))
    // A file in a folder that is a raster may be another one.
    const own = isFile(last) ? [name] : []
    if (at < 0 && !isTop) return own
    const folder = parents.slice(0, at < 0 ? undefined : at + 1).join('/')
    folders.add(folder)
    return [folder, ...own]
  })
  const isInner = (name: string) => [...folders].some((other) => other !== name && isWithin(name, other))
  return [...new Set(found)].filter((name) => !folders.has(name) || !isInner(name))
}

/** @param folder '' for all of an archive */
export function isWithin(name: string, folder: string): boolean {
  return folder === '' || name.startsWith(`${folder}/`)
}
