/**
 * What an entry takes beside its bytes: its place in the map, the array and its buffer. Rounded up, so
 * that the process does not outgrow its limit; measured with tiles of 300 to 9,000 bytes.
 */
export const ENTRY_BYTES = 350

interface Entry {
  /** Null for a tile that is not there. */
  tile: Uint8Array | null
  /** Whether it has been asked for since it was last passed over. */
  used: boolean
}

/** Tiles by their number, bounded in bytes. */
export interface TileCache {
  /** Null for a tile that is known not to be there, undefined for one that is not known. */
  get(key: number): Uint8Array | null | undefined
  /** Keeps a copy. */
  set(key: number, tile: Uint8Array | null): void
  readonly bytes: number
}

/**
 * Makes a cache of so many bytes. When it is full, the tiles go that were not asked for since their
 * last turn, oldest first (CLOCK): as good as least recently used, and a hit costs no more than a flag.
 */
export function createTileCache(limit: number): TileCache {
  const entries = new Map<number, Entry>()
  let bytes = 0

  function makeRoom(needed: number): void {
    for (const [key, entry] of entries) {
      if (bytes + needed <= limit) return
      entries.delete(key)
      if (entry.used) {
        entry.used = false
        entries.set(key, entry)
      } else {
        bytes -= sizeOf(entry.tile)
      }
    }
  }

  return {
    get(key) {
      const entry = entries.get(key)
      if (entry === undefined) return undefined
      entry.used = true
      return entry.tile
    },
    set(key, tile) {
      const size = sizeOf(tile)
      if (size > limit || entries.has(key)) return
      makeRoom(size)
      // Small buffers share one of Node's, which would be kept for the sake of any of them.
      entries.set(key, { tile: tile && new Uint8Array(tile), used: false })
      bytes += size
    },
    get bytes() {
      return bytes
    },
  }
}

function sizeOf(tile: Uint8Array | null): number {
  return ENTRY_BYTES + (tile?.byteLength ?? 0)
}
