import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tables } from '#src/database/tables.ts'
import { overloaded } from '#src/http/plugins/overload.ts'
import type { Snapshot } from '../../lookup/snapshot.ts'
import { type AreaFacts, type LoadedLevel, listAreaFacts, listLoadedLevels } from './area-queries.ts'

/** Levels with more areas are no collections: a map program could not hold them. */
const MOST_AREAS = 50_000

/** What areas may take in memory, without their shapes, and what one takes beside its texts. */
const BYTES_KEPT = 16 * 2 ** 20
const AREA_OVERHEAD = 300

/** So many areas, and so many vertices of theirs, are read with one statement at most. */
const AREAS_A_PART = 100
const POSITIONS_A_PART = 100_000

/** Areas whose shapes are read together: from the first to the one after the last. */
export interface Part {
  first: number
  end: number
}

/** The areas of a level of a country. */
export interface AreaLevel {
  loaded: LoadedLevel
  /** In the order of their codes. */
  areas: readonly AreaFacts[]
  /** Their places in that order, by their codes. */
  placeOf: ReadonlyMap<string, number>
  /** All of them: always the same for the same areas, so that what is read of each is kept once. */
  parts: readonly Part[]
}

/** Keeps in memory which areas there are. What it reads takes a place at the database. */
export interface AreaLevels {
  /** From memory alone. */
  knownLoaded(snapshot: Pick<Snapshot, 'boundaries'>): readonly LoadedLevel[] | undefined
  /** The levels that are loaded, and have not too many areas. */
  loaded(snapshot: Pick<Snapshot, 'boundaries'>): Promise<readonly LoadedLevel[]>
  /** From memory alone. */
  known(loaded: LoadedLevel): AreaLevel | undefined
  /** @throws {ApiError} OVERLOADED while the boundaries are being replaced */
  level(loaded: LoadedLevel): Promise<AreaLevel>
  /** Forgets a level of which others have found that other areas are loaded. */
  forget(loaded: LoadedLevel): void
}

export function createAreaLevels(db: Kysely<Tables>): AreaLevels {
  const levels = new LRUCache<string, AreaLevel>({ maxSize: BYTES_KEPT, sizeCalculation: sizeOf })
  let latest: { boundaries: string; loaded: readonly LoadedLevel[] } | undefined

  function knownLoaded({ boundaries }: Pick<Snapshot, 'boundaries'>): readonly LoadedLevel[] | undefined {
    return latest?.boundaries === boundaries ? latest.loaded : undefined
  }

  function forget(loaded: LoadedLevel): void {
    latest = undefined
    levels.delete(keyOf(loaded))
  }

  return {
    knownLoaded,
    forget,
    async loaded(snapshot) {
      const known = knownLoaded(snapshot)
      if (known) return known
      const found = await listLoadedLevels(db)
      const loaded = found.loaded.filter(({ areas }) => areas <= MOST_AREAS)
      // They may be others than the snapshot knows of: loaded meanwhile, or not arrived at a replica.
      latest = { boundaries: found.boundaries, loaded }
      return loaded
    },
    known: (loaded) => levels.get(keyOf(loaded)),
    async level(loaded) {
      const areas = await listAreaFacts(db, loaded)
      if (!areas) {
        forget(loaded)
        throw overloaded()
      }
      const placeOf = new Map(areas.map(({ code }, place) => [code, place]))
      const level = { loaded, areas, placeOf, parts: [...partsOf(areas)] }
      levels.set(keyOf(loaded), level)
      return level
    },
  }
}

function keyOf({ countryCode, level, version }: LoadedLevel): string {
  return `${countryCode} ${level} ${version}`
}

function sizeOf({ areas }: AreaLevel): number {
  return areas.reduce(
    (sum, { code, name }) => sum + AREA_OVERHEAD + 2 * (code.length + name.length),
    AREA_OVERHEAD,
  )
}

function* partsOf(areas: readonly AreaFacts[]): Generator<Part> {
  let first = 0
  let positions = 0
  for (const [at, area] of areas.entries()) {
    const isFull = at - first === AREAS_A_PART || positions + area.positions > POSITIONS_A_PART
    if (isFull && at > first) {
      yield { first, end: at }
      first = at
      positions = 0
    }
    positions += area.positions
  }
  if (first < areas.length) yield { first, end: areas.length }
}
