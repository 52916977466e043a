import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { Tables } from '#src/database/tables.ts'
import type { Snapshot } from '../lookup/snapshot.ts'
import { type CoveredArea, listCoveredAreas } from './queries.ts'

/** Areas that are kept in memory: each takes some hundred bytes. */
const AREAS_KEPT = 50_000

/** The areas of a level of a country. */
export interface CountryLevel {
  countryCode: string
  level: number
  /** Tells its areas from those that were or will be loaded. */
  key: string
  /** In the order of their codes. */
  areas: readonly CoveredArea[]
}

/** Keeps in memory which areas there are. */
export interface Levels {
  known(snapshot: Snapshot, countryCode: string, level: number): CountryLevel | undefined
  /** The same; what is not in memory is asked of the database. */
  read(snapshot: Snapshot, countryCode: string, level: number): Promise<CountryLevel>
  /** Forgets a level of which other areas were found. */
  forget(level: CountryLevel): void
}

export function createLevels(db: Kysely<Tables>): Levels {
  const levels = new LRUCache<string, CountryLevel>({
    maxSize: AREAS_KEPT,
    sizeCalculation: ({ areas }) => 1 + areas.length,
  })
  const keyOf = ({ boundaries }: Snapshot, countryCode: string, level: number) =>
    `${countryCode} ${level} ${boundaries}`
  return {
    known: (snapshot, countryCode, level) => levels.get(keyOf(snapshot, countryCode, level)),
    async read(snapshot, countryCode, level) {
      const key = keyOf(snapshot, countryCode, level)
      const areas = await listCoveredAreas(db, countryCode, level)
      const found = { countryCode, level, key, areas }
      levels.set(key, found)
      return found
    },
    forget({ key }) {
      levels.delete(key)
    },
  }
}
