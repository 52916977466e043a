import { hash } from 'node:crypto'
import type { GridSize, Window } from '#src/raster/grid.ts'
import { nodataTolerance } from '#src/raster/pixels.ts'
import { TILE_SIZE, type TileBand } from '#src/raster/tiles.ts'

/**
 * The Merkle tree of a release. H is SHA-256, `|` joins bytes, whole numbers are unsigned, of four bytes, little-endian.
 *
 * - A leaf is a run of a row of a tile, its pixels 0 to 7 or 8 to 15: H(0 | code of the release in UTF-8 | 0 | grid | first
 *   column | row | the stored pixels of the run, pixel by pixel, of each all bands). At the grid's edge a run is shorter. Grids
 *   count from 1, columns and rows from 0. A stored pixel is a little-endian double without a negative zero; no value is the
 *   NaN 7ff8000000000000.
 * - A run without any value has the hash of nothing, H(), and so has one beyond the edge.
 * - A node of two hashes is H(1 | left | right). In a level of odd length the last hash stands in the next level as it is.
 *   So the tree is that of RFC 6962, section 2.1.
 * - The 32 runs of a tile of 16 x 16 pixels, row by row, make its hash. A tile without any value has the hash of nothing.
 * - The tiles of a grid, row by row, make its hash; the grids of a release, in their order, make the hash of its values.
 * - The root is H(1 | H(0 | header) | hash of the values). The header is a text of JSON in UTF-8, which names the release, its
 *   grids and its layers.
 */

const HASH_BYTES = 32

/** A row of proof_node: a power of two, so that chunks are subtrees. */
export const CHUNK_TILES = 512

const LEAF = 0
const NODE = 1

/** A text of a character a byte, which costs a third of a buffer. */
function digest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'binary')
}

/** Half as dear as Buffer.write. */
function writeDigest(text: string, to: Uint8Array, at: number): void {
  for (let byte = 0; byte < HASH_BYTES; byte++) to[at + byte] = text.charCodeAt(byte)
}

/** The hash of nothing: of tiles and runs without values, also beyond the edge. */
const NOTHING = Buffer.from(digest(new Uint8Array()), 'latin1')

/** Writes the hashes of the level above over those of a level. */
function fold(hashes: Buffer, length: number, scratch: Buffer): number {
  const pairs = length >> 1
  scratch[0] = NODE
  for (let pair = 0; pair < pairs; pair++) {
    const from = 2 * pair * HASH_BYTES
    // A third of the time of Buffer.copy.
    for (let byte = 0; byte < 2 * HASH_BYTES; byte++) scratch[1 + byte] = hashes[from + byte] as number
    writeDigest(digest(scratch), hashes, pair * HASH_BYTES)
  }
  if (length % 2 === 0) return pairs
  hashes.copyWithin(pairs * HASH_BYTES, (length - 1) * HASH_BYTES, length * HASH_BYTES)
  return pairs + 1
}

/**
 * The root of a level, and the hashes beside the way from a place to it, from below.
 *
 * @param hashes at least one, 32 bytes each
 */
export function climb(hashes: Buffer, place: number): { root: Buffer; path: Buffer[] } {
  const level = Buffer.from(hashes)
  const scratch = Buffer.alloc(1 + 2 * HASH_BYTES)
  const path: Buffer[] = []
  let at = place
  for (let length = hashes.length / HASH_BYTES; length > 1; at >>= 1) {
    const beside = at ^ 1
    if (beside < length) path.push(hashIn(level, beside))
    length = fold(level, length, scratch)
  }
  return { root: level.subarray(0, HASH_BYTES), path }
}

export function computeRoot(hashes: Buffer): Buffer {
  return climb(hashes, 0).root
}

/** A copy. */
export function hashIn(hashes: Buffer, place: number): Buffer {
  return Buffer.from(hashes.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES))
}

export function combineHashes(left: Buffer, right: Buffer): Buffer {
  return computeRoot(Buffer.concat([left, right]))
}

export function hashHeader(header: string): Buffer {
  return Buffer.from(digest(Buffer.concat([Buffer.of(LEAF), Buffer.from(header)])), 'latin1')
}

/** Pixels of a run. */
export const RUN = 8

const RUNS_A_ROW = TILE_SIZE / RUN
const RUNS = RUNS_A_ROW * TILE_SIZE

const NUMBER_BYTES = 8
/** Grid, first column and row, right before the pixels. */
const PLACE_BYTES = 12
/** The upper half of the double of no value; the lower one is 0. */
const NO_VALUE = 0x7ff80000

/**
 * The bytes of the leaves of a tile, which stay where they are: a part is written only where it changes.
 *
 * @param bands how many
 */
function createLeaves(release: string, grid: number, bands: number) {
  const prefix = Buffer.concat([Buffer.of(LEAF), Buffer.from(release), Buffer.of(0)])
  const before = prefix.length + PLACE_BYTES
  // Doubles lie at multiples of their size.
  const start = Math.ceil(before / NUMBER_BYTES) * NUMBER_BYTES
  const stride = start + RUN * bands * NUMBER_BYTES
  const bytes = Buffer.from(new ArrayBuffer(RUNS * stride))
  const words = new Uint32Array(bytes.buffer)
  const numbers = new Float64Array(bytes.buffer)
  const filled = new Uint8Array(RUNS)
  const firstOf = (run: number) => (run * stride + start) / NUMBER_BYTES
  const leafOf = (run: number, pixels: number) => {
    const from = firstOf(run) * NUMBER_BYTES
    return bytes.subarray(from - before, from + pixels * bands * NUMBER_BYTES)
  }
  const whole = Array.from({ length: RUNS }, (_, run) => leafOf(run, RUN))
  for (let run = 0; run < RUNS; run++) {
    prefix.copy(bytes, firstOf(run) * NUMBER_BYTES - before)
    words[2 * firstOf(run) - 3] = grid
  }

  return {
    /** @returns the runs that have a value in a band. @param start of the tile in the pixels. @param across pixels of a row */
    write(all: TileBand[], { column, row, width, height }: Window, start: number, across: number) {
      filled.fill(0)
      for (let run = 0; run < RUNS; run++) {
        const first = 2 * firstOf(run)
        words[first - 2] = column + (run % RUNS_A_ROW) * RUN
        words[first - 1] = row + Math.floor(run / RUNS_A_ROW)
      }
      for (let band = 0; band < bands; band++) {
        const { pixels, nodata = Number.NaN } = all[band] as TileBand
        const tolerance = nodataTolerance(pixels)
        for (let run = 0; run < height * RUNS_A_ROW; run++) {
          const left = (run % RUNS_A_ROW) * RUN
          const from = start + Math.floor(run / RUNS_A_ROW) * across + left
          let at = firstOf(run) + band
          for (let pixel = 0; pixel < lengthOfRun(width, run); pixel++, at += bands) {
            const number = pixels[from + pixel] as number
            if (Math.abs(number - nodata) <= tolerance || !Number.isFinite(number)) {
              words[2 * at] = 0
              words[2 * at + 1] = NO_VALUE
            } else {
              // Without a negative zero.
              numbers[at] = number + 0
              filled[run] = 1
            }
          }
        }
      }
      return filled
    },
    read: (run: number, pixels: number): Buffer =>
      pixels === RUN ? (whole[run] as Buffer) : leafOf(run, pixels),
    /** The numbers of a pixel; NaN for none. */
    pixelOf(run: number, pixel: number): Float64Array {
      const from = firstOf(run) + pixel * bands
      return numbers.subarray(from, from + bands)
    },
  }
}

/** @param grid its number in the release, from 1. What it gives is valid until the next call. */
function createRunHasher(release: string, grid: number) {
  const hashes = Buffer.alloc(RUNS * HASH_BYTES)
  let leaves = createLeaves(release, grid, 0)
  let prepared = 0

  /** Undefined without any value. */
  return (bands: TileBand[], tile: Window, start: number, across: number) => {
    if (bands.length !== prepared) {
      prepared = bands.length
      leaves = createLeaves(release, grid, prepared)
    }
    const filled = leaves.write(bands, tile, start, across)
    if (!filled.includes(1)) return undefined
    for (let run = 0; run < RUNS; run++) {
      const to = run * HASH_BYTES
      if (!filled[run]) hashes.set(NOTHING, to)
      else writeDigest(digest(leaves.read(run, lengthOfRun(tile.width, run))), hashes, to)
    }
    return { hashes, leaves }
  }
}

/** Pixels of a run that lie in a tile. @param width of the tile */
function lengthOfRun(width: number, run: number): number {
  return Math.min(RUN, width - (run % RUNS_A_ROW) * RUN)
}

interface ProvenRun {
  /** Of each pixel of its run, all bands; null for none. */
  raw: (number | null)[][]
  /** In its tile, from below. */
  path: Buffer[]
  tile: Buffer
}

/**
 * @param tile its pixels, and where it lies
 * @param place of the pixel in the tile
 * @returns undefined where its run has no value
 */
export function provePixel(
  { release, grid }: { release: string; grid: number },
  { bands, window }: { bands: TileBand[]; window: Window },
  place: { column: number; row: number },
): ProvenRun | undefined {
  const found = createRunHasher(release, grid)(bands, window, 0, window.width)
  if (!found) return undefined
  const run = place.row * RUNS_A_ROW + Math.floor(place.column / RUN)
  const raw = Array.from({ length: lengthOfRun(window.width, run) }, (_, pixel) =>
    Array.from(found.leaves.pixelOf(run, pixel), (number) => (Number.isNaN(number) ? null : number)),
  )
  if (raw.flat().every((number) => number === null)) return undefined
  const { root, path } = climb(found.hashes, run)
  return { raw, path, tile: root }
}

export function measureTiles({ width, height }: GridSize): { across: number; tiles: number } {
  const across = Math.ceil(width / TILE_SIZE)
  return { across, tiles: across * Math.ceil(height / TILE_SIZE) }
}

/** A row of proof_node. */
export interface HashChunk {
  level: number
  chunk: number
  hashes: Buffer
}

/** Hashes tiles while pixels pass in the order of rows; holds the chunks of the last window's rows. */
export function createTileHasher(size: GridSize, release: string, grid: number) {
  const { across, tiles } = measureTiles(size)
  const hashRuns = createRunHasher(release, grid)
  const open = new Map<number, Buffer>()
  const lengthOf = (chunk: number) => Math.min(CHUNK_TILES, tiles - chunk * CHUNK_TILES)
  const emptyChunk = (chunk: number) => Buffer.concat(Array<Buffer>(lengthOf(chunk)).fill(NOTHING))
  const roots = Buffer.concat(Array<Buffer>(Math.ceil(tiles / CHUNK_TILES)).fill(computeRoot(emptyChunk(0))))
  const last = roots.length / HASH_BYTES - 1
  computeRoot(emptyChunk(last)).copy(roots, last * HASH_BYTES)
  let lastRow = 0

  function* closeBefore(tile: number): Generator<HashChunk> {
    for (const [chunk, hashes] of open) {
      if (chunk * CHUNK_TILES + lengthOf(chunk) > tile) continue
      open.delete(chunk)
      computeRoot(hashes).copy(roots, chunk * HASH_BYTES)
      yield { level: 0, chunk, hashes }
    }
  }

  return {
    /**
     * Null after each tile, so that others may have a turn.
     *
     * @param window aligned to tiles, never above an earlier one
     */
    *add(window: Window, bands: TileBand[]): Generator<HashChunk | null> {
      if (window.row > lastRow) {
        lastRow = window.row
        yield* closeBefore((window.row / TILE_SIZE) * across)
      }
      for (let top = 0; top < window.height; top += TILE_SIZE) {
        for (let left = 0; left < window.width; left += TILE_SIZE) {
          const tile = {
            column: window.column + left,
            row: window.row + top,
            width: Math.min(TILE_SIZE, window.width - left),
            height: Math.min(TILE_SIZE, window.height - top),
          }
          const found = hashRuns(bands, tile, top * window.width + left, window.width)
          if (found) {
            const place = (tile.row / TILE_SIZE) * across + tile.column / TILE_SIZE
            const chunk = Math.floor(place / CHUNK_TILES)
            const hashes = open.get(chunk) ?? emptyChunk(chunk)
            open.set(chunk, hashes)
            computeRoot(found.hashes).copy(hashes, (place % CHUNK_TILES) * HASH_BYTES)
          }
          yield null
        }
      }
    },
    /** The last chunks, and level 1. */
    *finish(): Generator<HashChunk> {
      yield* closeBefore(Number.POSITIVE_INFINITY)
      yield { level: 1, chunk: 0, hashes: roots }
    },
    /** After `finish`. */
    root: () => computeRoot(roots),
  }
}
