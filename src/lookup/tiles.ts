import { isDatabaseUnavailable } from '#src/data/failures.ts'
import type { TileAddress, TileStore } from '#src/data/tiles/tile-queries.ts'
import { type BatcherState, createBatcher } from '#src/lib/batcher.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { createInterleaver, type InterleavedTile } from '#src/raster/tiles.ts'
import type { Position } from './queries.ts'
import { type NumberedCoverage, ReplacedMeanwhile, type StoredPixels } from './releases.ts'

/**
 * What an entry takes beside its bytes: the object, its places in the map and in its segment, and the
 * garbage of these that the heap holds until it is collected.
 */
export const ENTRY_BYTES = 256

/**
 * Tiles lie side by side in buffers of this size: a buffer for each would take hundreds of bytes more,
 * and what tiles of other sizes leave behind could not be used again. One that is not filled takes no
 * memory, as long as the system gives it by the page.
 */
const SEGMENT_BYTES = 1024 * 1024

/** Tiles start at multiples of so many bytes: the size of the larger numbers. */
const ALIGNMENT = Float64Array.BYTES_PER_ELEMENT

const NO_TILE: InterleavedTile = { width: 0, bands: 0, start: 0, pixels: new Float32Array(0), length: 0 }

interface Entry extends InterleavedTile {
  key: number
  /** Bytes that it takes in its segment. */
  room: number
  /** The tile is known not to be there. */
  missing: boolean
  /** Whether it has been asked for since its segment was last cleared. */
  used: boolean
  /** How often it has been asked for, but for uses that were counted. */
  uses: number
}

interface Segment {
  bytes: Uint8Array
  /** The same bytes as numbers. */
  floats: Float32Array
  doubles: Float64Array
  entries: Entry[]
  /** Where the next tile goes. */
  end: number
}

/** What a tile cache holds, and how it has served so far. */
export interface TileCacheState {
  tiles: number
  /** Memory that it has taken, in whole segments, and the most that it takes. */
  bytes: number
  limitBytes: number
  /** What there is room for before any tile has to go; less, by what is left over at the ends of segments. */
  freeBytes: number
  hits: number
  misses: number
  /** Tiles that made room for others. */
  evicted: number
}

/** Tiles by their number, bounded in bytes. */
export interface TileCache {
  /**
   * Null for a tile that is known not to be there, undefined for one that is not known. The pixels are the
   * cache's own, and another tile's after the next `set`.
   */
  get(key: number): InterleavedTile | null | undefined
  /**
   * Keeps a copy.
   *
   * @param uses how many have asked for it already
   */
  set(key: number, tile: InterleavedTile | null, uses?: number): void
  /** Whether `get` would find it; it does not count as asked for. */
  has(key: number): boolean
  /** The tiles that somebody has asked for lately. Others may come and go meanwhile. */
  used(): Iterable<TileUses>
  /** Forgets so many uses of a tile, which have been counted. */
  counted(tile: TileUses): void
  /** Gives up a tile that nobody asks for any more. */
  forget(key: number): void
  /** The tiles that there are, known not to be there or otherwise. Others may come and go meanwhile. */
  keys(): Iterable<number>
  state(): TileCacheState
}

/** How often a tile has been asked for, but for uses that were counted. */
export interface TileUses {
  key: number
  uses: number
}

/**
 * Makes a cache of so many bytes, in whole segments. When it is full, the oldest segment is cleared of
 * the tiles that nobody has asked for since it was last (CLOCK): nearly as good as least recently used,
 * and a hit costs no more than a flag.
 */
export function createTileCache(limit: number, segmentBytes = SEGMENT_BYTES): TileCache {
  const entries = new Map<number, Entry>()
  const most = Math.floor(limit / segmentBytes)
  const segments = createSegments(most, segmentBytes, (entry) => {
    if (remove(entry)) evicted++
  })
  let taken = 0
  let hits = 0
  let misses = 0
  let evicted = 0

  /** Leaves it in its segment until that is cleared; whether it was still there. */
  function remove(entry: Entry): boolean {
    if (entries.get(entry.key) !== entry) return false
    entries.delete(entry.key)
    taken -= ENTRY_BYTES + entry.room
    return true
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) {
        misses++
        return undefined
      }
      hits++
      entry.used = true
      entry.uses++
      return entry.missing ? null : entry
    },
    set(key, tile, uses = 0) {
      const { length, pixels } = tile ?? NO_TILE
      const room = Math.ceil((length * pixels.BYTES_PER_ELEMENT) / ALIGNMENT) * ALIGNMENT
      if (most === 0 || ENTRY_BYTES + room > segmentBytes || entries.has(key)) return
      const entry = addTo(segments.having(ENTRY_BYTES + room), tile, { key, room, uses })
      entries.set(key, entry)
      taken += ENTRY_BYTES + room
    },
    has: (key) => entries.has(key),
    used: () => usedAmong(entries),
    counted({ key, uses }) {
      const entry = entries.get(key)
      if (entry) entry.uses = Math.max(0, entry.uses - uses)
    },
    forget(key) {
      const entry = entries.get(key)
      if (!entry) return
      remove(entry)
      entry.used = false
    },
    keys: () => entries.keys(),
    state: () => ({
      tiles: entries.size,
      bytes: segments.count() * segmentBytes,
      limitBytes: most * segmentBytes,
      freeBytes: most * segmentBytes - taken,
      hits,
      misses,
      evicted,
    }),
  }
}

/**
 * Makes segments as they are needed, up to so many.
 *
 * @param givenUp is told of each entry that makes room
 */
function createSegments(most: number, segmentBytes: number, givenUp: (entry: Entry) => void) {
  const segments: Segment[] = []
  let current = -1

  /** Moves what has been used to the front, and gives up the rest. Done twice in a row, it gives up all. */
  function clear(segment: Segment): void {
    const before = segment.entries
    segment.entries = []
    segment.end = 0
    for (const entry of before) {
      if (!entry.used) {
        givenUp(entry)
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
    /** The segment where so many bytes have room. */
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

function* usedAmong(entries: Map<number, Entry>): Generator<TileUses> {
  for (const { key, uses, used } of entries.values()) if (used || uses > 0) yield { key, uses }
}

/** Copies a tile to the end of what a segment has. */
function addTo(
  segment: Segment,
  tile: InterleavedTile | null,
  { key, room, uses }: Pick<Entry, 'key' | 'room' | 'uses'>,
): Entry {
  const { width, bands, length, start: first, pixels: from } = tile ?? NO_TILE
  const pixels = from instanceof Float64Array ? segment.doubles : segment.floats
  const start = segment.end / pixels.BYTES_PER_ELEMENT
  pixels.set(from.subarray(first, first + length), start)
  const entry = { key, width, bands, start, pixels, length, room, missing: tile === null, used: false, uses }
  segment.end += room
  segment.entries.push(entry)
  return entry
}

function newSegment(bytes: number): Segment {
  // Whole numbers of either size.
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

/** A pixel of a tile, and the number of the tile. */
export interface PixelPlace {
  key: number
  column: number
  row: number
}

/** A tile by its number, and what it is called in the database. */
interface NumberedTile extends TileAddress {
  key: number
}

/** Where the pixel is that a position lies in; null where that is not on the grid. */
export function placeIn(coverage: NumberedCoverage, { longitude, latitude }: Position): PixelPlace | null {
  const x = (longitude - coverage.originX) / coverage.pixelWidth
  const y = (latitude - coverage.originY) / coverage.pixelHeight
  if (!(x >= 0 && x < coverage.width && y >= 0 && y < coverage.height)) return null
  return placeOf(coverage, Math.floor(x), Math.floor(y))
}

/** The same of a pixel that is known by its column and row on the grid. */
export function placeOf(coverage: NumberedCoverage, column: number, row: number): PixelPlace {
  const { tileSize } = coverage
  const tileColumn = Math.floor(column / tileSize)
  const tileRow = Math.floor(row / tileSize)
  return {
    key: coverage.firstTile + tileRow * coverage.tileColumns + tileColumn,
    column: column % tileSize,
    row: row % tileSize,
  }
}

function tileOf({ id, firstTile, tileColumns }: NumberedCoverage, key: number): NumberedTile {
  const tile = key - firstTile
  return { key, coverageId: id, row: Math.floor(tile / tileColumns), column: tile % tileColumns }
}

/** The centre of a tile, of what of it is on the grid. On another grid it lies in the tile of the same place. */
export function centreOf(coverage: NumberedCoverage, key: number): Position {
  const { originX, originY, pixelWidth, pixelHeight, width, height, tileSize } = coverage
  const { row, column } = tileOf(coverage, key)
  const middle = (tile: number, end: number) => (tile * tileSize + Math.min((tile + 1) * tileSize, end)) / 2
  return {
    longitude: originX + middle(column, width) * pixelWidth,
    latitude: originY + middle(row, height) * pixelHeight,
  }
}

/** Brings tiles that are not in memory there. */
interface TileLoader {
  /**
   * Reads a pixel of a tile that is not in memory.
   *
   * @throws {ReplacedMeanwhile} where the coverage has been deleted
   */
  read(coverage: NumberedCoverage, place: PixelPlace, clientKey?: ClientKey): Promise<StoredPixels>
  /** Reads tiles before somebody asks for them. Those of a coverage that has been deleted are left out. */
  readAhead(tiles: TileOfCoverage[]): Promise<void>
  /** What is asked of the database. */
  state(): BatcherState
}

/** A tile by its number, and what it is of. */
export interface TileOfCoverage {
  coverage: NumberedCoverage
  key: number
}

/** Who waits for a tile, and for which of its pixels. */
interface Waiting {
  place: PixelPlace
  resolve(pixels: StoredPixels): void
  reject(error: unknown): void
}

/** Tiles are some kilobytes each, and are decoded from hexadecimal digits while everyone waits. */
const TILES_PER_QUERY = 100

/** What there is where there is no tile. */
export const NOTHING: StoredPixels = []

/** Has a turn of its own beside those who wait. */
const NOBODY_YET: ClientKey = { network: 'nobody', caller: '' }

/** Makes what loads tiles of a store into a cache. */
export function createTileLoader(store: TileStore, cache: TileCache, concurrency: number): TileLoader {
  const interleave = createInterleaver()
  const loading = new Map<number, Waiting[]>()
  const askTile = createBatcher({
    concurrency,
    failsAll: isDatabaseUnavailable,
    run: (tiles: NumberedTile[]) => store.find(tiles),
    batch: TILES_PER_QUERY,
    keyOf: ({ key }) => key,
  })

  /** However many ask for a tile, the database is asked once. */
  function readWhenLoaded(
    coverage: NumberedCoverage,
    place: PixelPlace,
    clientKey?: ClientKey,
  ): Promise<StoredPixels> {
    return new Promise((resolve, reject) => {
      const waiting = { place, resolve, reject }
      const others = loading.get(place.key)
      const bytes = askTile(tileOf(coverage, place.key), clientKey)
      if (others) {
        others.push(waiting)
        // It was asked for the turn of this client key: whoever asked first may wait for many others.
        bytes.catch(() => {})
      } else {
        loading.set(place.key, [waiting])
        void load(place.key, bytes)
      }
    })
  }

  /** Answers those who wait for a tile. */
  async function load(key: number, asked: Promise<Buffer | null>): Promise<void> {
    try {
      const bytes = existing(await asked)
      const tile = bytes.length === 0 ? null : interleave(bytes)
      const waiting = takeWaiting(key)
      cache.set(key, tile, waiting.length)
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

  return {
    read: readWhenLoaded,
    async readAhead(tiles) {
      const missing = tiles.filter(({ key }) => !cache.has(key) && !loading.has(key))
      const loaded = missing.map(async ({ coverage, key }) => {
        const asked = askTile(tileOf(coverage, key), NOBODY_YET)
        loading.set(key, [])
        await load(key, asked)
        await asked
      })
      await Promise.all(loaded)
    },
    state: askTile.state,
  }
}

/** What the database has found: null of what is not there any more. */
export function existing<Found>(found: Found | null): Found {
  if (found === null) throw new ReplacedMeanwhile()
  return found
}

export function pixelIn(tile: InterleavedTile | null, { column, row }: PixelPlace): StoredPixels {
  if (tile === null) return NOTHING
  const { width, bands, start, pixels } = tile
  const from = start + (row * width + column) * bands
  const values: StoredPixels = []
  for (let at = from; at < from + bands; at++) values.push(pixels[at] as number)
  return values
}
