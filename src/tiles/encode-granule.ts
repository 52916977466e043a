import { createHash } from 'node:crypto'
import type { Grid, Window } from '#src/raster/grid.ts'
import {
  bytesOf,
  type Pixels,
  type PixelType,
  pixelsOf,
  type StoredBand,
  withType,
} from '#src/raster/pixels.ts'
import { geoKeysOf, sampleFormatOf, transformationOf } from './georeference.ts'
import {
  BLOCK_SIZE,
  type Description,
  FORMAT,
  type GranuleCoverage,
  type GranulePlace,
  sampleTypeOf,
  sumOf,
  TAGS,
  type WindowPixels,
  windowOf,
} from './granule.ts'
import { ascii, encodeHeader, type Field, headerBytesOf } from './tiff.ts'
import type { Zstd } from './zstd.ts'

/** A granule as it is kept. */
export interface EncodedGranule extends GranulePlace {
  /** SHA-256 of the header, which has the sums of the blocks: nothing else has this name. */
  name: string
  headerBytes: number
  bytes: Buffer
}

/** A block of a granule, with its bands as they are written; null of one without any value. */
export type CompressedBlock = Uint8Array[] | null

const ZSTD = 50000
const BLACK_IS_ZERO = 1
const SEPARATE_PLANES = 2

/** Compresses the bands of a block, each for itself. */
export function compressBlock(
  zstd: Zstd,
  bands: StoredBand[],
  { window, pixels }: WindowPixels,
): CompressedBlock {
  // Where GDAL would take nothing for something, there has to be something.
  const isEmpty = bands.every(
    ({ nodata }, index) => nodata !== undefined && pixels[index]?.every((pixel) => pixel === nodata),
  )
  if (isEmpty && commonNodata(bands) !== undefined) return null
  const type = sampleTypeOf(bands)
  return bands.map(({ nodata }, index) => {
    const samples = filled(withType(pixels[index] as Pixels, type), type, window, nodata ?? 0)
    return zstd.compress(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength))
  })
}

/** Pixels of a window filled up to a whole block. */
function filled(pixels: Pixels, type: PixelType, { width, height }: Window, by: number): Pixels {
  if (width === BLOCK_SIZE && height === BLOCK_SIZE) return pixels
  const block = pixelsOf(type, BLOCK_SIZE ** 2).fill(by)
  for (let row = 0; row < height; row++)
    block.set(pixels.subarray(row * width, (row + 1) * width), row * BLOCK_SIZE)
  return block
}

/** What GDAL may take for no value: it knows one number for all bands. */
function commonNodata([first, ...others]: StoredBand[]): number | undefined {
  return others.every(({ nodata }) => nodata === first?.nodata) ? first?.nodata : undefined
}

/**
 * Encodes a granule as a cloud-optimised GeoTIFF: the directory comes first, then the blocks row by row, each with its
 * bands side by side, so that one range of bytes has all layers of a place.
 *
 * @param blocks row by row
 */
export function encodeGranule(
  coverage: GranuleCoverage,
  place: GranulePlace,
  blocks: CompressedBlock[],
): EncodedGranule {
  const sums = blocks.map((bands) => (bands ? sumOf(bands) : ''))
  const header = (first: number) => fieldsOf(coverage, place, blocks, sums, first)
  const headerBytes = headerBytesOf(header(0))
  const encoded = encodeHeader(header(headerBytes))
  return {
    ...place,
    name: createHash('sha256').update(encoded).digest('hex'),
    headerBytes,
    bytes: Buffer.concat([encoded, ...blocks.flatMap((bands) => bands ?? [])]),
  }
}

/** @param first where the first block begins */
function fieldsOf(
  { grid, geographic, bands }: GranuleCoverage,
  place: GranulePlace,
  blocks: CompressedBlock[],
  sums: string[],
  first: number,
): Field[] {
  const window = windowOf(grid, place)
  const type = sampleTypeOf(bands)
  const nodata = commonNodata(bands)
  const description: Description = {
    format: FORMAT,
    grid: gridOf(grid),
    window,
    bands: bands.map(bandOf),
    sums,
  }
  const { offsets, lengths } = placesOf(blocks, bands.length, first)
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
    { tag: TAGS.sampleFormat, type: 'short', values: ofEach(sampleFormatOf(type)) },
    { tag: TAGS.transformation, type: 'double', values: transformationOf(grid, window) },
    { tag: TAGS.geoKeys, type: 'short', values: geoKeysOf(grid.srid, geographic) },
    { tag: TAGS.nodata, type: 'ascii', values: nodata === undefined ? [] : ascii(String(nodata)) },
  ]
  return fields.filter(({ values }) => values.length > 0)
}

/** The offsets and lengths of the tiles as TIFF has them: all of the first band, then all of the next. */
function placesOf(blocks: CompressedBlock[], bands: number, first: number) {
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

function bandOf({ pixelType, nodata }: StoredBand): Description['bands'][number] {
  return { pixelType, ...(nodata !== undefined && { nodata }) }
}
