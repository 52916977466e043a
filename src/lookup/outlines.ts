import type { Kysely } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import type { Extent } from '#src/raster/grid.ts'
import { BoxTree } from '#src/raster/nearest.ts'
import { boundedPolygon, TOO_NEAR } from '#src/raster/rings.ts'
import { decodeMultiPolygon } from '#src/raster/wkb.ts'
import { findPiecesAfter, measureBoundaries, type Position } from './queries.ts'

/** A piece of an administrative area, as it is stored. */
export interface Piece {
  countryCode: string
  /** The rings of its polygons. */
  rings: Float64Array[]
}

/** The pieces of the areas of all levels. */
export interface Outlines {
  pieces: readonly Piece[]
  /** Finds them by their extents. */
  tree: BoxTree
}

/** Keeps the outlines of all areas in memory, where they are not too large for that. */
export interface OutlineStore {
  /** What is in memory of some boundaries; undefined where nothing is. */
  known(boundaries: string): Outlines | undefined
  /** Reads the boundaries that are loaded, unless that is under way or has just been tried. Never fails. */
  read(boundaries: string): Promise<void>
  state(): OutlineStoreState
}

export interface OutlineStoreState {
  /** Vertices in memory. */
  vertices: number
}

/** Vertices of all areas, of which a process keeps so many: 16 bytes each, and 24 more where places were near. */
const MOST_VERTICES = 500_000

/** What could not be read, or is of other boundaries than were asked for, is tried again after so long. */
const AGAIN_AFTER_MS = 5000

/** @param mostVertices larger outlines are not kept */
export function createOutlineStore(db: Kysely<Tables>, mostVertices = MOST_VERTICES): OutlineStore {
  /** No outlines where they are too large. */
  let latest: { boundaries: string; outlines: Outlines | undefined; vertices: number } | undefined
  let tried: { boundaries: string; at: number } | undefined
  let reading: Promise<void> | undefined

  async function readFrom(source: Kysely<Tables>): Promise<void> {
    const { boundaries, vertices } = await measureBoundaries(source)
    // Whoever asks may know of older ones for a while.
    if (latest?.boundaries === boundaries) return
    if (vertices > mostVertices) {
      latest = { boundaries, outlines: undefined, vertices: 0 }
      return
    }
    const outlines = await readOutlines(source)
    const { boundaries: after } = await measureBoundaries(source)
    // Else some have been loaded meanwhile, and what was read may be of both.
    if (after === boundaries) latest = { boundaries, outlines, vertices }
  }

  return {
    known: (boundaries) => (latest?.boundaries === boundaries ? latest.outlines : undefined),
    async read(boundaries) {
      if (latest?.boundaries === boundaries) return
      const now = performance.now()
      const isNew = tried?.boundaries !== boundaries || now - tried.at >= AGAIN_AFTER_MS
      if (!reading && isNew) {
        tried = { boundaries, at: now }
        // Of one source: a replica may not have what the writer says is loaded.
        reading = db
          .connection()
          .execute(readFrom)
          // Nobody waits for it: the database answers as long as nothing is in memory.
          .catch(() => {})
          .finally(() => {
            reading = undefined
          })
      }
      await reading
    },
    state: () => ({ vertices: latest?.vertices ?? 0 }),
  }
}

/** Whether a position lies in no area, nor so near to one that PostGIS has to decide. */
export function isClearOf({ tree }: Outlines, { longitude, latitude }: Position): boolean {
  return !tree.isInAny(longitude, latitude, TOO_NEAR)
}

async function readOutlines(source: Kysely<Tables>): Promise<Outlines> {
  const pieces: Piece[] = []
  const extents: Extent[] = []
  for (let last = 0; ; ) {
    const page = await findPiecesAfter(source, last)
    for (const { countryCode, shape } of page) {
      const polygons = shape === null ? [] : decodeMultiPolygon(shape)
      if (polygons.length === 0) continue
      pieces.push({ countryCode, rings: polygons.flat() })
      extents.push(extentOf(polygons.map(boundedPolygon)))
    }
    const end = page.at(-1)
    if (!end) return { pieces, tree: new BoxTree(extents) }
    last = end.areaId
  }
}

function extentOf(polygons: Extent[]): Extent {
  return {
    west: Math.min(...polygons.map(({ west }) => west)),
    south: Math.min(...polygons.map(({ south }) => south)),
    east: Math.max(...polygons.map(({ east }) => east)),
    north: Math.max(...polygons.map(({ north }) => north)),
  }
}
