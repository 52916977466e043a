import { isDatabaseUnavailable } from '#src/data/failures.ts'
import type { TileAddress, TileStore } from '#src/data/tiles/tile-queries.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { createInterleaver, type InterleavedTile } from '#src/raster/tiles.ts'
import type { Position } from './queries.ts'
import { type NumberedCoverage, ReplacedMeanwhile, type StoredPixels } from './releases.ts'

/** Memory of an entry beside its bytes: the object, its places in the map and in its segment, and their garbage. */
export const ENTRY_BYTES = 256

/**
 * Tiles lie side by side in buffers of this size: a buffer of each takes hundreds of bytes more and fragments the heap.
 * Systems that allocate by the page give an empty part no memory.
 */
const SEGMENT_BYTES = 1024 * 1024

/** Tiles start at multiples of the larger numbers. */
const ALIGNMENT = Float64Array.BYTES_PER_ELEMENT

const NO_TILE: InterleavedTile = { width: 0, bands: 0, start: 0, pixels: new Float32Array(0), length: 0 }

interface Entry extends InterleavedTile {
  key: number
  /** Bytes in its segment. */
  room: number
  /** There is no such tile. */
  missing: boolean
  /** Used since its segment was last cleared. */
  used: boolean
}

interface Segment {
  bytes: Uint8Array
  floats: Float32Array
  doubles: Float64Array
  entries: Entry[]
  end: number
}

export type TileCache = ReturnType<typeof createTileCache>

/**
 * Caches tiles by key, bounded in bytes. A full cache evicts the tiles of the oldest segment without a use since the last
 * time (CLOCK): nearly as good as least recently used, and a hit sets a flag only.
 */
export function createTileCache(limit: number, segmentBytes = SEGMENT_BYTES) {
  const entries = new Map<number, Entry>()
  const most = Math.floor(limit / segmentBytes)
  const segments = createSegments(most, segmentBytes, (entry) => {
    if (remove(entry)) evicted++
  })
  let taken = 0
  let hits = 0
  let misses = 0
  let evicted = 0

  /** The bytes stay in the segment until that is cleared. */
  function remove(entry: Entry): boolean {
    if (entries.get(entry.key) !== entry) return false
    entries.delete(entry.key)
    taken -= ENTRY_BYTES + entry.room
    return true
  }

  return {
    /** Null without such a tile, undefined for a miss. The next `set` may overwrite the pixels. */
    get(key: number): InterleavedTile | null | undefined {
      const entry = entries.get(key)
      if (entry === undefined) {
        misses++
        return undefined
      }
      hits++
      entry.used = true
      return entry.missing ? null : entry
    },
    set(key: number, tile: InterleavedTile | null): void {
      const { length, pixels } = tile ?? NO_TILE
      const room = Math.ceil((length * pixels.BYTES_PER_ELEMENT) / ALIGNMENT) * ALIGNMENT
      if (most === 0 || ENTRY_BYTES + room > segmentBytes || entries.has(key)) return
      const entry = addTo(segments.having(ENTRY_BYTES + room), tile, { key, room })
      entries.set(key, entry)
      taken += ENTRY_BYTES + room
    },
    /** It does not count as a use. */
    has: (key: number) => entries.has(key),
    state: () => ({
      tiles: entries.size,
      /** Whole segments. */
      bytes: segments.count() * segmentBytes,
      limitBytes: most * segmentBytes,
      /** Space before an eviction; the ends of segments count as space. */
      freeBytes: most * segmentBytes - taken,
      hits,
      misses,
      evicted,
    }),
  }
}

/** Creates segments as they are needed, up to `most`. */
function createSegments(most: number, segmentBytes: number, onEvicted: (entry: Entry) => void) {
  const segments: Segment[] = []
  let current = -1

  /** Moves used tiles to the front, and evicts the others. A second call evicts all. */
  function clear(segment: Segment): void {
    const before = segment.entries
    segment.entries = []
    segment.end = 0
    for (const entry of before) {
      if (!entry.used) {
        onEvicted(entry)
        continue
      }
      const { room, start, pixels } = entry
      const from = start * pixels.BYTES_PER_ELEMENT
      if (from !== segment.end) segment.bytes.copyWithin(segment.end, from, from + room)
      entry.start = segment.end / pixels.BYTES_PER_ELEMENT
      entry.used = false
      segment.end += room
      segment.entries.push(entry)
    }
  }

  return {
    count: () => segments.length,
    /** A segment with space. */
    having(room: number): Segment {
      for (;;) {
        const segment = segments[current]
        if (segment && takenOf(segment) + room <= segmentBytes) return segment
        if (segments.length < most) {
          current = segments.push(newSegment(segmentBytes)) - 1
        } else {
          current = (current + 1) % segments.length
          clear(segments[current] as Segment)
        }
      }
    },
  }
}

/** Copies a tile to the end of a segment. */
function addTo(
  segment: Segment,
  tile: InterleavedTile | null,
  { key, room }: Pick<Entry, 'key' | 'room'>,
): Entry {
  const { width, bands, length, start: first, pixels: from } = tile ?? NO_TILE
  const pixels = from instanceof Float64Array ? segment.doubles : segment.floats
  const start = segment.end / pixels.BYTES_PER_ELEMENT
  pixels.set(from.subarray(first, first + length), start)
  const entry = { key, width, bands, start, pixels, length, room, missing: tile === null, used: false }
  segment.end += room
  segment.entries.push(entry)
  return entry
}

function newSegment(bytes: number): Segment {
  // A multiple of both sizes of numbers.
  const buffer = new ArrayBuffer(Math.floor(bytes / ALIGNMENT) * ALIGNMENT)
  return {
    bytes: new Uint8Array(buffer),
    floats: new Float32Array(buffer),
    doubles: new Float64Array(buffer),
    entries: [],
    end: 0,
  }
}

function takenOf({ end, entries }: Segment): number {
  return end + entries.length * ENTRY_BYTES
}

export interface PixelIndex {
  /** Of the tile. */
  key: number
  column: number
  row: number
}

interface NumberedTile extends TileAddress {
  key: number
}

/** The pixel of a position; null outside the grid. */
export function findPixel(coverage: NumberedCoverage, { longitude, latitude }: Position): PixelIndex | null {
  const x = (longitude - coverage.originX) / coverage.pixelWidth
  const y = (latitude - coverage.originY) / coverage.pixelHeight
  if (!(x >= 0 && x < coverage.width && y >= 0 && y < coverage.height)) return null
  return makePixelIndex(coverage, Math.floor(x), Math.floor(y))
}

/** The pixel of a column and row of the grid. */
export function makePixelIndex(coverage: NumberedCoverage, column: number, row: number): PixelIndex {
  const { tileSize } = coverage
  const tileColumn = Math.floor(column / tileSize)
  const tileRow = Math.floor(row / tileSize)
  return {
    key: coverage.firstTile + tileRow * coverage.tileColumns + tileColumn,
    column: column % tileSize,
    row: row % tileSize,
  }
}

function locateTile({ id, firstTile, tileColumns }: NumberedCoverage, key: number): NumberedTile {
  const tile = key - firstTile
  return { key, coverageId: id, row: Math.floor(tile / tileColumns), column: tile % tileColumns }
}

/** A request for a pixel of a tile that is being loaded. */
interface Waiting {
  place: PixelIndex
  resolve(pixels: StoredPixels): void
  reject(error: unknown): void
}

/** Tiles have some kilobytes each, and their hexadecimal digits are decoded in the event loop. */
const TILES_PER_QUERY = 100

/** Pixels without a tile. */
export const NOTHING: StoredPixels = []

/** Loads tiles of a store into a cache. */
export function createTileLoader(store: TileStore, cache: TileCache, concurrency: number) {
  const interleave = createInterleaver()
  const loading = new Map<number, Waiting[]>()
  const askTile = createBatcher({
    concurrency,
    failsAll: isDatabaseUnavailable,
    run: (tiles: NumberedTile[]) => store.find(tiles),
    batch: TILES_PER_QUERY,
    keyOf: ({ key }) => key,
  })

  /**
   * Reads a pixel of a missing tile; concurrent requests share one query.
   *
   * @throws {ReplacedMeanwhile} where the coverage was deleted
   */
  function read(coverage: NumberedCoverage, place: PixelIndex, clientKey?: ClientKey): Promise<StoredPixels> {
    return new Promise((resolve, reject) => {
      const waiting = { place, resolve, reject }
      const others = loading.get(place.key)
      const bytes = askTile(locateTile(coverage, place.key), clientKey)
      if (others) {
        others.push(waiting)
        // This client key has a slot too: the first one may wait longer.
        bytes.catch(() => {})
      } else {
        loading.set(place.key, [waiting])
        void load(place.key, bytes)
      }
    })
  }

  async function load(key: number, read: Promise<Buffer | null>): Promise<void> {
    try {
      const bytes = requireExisting(await read)
      const tile = bytes.length === 0 ? null : interleave(bytes)
      const waiting = takeWaiting(key)
      cache.set(key, tile)
      for (const { place, resolve } of waiting) resolve(pixelIn(tile, place))
    } catch (error) {
      for (const { reject } of takeWaiting(key)) reject(error)
    }
  }

  function takeWaiting(key: number): Waiting[] {
    const waiting = loading.get(key) ?? []
    loading.delete(key)
    return waiting
  }

  return { read, state: askTile.state }
}

/** @param found null where it was deleted */
export function requireExisting<Found>(found: Found | null): Found {
  if (found === null) throw new ReplacedMeanwhile()
  return found
}

export function pixelIn(tile: InterleavedTile | null, { column, row }: PixelIndex): StoredPixels {
  if (tile === null) return NOTHING
  const { width, bands, start, pixels } = tile
  const from = start + (row * width + column) * bands
  const values: StoredPixels = []
  for (let at = from; at < from + bands; at++) values.push(pixels[at] as number)
  return values
}
