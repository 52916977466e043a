import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { Config } from '#src/config.ts'
import { openNameless } from '#src/data/nameless-file.ts'
import {
  ascii,
  copyWindow,
  countHeaderBytes,
  encodeGeoKeys,
  encodeHeader,
  encodeSampleFormat,
  encodeTransformation,
  type Field,
} from '#src/data/tiles/tiff.ts'
import type { Grid, GridSize, Window } from '#src/raster/grid.ts'
import { bytesOf, createPixels, type Pixels, type PixelType } from '#src/raster/pixels.ts'
import type { WrittenFile } from './made-files.ts'

/** Pixels on a side of a block: a quarter of a megabyte at most, and short lists of blocks, which programs read first. */
const GEOTIFF_BLOCK = 256

/** A layer, or an overview of it: each has half of the pixels on a side of the one before. */
interface Level extends GridSize {
  /** Blocks side by side, and rows of them. */
  columns: number
  rows: number
}

/** A layer and its overviews, down to that of one block. */
function listLevels({ width, height }: GridSize): Level[] {
  const [columns, rows] = [width, height].map((side) => Math.ceil(side / GEOTIFF_BLOCK)) as [number, number]
  const level = { width, height, columns, rows }
  if (columns <= 1 && rows <= 1) return [level]
  return [level, ...listLevels({ width: Math.ceil(width / 2), height: Math.ceil(height / 2) })]
}

/** Differences of whole numbers, and of the bytes of floats (Adobe, TIFF Technical Note 3). */
const HORIZONTAL = 2
const FLOATING_POINT = 3

/**
 * Replaces each pixel by its difference from the one before it in its row, which makes files a third shorter; bytes of
 * floats are first put side by side by their weight.
 *
 * @param pixels rows of `width`, which are changed
 */
function predicted(pixels: Pixels, width: number): Uint8Array {
  const bytes = new Uint8Array(pixels.buffer as ArrayBuffer, pixels.byteOffset, pixels.byteLength)
  const size = pixels.BYTES_PER_ELEMENT
  if (!isFloat(pixels)) {
    for (let start = 0; start < pixels.length; start += width) difference(pixels, start, start + width)
    return bytes
  }
  const planes = new Uint8Array(bytes.length)
  for (let start = 0; start < bytes.length; start += width * size) {
    for (let plane = 0; plane < size; plane++) {
      // The most significant byte comes last in memory, and first here.
      const from = start + size - 1 - plane
      const to = start + plane * width
      for (let at = 0; at < width; at++) planes[to + at] = bytes[from + at * size] as number
    }
    difference(planes, start, start + width * size)
  }
  return planes
}

/** Goes from the end, since a difference needs the former value. Values beyond the type wrap around. */
function difference(numbers: Pixels, start: number, end: number): void {
  for (let at = end - 1; at > start; at--) {
    numbers[at] = (numbers[at] as number) - (numbers[at - 1] as number)
  }
}

function isFloat(pixels: Pixels): boolean {
  return pixels instanceof Float32Array || pixels instanceof Float64Array
}

/** The description of a GeoTIFF of one layer. */
export interface GeotiffLayer {
  grid: Grid
  /** Whether its CRS has degrees. */
  geographic: boolean
  type: PixelType
  /** Undefined where each pixel has a value. */
  nodata: number | undefined
  /** Overviews have some of the pixels where these are codes, which have no mean. */
  sampled?: boolean
  /** A value is a pixel times the scale, plus the offset. */
  scale: number
  offset: number
  unit: string
  name: string
  /** The content of the file, in a sentence. */
  description: string
  licence: string
  /** Further facts, by names in capitals. */
  facts: Record<string, string>
}

/** Of the blocks of a level, row by row. */
interface BlockExtents {
  offsets: readonly number[]
  lengths: readonly number[]
}

/** Every reader of TIFF has it, unlike Zstandard. */
const DEFLATE = 8
const BLACK_IS_ZERO = 1
const OVERVIEW = 1

/** The fields of a level, in the order of their tags. */
function listFields(
  layer: GeotiffLayer,
  level: Level,
  { offsets, lengths }: BlockExtents,
  isOverview: boolean,
): Field[] {
  const { type, nodata } = layer
  const predictor = isFloat(createPixels(type, 0)) ? FLOATING_POINT : HORIZONTAL
  const fields: Field[] = [
    { tag: 254, type: 'long', values: [isOverview ? OVERVIEW : 0] },
    { tag: 256, type: 'long', values: [level.width] },
    { tag: 257, type: 'long', values: [level.height] },
    { tag: 258, type: 'short', values: [8 * bytesOf(type)] },
    { tag: 259, type: 'short', values: [DEFLATE] },
    { tag: 262, type: 'short', values: [BLACK_IS_ZERO] },
    { tag: 277, type: 'short', values: [1] },
    { tag: 284, type: 'short', values: [1] },
    { tag: 317, type: 'short', values: [predictor] },
    { tag: 322, type: 'long', values: [GEOTIFF_BLOCK] },
    { tag: 323, type: 'long', values: [GEOTIFF_BLOCK] },
    { tag: 324, type: 'long', values: offsets },
    { tag: 325, type: 'long', values: lengths },
    { tag: 339, type: 'short', values: [encodeSampleFormat(type)] },
    ...(nodata === undefined ? [] : [{ tag: 42113, type: 'ascii' as const, values: ascii(String(nodata)) }]),
    ...(isOverview ? [] : describeLayer(layer)),
  ]
  return fields.sort((one, other) => one.tag - other.tag)
}

function describeLayer(layer: GeotiffLayer): Field[] {
  const { grid, geographic, description, licence } = layer
  return [
    { tag: 270, type: 'ascii', values: ascii(description, 'utf8') },
    { tag: 33432, type: 'ascii', values: ascii(licence, 'utf8') },
    ...locate(grid),
    { tag: 34735, type: 'short', values: encodeGeoKeys(grid.srid, geographic) },
    { tag: 42112, type: 'ascii', values: ascii(writeMetadata(layer), 'utf8') },
  ]
}

/** By the size of a pixel and a corner, which every reader knows, where rows run north to south. */
function locate(grid: Grid): Field[] {
  const { originX, originY, pixelWidth, pixelHeight } = grid
  if (pixelWidth < 0 || pixelHeight > 0) {
    return [{ tag: 34264, type: 'double', values: encodeTransformation(grid, { column: 0, row: 0 }) }]
  }
  return [
    { tag: 33550, type: 'double', values: [pixelWidth, -pixelHeight, 0] },
    { tag: 33922, type: 'double', values: [0, 0, 0, originX, originY, 0] },
  ]
}

/** In the form of GDAL. */
function writeMetadata({ facts, name, unit, scale, offset }: GeotiffLayer): string {
  const ofFile = Object.entries(facts).map(([key, value]) => `<Item name="${key}">${escaped(value)}</Item>`)
  const role = (role: string, value: string | number) =>
    `<Item name="${role.toUpperCase()}" sample="0" role="${role}">${escaped(String(value))}</Item>`
  const ofBand = [
    role('description', name),
    role('unittype', unit),
    ...(scale === 1 && offset === 0 ? [] : [role('offset', offset), role('scale', scale)]),
  ]
  return `<GDALMetadata>\n${[...ofFile, ...ofBand].join('\n')}\n</GDALMetadata>`
}

/** GDAL unescapes an ampersand twice, as it escapes it twice. */
const ENTITIES: Record<string, string> = { '&': '&amp;amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text: string): string {
  return (
    text
      // biome-ignore lint/suspicious/noControlCharactersInRegex: XML has no place for them.
      .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
      .replace(/[&<>"]/g, (character) => ENTITIES[character] as string)
  )
}

interface PixelRows {
  pixels: Pixels
  /** Pixels from the begin of a row to that of the next. */
  stride: number
}

/**
 * Writes the means of squares of two by two pixels, of those that have values. A mean of whole numbers is rounded; where
 * that would be the nodata value, and in overviews of codes, the first value stands for all.
 *
 * @param size of the pixels: at the edge, a square may have two or one
 * @param start index of the first mean
 */
function halve(
  from: PixelRows,
  at: number,
  { width, height }: GridSize,
  to: PixelRows,
  start: number,
  { nodata, sampled }: Pick<Writing, 'nodata' | 'sampled'>,
): void {
  const isExact = isFloat(to.pixels)
  for (let row = 0; row < height; row += 2) {
    for (let column = 0; column < width; column += 2) {
      let sum = 0
      let count = 0
      let first = nodata ?? 0
      for (let y = row; y < Math.min(row + 2, height); y++) {
        for (let x = column; x < Math.min(column + 2, width); x++) {
          const value = from.pixels[at + y * from.stride + x] as number
          if (value === nodata) continue
          if (count === 0) first = value
          sum += value
          count++
        }
      }
      const mean = isExact ? sum / count : Math.round(sum / count)
      to.pixels[start + (row / 2) * to.stride + column / 2] =
        sampled || count === 0 || mean === nodata || !Number.isFinite(sum) ? first : mean
    }
  }
}

const compress = promisify(deflate)

interface Writing {
  type: PixelType
  nodata: number | undefined
  sampled?: boolean
  /** Comes between two blocks. */
  pause: () => Promise<void>
}

/**
 * Writes the blocks of a level, row by row, into a file of its own, and hands the means of its pixels to the level below.
 * It holds one row of blocks.
 */
class LevelWriter {
  readonly level: Level
  readonly file: FileHandle
  /** Bytes of each block, row by row. */
  readonly lengths: number[] = []
  readonly #below: LevelWriter | undefined
  readonly #writing: Writing
  readonly #strip: Pixels
  readonly #stride: number
  /** The row of blocks in `#strip`. */
  #row = 0

  /** @param below the overview of half its size */
  constructor(level: Level, file: FileHandle, below: LevelWriter | undefined, writing: Writing) {
    this.level = level
    this.file = file
    this.#below = below
    this.#writing = writing
    this.#stride = level.columns * GEOTIFF_BLOCK
    this.#strip = createPixels(writing.type, this.#stride * GEOTIFF_BLOCK).fill(writing.nodata ?? 0)
  }

  /** @param window lies in one row of blocks, and in none above that of a window before */
  async add(window: Window, pixels: Pixels): Promise<void> {
    await this.#goTo(Math.floor(window.row / GEOTIFF_BLOCK))
    copyWindow(pixels, window, this.#strip, {
      row: this.#row * GEOTIFF_BLOCK,
      column: 0,
      width: this.#stride,
      height: GEOTIFF_BLOCK,
    })
  }

  /** Writes the rest of it, and of the levels below. */
  async finish(): Promise<void> {
    await this.#goTo(this.level.rows)
    await this.#below?.finish()
  }

  async #goTo(row: number): Promise<void> {
    for (; this.#row < row; this.#row++) {
      for (let column = 0; column < this.level.columns; column++) {
        await this.#writing.pause()
        await this.#write(column)
        await this.#below?.take(this.#row, column, this.#strip, this.#stride, this.level)
      }
      this.#strip.fill(this.#writing.nodata ?? 0)
    }
  }

  async #write(column: number): Promise<void> {
    const size = { width: GEOTIFF_BLOCK, height: GEOTIFF_BLOCK }
    const block = createPixels(this.#writing.type, GEOTIFF_BLOCK ** 2)
    const strip = { row: 0, column: 0, width: this.#stride, height: GEOTIFF_BLOCK }
    copyWindow(this.#strip, strip, block, { row: 0, column: column * GEOTIFF_BLOCK, ...size })
    const bytes = await compress(predicted(block, GEOTIFF_BLOCK))
    await this.file.appendFile(bytes)
    this.lengths.push(bytes.length)
  }

  /** Takes the means of a block of the level above. */
  async take(row: number, column: number, from: Pixels, stride: number, above: Level): Promise<void> {
    const [left, top] = [column * GEOTIFF_BLOCK, row * GEOTIFF_BLOCK]
    const size = {
      width: Math.min(GEOTIFF_BLOCK, above.width - left),
      height: Math.min(GEOTIFF_BLOCK, above.height - top),
    }
    await this.#goTo(Math.floor(row / 2))
    const start = (row % 2) * (GEOTIFF_BLOCK / 2) * this.#stride + left / 2
    const to = { pixels: this.#strip, stride: this.#stride }
    halve({ pixels: from, stride }, left, size, to, start, this.#writing)
  }
}

/** Offsets of TIFF have four bytes. */
const MOST_BYTES = 2 ** 32 - 1

/** Bytes of a copy at a time. */
const CHUNK_BYTES = 2 ** 20

/** Some of the pixels of a layer. */
export interface LayerWindow {
  window: Window
  pixels: Pixels
}

/** The most bytes of a GeoTIFF, or nearly so: those of its pixels and overviews. */
export function estimateFileBytes({ width, height }: GridSize, type: PixelType): number {
  return listLevels({ width, height }).reduce(
    (sum, { columns, rows }) => sum + columns * rows * 2 ** 16 * bytesOf(type),
    0,
  )
}

/**
 * Writes a layer as a cloud-optimised GeoTIFF: its directories come first, then the blocks from the smallest overview to
 * the layer itself, so that a program sees all of it after one request. It holds a few rows of blocks.
 *
 * @param folder of the file, which has no name
 * @param windows row by row; each lies in one row of blocks
 * @param pause comes between two blocks, and may reject
 */
export async function writeGeotiff(
  folder: string,
  layer: GeotiffLayer,
  windows: AsyncIterable<LayerWindow>,
  pause: () => Promise<void>,
): Promise<WrittenFile> {
  const parts: FileHandle[] = []
  try {
    const writers: LevelWriter[] = []
    for (const level of listLevels(layer.grid).reverse()) {
      const part = await openNameless(folder)
      parts.push(part)
      writers.unshift(new LevelWriter(level, part, writers[0], { ...layer, pause }))
    }
    const [first] = writers as [LevelWriter]
    for await (const { window, pixels } of windows) await first.add(window, pixels)
    await first.finish()
    return await putTogether(folder, layer, writers)
  } finally {
    await Promise.allSettled(parts.map((part) => part.close()))
  }
}

/** Writes the directories, and behind them the blocks of all levels, the smallest first. */
async function putTogether(folder: string, layer: GeotiffLayer, levels: LevelWriter[]): Promise<WrittenFile> {
  const directories = (extents: BlockExtents[]) =>
    levels.map(({ level }, at) => listFields(layer, level, extents[at] as BlockExtents, at > 0))
  const unset = levels.map(({ lengths }) => ({ offsets: lengths, lengths }))
  const extents: BlockExtents[] = []
  let end = countHeaderBytes(...directories(unset))
  for (const { lengths } of levels.toReversed()) {
    const offsets: number[] = []
    for (const length of lengths) {
      offsets.push(end)
      end += length
    }
    extents.unshift({ offsets, lengths })
  }
  if (end > MOST_BYTES) throw new RangeError(`the GeoTIFF would have ${end} bytes`)

  const hash = createHash('sha256')
  const handle = await openNameless(folder)
  const append = async (bytes: Buffer) => {
    hash.update(bytes)
    await handle.appendFile(bytes)
  }
  try {
    await append(encodeHeader(...directories(extents)))
    for (const { file } of levels.toReversed()) await copy(file, append)
  } catch (error) {
    await handle.close()
    throw error
  }
  return { bytes: end, checksum: hash.digest('hex'), handle }
}

async function copy(from: FileHandle, append: (bytes: Buffer) => Promise<void>): Promise<void> {
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (let at = 0; ; ) {
    const { bytesRead } = await from.read(chunk, 0, CHUNK_BYTES, at)
    if (bytesRead === 0) return
    await append(chunk.subarray(0, bytesRead))
    at += bytesRead
  }
}

/** Leaves room for directories and for blocks that deflate makes longer. */
const MOST_PIXEL_BYTES = 4e9

type DownloadSettings = Pick<Config, 'DOWNLOAD_CACHE_MB' | 'WORKERS'>

/** The most bytes of the files of a process. */
export function downloadBytesOf({ DOWNLOAD_CACHE_MB, WORKERS }: DownloadSettings): number {
  return Math.floor((DOWNLOAD_CACHE_MB * 1e6) / WORKERS)
}

/** Whether a layer of this size may be downloaded. */
export function isOffered(settings: DownloadSettings, size: GridSize, type: PixelType): boolean {
  return estimateFileBytes(size, type) <= Math.min(downloadBytesOf(settings), MOST_PIXEL_BYTES)
}
