import { hash } from 'node:crypto'
import type { GridSize, Window } from './grid.ts'
import { FLOAT_TOLERANCE, TILE_SIZE, type TileBand } from './tiles.ts'

/**
 * The Merkle tree of a release. H is SHA-256, `|` joins bytes, whole numbers are unsigned, of four bytes, big-endian.
 *
 * - A leaf is a pixel: H(0 | code of the release in UTF-8 | 0 | grid | column | row | the stored pixel of each band). Grids
 *   count from 1, columns and rows from 0. A stored pixel is a big-endian double without a negative zero; no value is the NaN
 *   7ff8000000000000.
 * - A node of two hashes is H(1 | left | right). In a level of odd length the last hash stands in the next level as it is.
 *   So the tree is that of RFC 6962, section 2.1.
 * - The leaves of a tile of 16 x 16 pixels, row by row, make its hash. Pixels beyond the grid's edge have the hash of nothing,
 *   H(), and so has a tile without any value.
 * - The tiles of a grid, row by row, make its hash; the grids of a release, in their order, make the hash of its values.
 * - The root is H(1 | H(0 | header) | hash of the values). The header is a text of JSON in UTF-8, which names the release, its
 *   grids and its layers.
 */

export const HASH_BYTES = 32

/** A row of proof_node: a power of two, so that chunks are subtrees. */
export const CHUNK_TILES = 512

const LEAF = 0
const NODE = 1

/** Binary text costs half of a buffer. */
function digest(bytes: Uint8Array): string {
  return hash('sha256', bytes, 'binary')
}

/** The hash of nothing: of a tile without values, and of pixels beyond the edge. */
const NOTHING = Buffer.from(digest(new Uint8Array()), 'latin1')

/** Writes the hashes of the level above over those of a level. */
function fold(hashes: Buffer, length: number, scratch: Buffer): number {
  const pairs = length >> 1
  scratch[0] = NODE
  for (let pair = 0; pair < pairs; pair++) {
    hashes.copy(scratch, 1, 2 * pair * HASH_BYTES, 2 * (pair + 1) * HASH_BYTES)
    hashes.write(digest(scratch), pair * HASH_BYTES, 'latin1')
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

/** A number that JSON can have; NaN is none. */
function readPixel({ pixels, nodata }: TileBand, at: number, tolerance: number): number {
  const pixel = pixels[at] as number
  if (nodata !== undefined && Math.abs(pixel - nodata) <= tolerance) return Number.NaN
  // Without a negative zero.
  return Number.isFinite(pixel) ? pixel + 0 : Number.NaN
}

const NO_VALUE = Buffer.from('7ff8000000000000', 'hex')

const LEAVES = TILE_SIZE ** 2

/** @param grid its number in the release, from 1. The result is valid until the next call; undefined without any value. */
function createLeafHasher(release: string, grid: number) {
  const prefix = Buffer.concat([Buffer.of(LEAF), Buffer.from(release), Buffer.of(0)])
  const place = prefix.length
  const leaves = Buffer.alloc(LEAVES * HASH_BYTES)
  let leaf = Buffer.alloc(0)

  function prepare(bands: number): void {
    const length = place + 12 + bands * 8
    if (leaf.length === length) return
    leaf = Buffer.alloc(length)
    prefix.copy(leaf)
    leaf.writeUInt32BE(grid, place)
  }

  return (bands: TileBand[], tile: Window, start: number, stride: number): Buffer | undefined => {
    prepare(bands.length)
    const tolerances = bands.map(({ pixels }) =>
      pixels instanceof Float32Array || pixels instanceof Float64Array ? FLOAT_TOLERANCE : 0,
    )
    let any = false
    for (let row = 0; row < TILE_SIZE; row++) {
      for (let column = 0; column < TILE_SIZE; column++) {
        const to = (row * TILE_SIZE + column) * HASH_BYTES
        if (row >= tile.height || column >= tile.width) {
          NOTHING.copy(leaves, to)
          continue
        }
        leaf.writeUInt32BE(tile.column + column, place + 4)
        leaf.writeUInt32BE(tile.row + row, place + 8)
        for (let band = 0; band < bands.length; band++) {
          const from = start + row * stride + column
          const value = readPixel(bands[band] as TileBand, from, tolerances[band] as number)
          const at = place + 12 + band * 8
          if (Number.isNaN(value)) {
            NO_VALUE.copy(leaf, at)
          } else {
            any = true
            leaf.writeDoubleBE(value, at)
          }
        }
        leaves.write(digest(leaf), to, 'latin1')
      }
    }
    return any ? leaves : undefined
  }
}

interface ProvenPixel {
  /** Of each band; null for none. */
  raw: (number | null)[]
  /** In its tile, from below. */
  path: Buffer[]
  tile: Buffer
}

/**
 * @param tile its pixels, and where it lies
 * @param place of the pixel in the tile
 */
export function provePixel(
  { release, grid }: { release: string; grid: number },
  tile: { bands: TileBand[]; window: Window },
  place: { column: number; row: number },
): ProvenPixel | undefined {
  const { bands, window } = tile
  const leaves = createLeafHasher(release, grid)(bands, window, 0, window.width)
  if (!leaves) return undefined
  const at = place.row * window.width + place.column
  const raw = bands.map((band) => {
    const isFloat = band.pixels instanceof Float32Array || band.pixels instanceof Float64Array
    const value = readPixel(band, at, isFloat ? FLOAT_TOLERANCE : 0)
    return Number.isNaN(value) ? null : value
  })
  const { root, path } = climb(leaves, place.row * TILE_SIZE + place.column)
  return { raw, path, tile: root }
}

export function countTiles({ width, height }: GridSize): { across: number; tiles: number } {
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
  const { across, tiles } = countTiles(size)
  const hashLeaves = createLeafHasher(release, grid)
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
          const leaves = hashLeaves(bands, tile, top * window.width + left, window.width)
          if (leaves) {
            const place = (tile.row / TILE_SIZE) * across + tile.column / TILE_SIZE
            const chunk = Math.floor(place / CHUNK_TILES)
            const hashes = open.get(chunk) ?? emptyChunk(chunk)
            open.set(chunk, hashes)
            computeRoot(leaves).copy(hashes, (place % CHUNK_TILES) * HASH_BYTES)
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
