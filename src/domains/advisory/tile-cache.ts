import type { StoredTile } from './tiles/decode.ts'

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

interface Entry extends StoredTile {
  key: number
  /** The tile is known not to be there. */
  missing: boolean
  /** Whether it has been asked for since its segment was last cleared. */
  used: boolean
}

interface Segment {
  bytes: Uint8Array
  view: DataView
  entries: Entry[]
  /** Where the next tile goes. */
  end: number
}

/** Tiles by their number, bounded in bytes. */
export interface TileCache {
  /**
   * Null for a tile that is known not to be there, undefined for one that is not known. The bytes are the
   * cache's own, and another tile's after the next `set`.
   */
  get(key: number): StoredTile | null | undefined
  /** Keeps a copy. */
  set(key: number, tile: Uint8Array | null): void
}

/**
 * Makes a cache of so many bytes, in whole segments. When it is full, the oldest segment is cleared of
 * the tiles that nobody has asked for since it was last (CLOCK): nearly as good as least recently used,
 * and a hit costs no more than a flag.
 */
export function createTileCache(limit: number, segmentBytes = SEGMENT_BYTES): TileCache {
  const entries = new Map<number, Entry>()
  const segments: Segment[] = []
  const most = Math.floor(limit / segmentBytes)
  let current = -1

  function segmentWith(room: number): Segment {
    for (;;) {
      const segment = segments[current]
      if (segment && takenOf(segment) + room <= segmentBytes) return segment
      if (segments.length < most) {
        const bytes = new Uint8Array(segmentBytes)
        current = segments.push({ bytes, view: new DataView(bytes.buffer), entries: [], end: 0 }) - 1
      } else {
        current = (current + 1) % segments.length
        clear(segments[current] as Segment)
      }
    }
  }

  /** Moves what has been used to the front, and gives up the rest. Done twice in a row, it gives up all. */
  function clear(segment: Segment): void {
    const before = segment.entries
    segment.entries = []
    segment.end = 0
    for (const entry of before) {
      if (!entry.used) {
        entries.delete(entry.key)
        continue
      }
      const { start, length } = entry
      segment.bytes.copyWithin(segment.end, start, start + length)
      entry.start = segment.end
      entry.used = false
      segment.end += length
      segment.entries.push(entry)
    }
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entry.used = true
      return entry.missing ? null : entry
    },
    set(key, tile) {
      const room = ENTRY_BYTES + (tile?.length ?? 0)
      if (most === 0 || room > segmentBytes || entries.has(key)) return
      const segment = segmentWith(room)
      const length = tile?.length ?? 0
      const entry = { key, view: segment.view, start: segment.end, length, missing: !tile, used: false }
      if (tile) segment.bytes.set(tile, segment.end)
      segment.end += length
      segment.entries.push(entry)
      entries.set(key, entry)
    },
  }
}

function takenOf({ end, entries }: Segment): number {
  return end + entries.length * ENTRY_BYTES
}
