import { createHash } from 'node:crypto'
import type { WrittenCoverage } from '#src/data/tiles/store.ts'
import {
  ascii,
  chooseSampleType,
  copyWindow,
  countHeaderBytes,
  encodeGeoKeys,
  encodeHeader,
  encodeSampleFormat,
  encodeTransformation,
  type Field,
  fieldBytes,
  readLongs,
} from '#src/data/tiles/tiff.ts'
import { splitWindow } from '#src/ingest/source.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import {
  asPixels,
  bytesOf,
  createPixels,
  type Pixels,
  type PixelType,
  type StoredBand,
  withType,
} from '#src/raster/pixels.ts'
import { FileDamaged, type Range } from './store.ts'
import type { Zstd } from './zstd.ts'

/** Pixels on a side of a block: larger blocks need fewer requests, and more decoding. */
export const BLOCK_SIZE = 128

/** Pixels on a side of a granule, of some megabytes with a header of kilobytes. */
export const GRANULE_SIZE = 512

export type GranuleCoverage = Omit<WrittenCoverage, 'id'>

/** Counts granules. */
export interface GranuleIndex {
  row: number
  column: number
}

/** The bytes of a block, which has none without any value. */
interface BlockExtent {
  offset: number
  /** Of each band, one behind the other. */
  lengths: number[]
  sum: string
}

export interface Granule extends Omit<GranuleCoverage, 'geographic'> {
  window: Window
  /** Row by row. */
  blocks: BlockExtent[]
}

/** Pixels of all bands. */
export interface WindowPixels {
  window: Window
  pixels: Pixels[]
}

const TAGS = {
  imageWidth: 256,
  imageLength: 257,
  bitsPerSample: 258,
  compression: 259,
  photometric: 262,
  description: 270,
  samplesPerPixel: 277,
  planarConfiguration: 284,
  tileWidth: 322,
  tileLength: 323,
  tileOffsets: 324,
  tileByteCounts: 325,
  extraSamples: 338,
  sampleFormat: 339,
  transformation: 34264,
  geoKeys: 34735,
  nodata: 42113,
}

/** Of the hexadecimal digits of a SHA-256. */
const SUM_DIGITS = 32

/** The description in a granule; another format gets another name. */
interface Description {
  format: typeof FORMAT
  grid: Grid
  window: Window
  bands: { pixelType: PixelType; nodata?: number }[]
  sums: string[]
}

const FORMAT = 'agro granule 1'

export function makeGranuleWindow({ width, height }: Grid, { row, column }: GranuleIndex): Window {
  const [left, top] = [column * GRANULE_SIZE, row * GRANULE_SIZE]
  return {
    column: left,
    row: top,
    width: Math.min(GRANULE_SIZE, width - left),
    height: Math.min(GRANULE_SIZE, height - top),
  }
}

/** Row by row. */
export function listBlockWindows(window: Window): Window[] {
  return splitWindow(window, BLOCK_SIZE, BLOCK_SIZE)
}

function sumOf(parts: Uint8Array[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex').slice(0, SUM_DIGITS)
}

export interface EncodedGranule extends GranuleIndex {
  /** SHA-256 of the header, which has the sums of the blocks. */
  name: string
  headerBytes: number
  bytes: Buffer
}

/** The bands of a block; null without any value. */
export type CompressedBlock = Uint8Array[] | null

const ZSTD = 50000
const BLACK_IS_ZERO = 1
const SEPARATE_PLANES = 2

export function compressBlock(
  zstd: Zstd,
  bands: StoredBand[],
  { window, pixels }: WindowPixels,
): CompressedBlock {
  // Without a common nodata value, GDAL would read zeros.
  const isEmpty = bands.every(
    ({ nodata }, index) => nodata !== undefined && pixels[index]?.every((pixel) => pixel === nodata),
  )
  if (isEmpty && commonNodata(bands) !== undefined) return null
  const type = chooseSampleType(bands)
  return bands.map(({ nodata }, index) => {
    const samples = createPixels(type, BLOCK_SIZE ** 2).fill(nodata ?? 0)
    copyWindow(withType(pixels[index] as Pixels, type), window, samples, widen(window))
    return zstd.compress(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength))
  })
}

/** The window of a whole block: at the edge of the grid it goes beyond. */
function widen({ row, column }: Window): Window {
  return { row, column, width: BLOCK_SIZE, height: BLOCK_SIZE }
}

/** GDAL has one nodata value for all bands. */
function commonNodata([first, ...others]: StoredBand[]): number | undefined {
  return others.every(({ nodata }) => nodata === first?.nodata) ? first?.nodata : undefined
}

/**
 * Encodes a granule as a cloud-optimised GeoTIFF: the directory, then the blocks, each with its bands side by side, so that
 * one range of bytes has all layers of a block.
 *
 * @param blocks row by row
 */
export function encodeGranule(
  coverage: GranuleCoverage,
  index: GranuleIndex,
  blocks: CompressedBlock[],
): EncodedGranule {
  const sums = blocks.map((bands) => (bands ? sumOf(bands) : ''))
  const header = (first: number) => fieldsOf(coverage, index, blocks, sums, first)
  const headerBytes = countHeaderBytes(header(0))
  const encoded = encodeHeader(header(headerBytes))
  return {
    ...index,
    name: createHash('sha256').update(encoded).digest('hex'),
    headerBytes,
    bytes: Buffer.concat([encoded, ...blocks.flatMap((bands) => bands ?? [])]),
  }
}

/** @param first offset of the first block */
function fieldsOf(
  { grid, geographic, bands }: GranuleCoverage,
  index: GranuleIndex,
  blocks: CompressedBlock[],
  sums: string[],
  first: number,
): Field[] {
  const window = makeGranuleWindow(grid, index)
  const type = chooseSampleType(bands)
  const nodata = commonNodata(bands)
  const description: Description = {
    format: FORMAT,
    grid: gridOf(grid),
    window,
    bands: bands.map(({ pixelType, nodata }) => ({ pixelType, ...(nodata !== undefined && { nodata }) })),
    sums,
  }
  const { offsets, lengths } = segmentsOf(blocks, bands.length, first)
  const ofEach = (value: number) => bands.map(() => value)
  const fields: Field[] = [
    { tag: TAGS.imageWidth, type: 'long', values: [window.width] },
    { tag: TAGS.imageLength, type: 'long', values: [window.height] },
    { tag: TAGS.bitsPerSample, type: 'short', values: ofEach(8 * bytesOf(type)) },
    { tag: TAGS.compression, type: 'short', values: [ZSTD] },
    { tag: TAGS.photometric, type: 'short', values: [BLACK_IS_ZERO] },
    { tag: TAGS.description, type: 'ascii', values: ascii(JSON.stringify(description)) },
    { tag: TAGS.samplesPerPixel, type: 'short', values: [bands.length] },
    { tag: TAGS.planarConfiguration, type: 'short', values: [SEPARATE_PLANES] },
    { tag: TAGS.tileWidth, type: 'long', values: [BLOCK_SIZE] },
    { tag: TAGS.tileLength, type: 'long', values: [BLOCK_SIZE] },
    { tag: TAGS.tileOffsets, type: 'long', values: offsets },
    { tag: TAGS.tileByteCounts, type: 'long', values: lengths },
    { tag: TAGS.extraSamples, type: 'short', values: ofEach(0).slice(1) },
    { tag: TAGS.sampleFormat, type: 'short', values: ofEach(encodeSampleFormat(type)) },
    { tag: TAGS.transformation, type: 'double', values: encodeTransformation(grid, window) },
    { tag: TAGS.geoKeys, type: 'short', values: encodeGeoKeys(grid.srid, geographic) },
    { tag: TAGS.nodata, type: 'ascii', values: nodata === undefined ? [] : ascii(String(nodata)) },
  ]
  return fields.filter(({ values }) => values.length > 0)
}

/** The offsets and lengths of the tiles as TIFF has them: all of the first band, then all of the next. */
function segmentsOf(blocks: CompressedBlock[], bands: number, first: number) {
  const offsets = new Array<number>(blocks.length * bands).fill(0)
  const lengths = new Array<number>(blocks.length * bands).fill(0)
  let at = first
  for (const [block, parts] of blocks.entries()) {
    for (const [band, { length }] of (parts ?? []).entries()) {
      offsets[band * blocks.length + block] = at
      lengths[band * blocks.length + block] = length
      at += length
    }
  }
  return { offsets, lengths }
}

function gridOf({ srid, originX, originY, pixelWidth, pixelHeight, width, height }: Grid): Grid {
  return { srid, originX, originY, pixelWidth, pixelHeight, width, height }
}

export function isGranuleHeader(name: string, bytes: Buffer): boolean {
  return createHash('sha256').update(bytes).digest('hex') === name
}

/** @throws {FileDamaged} for a later format */
export function decodeHeader(header: Buffer): Granule {
  const text = fieldBytes(header, TAGS.description).subarray(0, -1).toString('latin1')
  const { format, grid, window, bands, sums } = JSON.parse(text) as Description
  if (format !== FORMAT) throw new FileDamaged(`a granule is of the form ${format}, which is not known`)
  const offsets = readLongs(header, TAGS.tileOffsets)
  const lengths = readLongs(header, TAGS.tileByteCounts)
  return {
    grid,
    window,
    bands: bands.map(({ pixelType, nodata }) => ({ pixelType, nodata })),
    blocks: sums.map((sum, block) => ({
      offset: offsets[block] as number,
      lengths: bands.map((_, band) => lengths[band * sums.length + block] as number),
      sum,
    })),
  }
}

/** The index of the block with a pixel of the grid. */
export function findBlockIndex({ window }: Granule, { row, column }: Pick<Window, 'row' | 'column'>): number {
  const across = Math.ceil(window.width / BLOCK_SIZE)
  return (
    Math.floor((row - window.row) / BLOCK_SIZE) * across + Math.floor((column - window.column) / BLOCK_SIZE)
  )
}

/** Null for a block without any value. */
export function findBlockRange({ blocks }: Granule, index: number): Omit<Range, 'name'> | null {
  const { offset, lengths, sum } = blocks[index] as BlockExtent
  if (sum === '') return null
  const length = lengths.reduce((total, length) => total + length, 0)
  return { offset, length, isWhole: (bytes) => sumOf([bytes]) === sum }
}

/** @param bytes of `findBlockRange` */
export function decodeBlock(
  zstd: Zstd,
  { window: all, bands, blocks }: Granule,
  index: number,
  bytes: Buffer,
): WindowPixels {
  const { lengths } = blocks[index] as BlockExtent
  const window = listBlockWindows(all)[index] as Window
  const type = chooseSampleType(bands)
  let at = 0
  const pixels = bands.map(({ pixelType }, band) => {
    const end = at + (lengths[band] as number)
    const samples = zstd.decompress(bytes.subarray(at, end), bytesOf(type) * BLOCK_SIZE ** 2)
    at = end
    const inside = createPixels(type, window.width * window.height)
    copyWindow(asPixels(type, samples), widen(window), inside, window)
    return withType(inside, pixelType)
  })
  return { window, pixels }
}
