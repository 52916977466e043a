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

interface Entry {
  key: number
  segment: Segment
  offset: number
  /** Undefined for a tile that is not there. */
  length: number | undefined
  /** Whether it has been asked for since its segment was last cleared. */
  used: boolean
}

interface Segment {
  bytes: Uint8Array
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
  get(key: number): Uint8Array | null | undefined
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
        current = segments.push({ bytes: new Uint8Array(segmentBytes), entries: [], end: 0 }) - 1
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
      const { offset, length = 0 } = entry
      segment.bytes.copyWithin(segment.end, offset, offset + length)
      entry.offset = segment.end
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
      const { segment, offset, length } = entry
      return length === undefined ? null : segment.bytes.subarray(offset, offset + length)
    },
    set(key, tile) {
      const room = ENTRY_BYTES + (tile?.length ?? 0)
      if (most === 0 || room > segmentBytes || entries.has(key)) return
      const segment = segmentWith(room)
      const entry = { key, segment, offset: segment.end, length: tile?.length, used: false }
      if (tile) segment.bytes.set(tile, segment.end)
      segment.end += tile?.length ?? 0
      segment.entries.push(entry)
      entries.set(key, entry)
    },
  }
}

function takenOf({ end, entries }: Segment): number {
  return end + entries.length * ENTRY_BYTES
}
