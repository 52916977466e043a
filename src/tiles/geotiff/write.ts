import { createHash } from 'node:crypto'
import { type FileHandle, open, rm } from 'node:fs/promises'
import type { GridSize, Window } from '#src/raster/grid.ts'
import { bytesOf, type Pixels, type PixelType } from '#src/raster/pixels.ts'
import { encodeHeader, headerBytesOf } from '../tiff.ts'
import { type BlockPlaces, fieldsOf, type GeotiffLayer } from './fields.ts'
import { LevelWriter } from './level-writer.ts'
import { levelsOf } from './levels.ts'

/** Offsets of TIFF have four bytes. */
const MOST_BYTES = 2 ** 32 - 1

/** Bytes that are copied at a time. */
const CHUNK_BYTES = 2 ** 20

/** Some of the pixels of a layer. */
export interface LayerWindow {
  window: Window
  pixels: Pixels
}

export interface WrittenGeotiff {
  bytes: number
  /** SHA-256 of all of them, in hexadecimal. */
  checksum: string
}

/** How many bytes a GeoTIFF has at most, or nearly so: those of its pixels, and of its overviews. */
export function mostBytesOf({ width, height }: GridSize, type: PixelType): number {
  return levelsOf({ width, height }).reduce(
    (sum, { columns, rows }) => sum + columns * rows * 2 ** 16 * bytesOf(type),
    0,
  )
}

/**
 * Writes a layer as a cloud-optimised GeoTIFF: its directories come first, then the blocks of the smallest overview, and
 * those of the layer itself last, so that a program sees all of it after one request, and of what it looks at closely
 * fetches no more than it shows. What is held are a few rows of blocks.
 *
 * @param path where nothing is yet
 * @param windows row by row; each lies in one row of blocks
 * @param pause comes between two blocks; where it rejects, nothing is left of the file
 */
export async function writeGeotiff(
  path: string,
  layer: GeotiffLayer,
  windows: AsyncIterable<LayerWindow>,
  pause: () => Promise<void>,
): Promise<WrittenGeotiff> {
  const paths = levelsOf(layer.grid).map((_, level) => `${path}.${level}`)
  const parts: FileHandle[] = []
  try {
    for (const part of paths) parts.push(await open(part, 'wx+', 0o600))
    const levels = await writeLevels(parts, layer, windows, pause)
    return await putTogether(path, layer, levels)
  } catch (error) {
    await rm(path, { force: true }).catch(() => {})
    throw error
  } finally {
    for (const part of parts) await part.close()
    for (const part of paths) await rm(part, { force: true }).catch(() => {})
  }
}

/** Writes the blocks of each level into a file of its own. */
async function writeLevels(
  parts: FileHandle[],
  { grid, type, nodata }: GeotiffLayer,
  windows: AsyncIterable<LayerWindow>,
  pause: () => Promise<void>,
): Promise<LevelWriter[]> {
  const levels = levelsOf(grid)
  const writers: LevelWriter[] = []
  for (const [at, level] of [...levels.entries()].reverse()) {
    writers.unshift(new LevelWriter(level, parts[at] as FileHandle, writers[0], { type, nodata, pause }))
  }
  const [first] = writers as [LevelWriter]
  for await (const { window, pixels } of windows) await first.add(window, pixels)
  await first.finish()
  return writers
}

/** Writes the directories, and behind them the blocks of all levels, the smallest first. */
async function putTogether(
  path: string,
  layer: GeotiffLayer,
  levels: LevelWriter[],
): Promise<WrittenGeotiff> {
  const directories = (places: BlockPlaces[]) =>
    levels.map(({ level }, at) => fieldsOf(layer, level, places[at] as BlockPlaces, at > 0))
  const unplaced = levels.map(({ lengths }) => ({ offsets: lengths, lengths }))
  const places: BlockPlaces[] = []
  let end = headerBytesOf(...directories(unplaced))
  for (const { lengths } of levels.toReversed()) {
    const offsets: number[] = []
    for (const length of lengths) {
      offsets.push(end)
      end += length
    }
    places.unshift({ offsets, lengths })
  }
  if (end > MOST_BYTES) throw new RangeError(`${path} would have ${end} bytes`)

  const hash = createHash('sha256')
  const file = await open(path, 'wx', 0o600)
  try {
    const append = async (bytes: Buffer) => {
      hash.update(bytes)
      await file.appendFile(bytes)
    }
    await append(encodeHeader(...directories(places)))
    for (const { file: part } of levels.toReversed()) await copy(part, append)
  } finally {
    await file.close()
  }
  return { bytes: end, checksum: hash.digest('hex') }
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
