import type { GeoTIFFImage } from 'geotiff'
import type { Window } from '#src/raster/grid.ts'
import { bytesOf, type Pixels, pixelsOf } from '#src/raster/pixels.ts'
import type { SampleType } from './bands.ts'
import {
  type BlockLayout,
  blockBytes,
  blockLayoutOf,
  isWritten,
  MAX_BLOCK_BYTES,
  rowsOf,
} from './block-layout.ts'
import { blocksIn, copy } from './block-places.ts'
import type { FileBytes } from './bytes.ts'
import { bytesOfRow, samplesOf } from './samples.ts'
import { StreamedStrip } from './streamed-strip.ts'

/** The strips or tiles that the pixels of an image are stored in. */
export interface Blocks {
  width: number
  height: number
  /** The pixel that all are whose blocks were never written, as sparse files have it. */
  fill: number
  /** Bytes that are held of each pixel from one window to the next. */
  heldBytes: number
  /** Whether they are compressed so that pixels have mostly changed. */
  lossy: boolean
  /** Whether any block of a band (from 1) was written that has pixels of a window. */
  isWritten(window: Window, band: number): boolean
  /** The part of all blocks that were written. */
  writtenPart: number
  /** The pixels of some bands (from 1) in a window, row by row, one array a band. */
  read(window: Window, bands: number[]): Promise<Pixels[]>
}

/** What a block takes besides while it is decompressed: many small ones are not read all at once. */
const IN_FLIGHT_BYTES = 65_536

/**
 * The blocks of an image.
 *
 * @throws {OperatorError} when the file has not all of them, or stores them in a way that cannot be read
 */
export function blocksOf(image: GeoTIFFImage, type: SampleType, file: FileBytes, path: string): Blocks {
  const layout = blockLayoutOf(image, type, file, path)
  const strips = stripsOf(layout, file)
  const { block, planes, stride } = layout
  const across = Math.ceil(layout.image.width / block.width)
  const down = Math.ceil(layout.image.height / block.height)

  /** Where the blocks of a band begin. */
  const first = (band: number) => (planes === 1 ? 0 : (band - 1) * across * down)

  async function readBlock(column: number, row: number, bands: number[], into: Pixels[], window: Window) {
    const place = { column: column * block.width, row: row * block.height }
    const index = row * across + column
    const samples = (at: number) =>
      strips[0] && isWritten(layout, at)
        ? (strips[Math.floor(at / down)] as StreamedStrip).samples(row)
        : samplesAt(layout, file, at, row)
    const together = planes === 1 ? await samples(index) : undefined
    for (const [at, band] of bands.entries()) {
      const ofBand = together ?? (await samples(first(band) + index))
      copy(ofBand, planes === 1 ? band - 1 : 0, stride, { ...place, ...block }, into[at] as Pixels, window)
    }
  }

  return {
    ...block,
    fill: layout.fill,
    lossy: layout.lossy,
    heldBytes: strips.length === 0 ? 0 : stride * bytesOf(type.pixelType),
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
      for (const strip of strips) strip.needOnlyFrom(Math.floor(window.row / block.height))
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

/** The strips of an image that can only be read from their beginning, one for each plane; none of any other. */
function stripsOf(layout: BlockLayout, file: FileBytes): StreamedStrip[] {
  const { image, block, planes, stride, samples, compression, piecesPerStrip } = layout
  const { stream } = compression
  if (piecesPerStrip === undefined || !stream) return []
  const rowLength = block.width * stride
  const rowBytes = bytesOfRow(samples, rowLength)
  return Array.from({ length: planes }, (_, plane) => {
    const index = plane * piecesPerStrip
    const [offset, length] = [layout.offsets[index] as number, layout.lengths[index] as number]
    const [size, pieceBytes] = [rowBytes * image.height, rowBytes * block.height]
    const place = { offset, length, turned: layout.turned, size, pieceBytes }
    return new StreamedStrip(file, place, stream, (bytes) => samplesOf(bytes, samples, rowLength, stride))
  })
}

/** Blocks of a few samples may be larger compressed than they are. */
const SPARE_BYTES = 1024

/** The samples of a block, decompressed and in the byte order of this machine. */
async function samplesAt(layout: BlockLayout, file: FileBytes, index: number, row: number): Promise<Pixels> {
  const { block, stride, samples, fill } = layout
  const height = rowsOf(layout, row)
  const rowLength = block.width * stride
  const [offset, length] = [layout.offsets[index] as number, layout.lengths[index] as number]
  if (!isWritten(layout, index)) return pixelsOf(samples.pixelType, rowLength * height).fill(fill)

  const rowBytes = bytesOfRow(samples, rowLength)
  const size = rowBytes * height
  // No compression makes twice as much of its samples: what lies behind that is none of them.
  const slice = { offset, length: Math.min(length, 2 * size + SPARE_BYTES) }
  const compressed = await file.read(slice, layout.turned)
  const bytes = await layout.compression.undo(compressed, size, rowBytes * block.height)
  if (bytes.length < size) throw new Error(`the block at byte ${offset} is damaged: it is too short`)
  const exact = bytes.subarray(0, size)
  // Samples can only be looked at where they begin at a multiple of their size.
  const aligned = exact.byteOffset % 8 === 0 ? exact : Uint8Array.from(exact)
  return samplesOf(aligned, samples, rowLength, stride)
}
