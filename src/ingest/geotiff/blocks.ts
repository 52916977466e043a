import { type GeoTIFFImage, registerTag } from 'geotiff'
import { OperatorError } from '#src/errors.ts'
import type { Window } from '#src/raster/grid.ts'
import { bytesOf, nearestPixel, type Pixels, pixelsOf } from '#src/raster/pixels.ts'
import { nodataOf, type SampleType } from './bands.ts'
import { blocksIn, copy } from './block-places.ts'
import type { FileBytes } from './bytes.ts'
import { COMPRESSIONS, type Decompress, LOSSY, NOT_COMPRESSED, OTHER_COMPRESSIONS } from './compression.ts'
import { lercOf } from './lerc.ts'
import { conversion } from './other-formats.ts'
import { bytesOfRow, PREDICTORS, type SampleLayout, samplesOf } from './samples.ts'

// geotiff leaves large tags until they are asked for, and then takes them for little-endian: have it
// read where the blocks are at once, in the byte order of the file.
registerTag(273, 'StripOffsets', 'LONG', true, true)
registerTag(279, 'StripByteCounts', 'LONG', true, true)
registerTag(324, 'TileOffsets', 'LONG', true, true)
registerTag(325, 'TileByteCounts', 'LONG', true, true)

/** The strips or tiles that the pixels of an image are stored in. */
export interface Blocks {
  width: number
  height: number
  /** The pixel that all are whose blocks were never written, as sparse files have it. */
  fill: number
  /** Whether any block of a band (from 1) was written that has pixels of a window. */
  isWritten(window: Window, band: number): boolean
  /** The part of all blocks that were written. */
  writtenPart: number
  /** The pixels of some bands (from 1) in a window, row by row, one array a band. */
  read(window: Window, bands: number[]): Promise<Pixels[]>
}

interface Layout {
  image: { width: number; height: number }
  tiled: boolean
  block: { width: number; height: number }
  /** Blocks of one band after those of another, or of all bands together. */
  planes: number
  /** Samples that lie side by side in a block for each pixel. */
  stride: number
  offsets: number[]
  lengths: number[]
  samples: SampleLayout
  decompress: Decompress
  /** What blocks that were never written are full of. */
  fill: number
}

/**
 * Finds the blocks of an image and checks that the file has all of them.
 *
 * @throws {OperatorError} when it has not, or stores them in a way that cannot be read
 */
export function blocksOf(image: GeoTIFFImage, type: SampleType, file: FileBytes, path: string): Blocks {
  const stored = layoutOf(image, type, path)
  refuseTruncated(stored, file, path)
  const layout = chopped(stored)
  refuseLargeBlocks(layout, path)
  const { block, planes, stride } = layout
  const across = Math.ceil(layout.image.width / block.width)
  const down = Math.ceil(layout.image.height / block.height)

  /** Where the blocks of a band begin. */
  const first = (band: number) => (planes === 1 ? 0 : (band - 1) * across * down)

  async function readBlock(column: number, row: number, bands: number[], into: Pixels[], window: Window) {
    const place = { column: column * block.width, row: row * block.height }
    const index = row * across + column
    const together = planes === 1 ? await samplesAt(layout, file, index, row) : undefined
    for (const [at, band] of bands.entries()) {
      const samples = together ?? (await samplesAt(layout, file, first(band) + index, row))
      copy(samples, planes === 1 ? band - 1 : 0, stride, { ...place, ...block }, into[at] as Pixels, window)
    }
  }

  return {
    ...block,
    fill: layout.fill,
    isWritten(window, band) {
      for (const { column, row } of blocksIn(window, block)) {
        if (isWritten(layout, first(band) + row * across + column)) return true
      }
      return false
    },
    get writtenPart() {
      const count = across * down * planes
      let written = 0
      for (let index = 0; index < count; index++) if (isWritten(layout, index)) written++
      return written / count
    },
    async read(window, bands) {
      const result = bands.map(() => pixelsOf(type.pixelType, window.width * window.height))
      const together = Math.max(1, Math.floor(MAX_BLOCK_BYTES / (blockBytes(layout) + IN_FLIGHT_BYTES)))
      let reads: Promise<void>[] = []
      for (const { column, row } of blocksIn(window, block)) {
        reads.push(readBlock(column, row, bands, result, window))
        if (reads.length < together) continue
        await Promise.all(reads)
        reads = []
      }
      await Promise.all(reads)
      return result
    },
  }
}

/** Sparse files leave out blocks. */
function isWritten({ offsets, lengths }: Layout, index: number): boolean {
  return offsets[index] !== 0 && lengths[index] !== 0
}

/** The value of the Compression tag, and a tag beside it. */
const LERC = 34887

/** A tag that geotiff has a type for: it gives the others as well. */
type KnownTag = Parameters<GeoTIFFImage['fileDirectory']['getValue']>[0]

function layoutOf(image: GeoTIFFImage, type: SampleType, path: string): Layout {
  const tag = (name: string): unknown => image.fileDirectory.getValue(name as KnownTag)
  const compression = Number(tag('Compression') ?? NOT_COMPRESSED)
  const planes = image.planarConfiguration === 2 ? image.getSamplesPerPixel() : 1
  const stride = planes === 1 ? image.getSamplesPerPixel() : 1
  const block = { width: image.getTileWidth(), height: image.getTileHeight() }
  const decompress =
    compression === LERC && image.littleEndian
      ? lercOf(
          type.pixelType,
          { ...block, depth: stride },
          tag('LercParameters') as ArrayLike<number> | undefined,
        )
      : COMPRESSIONS.get(compression)
  if (!decompress) {
    const name = OTHER_COMPRESSIONS[compression] ?? `method ${compression}`
    const loss = LOSSY.has(compression) ? ', and may have changed its values' : ''
    throw new OperatorError(
      `${path} is compressed with ${name}, which is not read here${loss}: ${conversion(path)} makes a file that is.`,
    )
  }
  const predictor = Number(tag('Predictor') ?? PREDICTORS.none)
  const known = Object.values<number>(PREDICTORS).includes(predictor)
  if (!known || (predictor === PREDICTORS.floatingPoint && !type.float)) {
    throw new OperatorError(`${path} is compressed with predictor ${predictor}, which is not possible.`)
  }
  const numbers = (name: string) => Array.from((tag(name) ?? []) as ArrayLike<number | bigint>, Number)
  return {
    image: { width: image.getWidth(), height: image.getHeight() },
    tiled: image.isTiled,
    block,
    planes,
    stride,
    offsets: numbers(image.isTiled ? 'TileOffsets' : 'StripOffsets'),
    lengths: numbers(image.isTiled ? 'TileByteCounts' : 'StripByteCounts'),
    // Uncompressed samples and those of LERC are stored as they are, whatever the Predictor tag says.
    samples: {
      ...type,
      littleEndian: image.littleEndian,
      predictor: compression === NOT_COMPRESSED || compression === LERC ? PREDICTORS.none : predictor,
    },
    decompress,
    fill: nearestPixel(type.pixelType, nodataOf(image) ?? 0),
  }
}

/** A file whose end is missing is refused before any of it is loaded. */
function refuseTruncated(layout: Layout, file: FileBytes, path: string): void {
  const { image, block, planes, offsets, lengths } = layout
  const count = Math.ceil(image.width / block.width) * Math.ceil(image.height / block.height) * planes
  const missing = offsets.some((offset, index) => offset + (lengths[index] ?? Number.NaN) > file.fileSize)
  // Infinity and NaN, from blocks without a size, are no count.
  if (missing || !(count > 0) || offsets.length < count || lengths.length < count) {
    throw new OperatorError(
      `${path} is cut off or damaged: not all of its ${layout.tiled ? 'tiles' : 'strips'} are there.`,
    )
  }
}

/**
 * What is decompressed at a time: one block of this size, or many that are smaller. Blocks of GDAL and of what
 * is built on it have some kilobytes; a few writers make one strip of an image.
 */
const MAX_BLOCK_BYTES = 64 * 2 ** 20

/** What a block takes besides while it is decompressed: many small ones are not read all at once. */
const IN_FLIGHT_BYTES = 65_536

/** The pixels of a block in memory; half-precision floats become larger there. */
function blockBytes({ block, stride, samples }: Layout): number {
  return block.width * block.height * stride * bytesOf(samples.pixelType)
}

function refuseLargeBlocks(layout: Layout, path: string): void {
  const bytes = blockBytes(layout)
  if (bytes <= MAX_BLOCK_BYTES) return
  throw new OperatorError(
    `${path} has ${layout.tiled ? 'tiles' : 'strips'} of ${bytes} bytes; at most ${MAX_BLOCK_BYTES} are decompressed at a time: convert it with gdal_translate -co TILED=YES -co COMPRESS=DEFLATE.`,
  )
}

/** Rows are taken together up to about this size. */
const CHOPPED_BYTES = 64 * 1024

/**
 * Some writers store an image as one strip. Where it is not compressed, its rows can be read one by one
 * all the same, so that a window does not need the memory of the whole image.
 */
function chopped(layout: Layout): Layout {
  const { image, block, tiled, decompress, offsets, lengths, samples, stride } = layout
  const whole = !tiled && block.height >= image.height && decompress === COMPRESSIONS.get(NOT_COMPRESSED)
  const rowBytes = bytesOfRow(samples, image.width * stride)
  if (!whole || lengths.some((length) => length < rowBytes * image.height)) return layout
  const height = Math.max(1, Math.floor(CHOPPED_BYTES / rowBytes))
  const rows = Array.from({ length: Math.ceil(image.height / height) }, (_, index) => index * height)
  return {
    ...layout,
    block: { width: block.width, height },
    offsets: offsets.flatMap((offset) => rows.map((row) => offset + row * rowBytes)),
    lengths: offsets.flatMap(() => rows.map((row) => Math.min(height, image.height - row) * rowBytes)),
  }
}

/** Blocks of a few samples may be larger compressed than they are. */
const SPARE_BYTES = 1024

/** The samples of a block, decompressed and in the byte order of this machine. */
async function samplesAt(layout: Layout, file: FileBytes, index: number, row: number): Promise<Pixels> {
  const { image, tiled, block, stride, samples, fill } = layout
  // The last strip ends with the image; tiles are always whole.
  const height = tiled ? block.height : Math.min(block.height, image.height - row * block.height)
  const rowLength = block.width * stride
  const [offset, length] = [layout.offsets[index] as number, layout.lengths[index] as number]
  if (!isWritten(layout, index)) return pixelsOf(samples.pixelType, rowLength * height).fill(fill)

  const rowBytes = bytesOfRow(samples, rowLength)
  const size = rowBytes * height
  // No compression makes twice as much of its samples: what lies behind that is none of them.
  const { data } = await file.fetchSlice({ offset, length: Math.min(length, 2 * size + SPARE_BYTES) })
  const bytes = await layout.decompress(new Uint8Array(data), size, rowBytes * block.height)
  if (bytes.length < size) throw new Error(`the block at byte ${offset} is damaged: it is too short`)
  const exact = bytes.subarray(0, size)
  // Samples can only be looked at where they begin at a multiple of their size.
  const aligned = exact.byteOffset % 8 === 0 ? exact : Uint8Array.from(exact)
  return samplesOf(aligned, samples, rowLength, stride)
}
