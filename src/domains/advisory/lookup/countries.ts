import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { type BatcherState, createBatcher } from '#src/lib/batcher.ts'
import type { Party } from '#src/lib/fair-line.ts'
import { type CellToFind, findCountries, type PlaceToFind, type Position } from './queries.ts'

/** Finds the codes of the countries that a position lies in, borders included, in order. */
export interface CountryFinder {
  /**
   * From memory alone; undefined where the database has to be asked.
   *
   * @param boundaries which are loaded: what was found with others is forgotten
   */
  fromMemory(position: Position, boundaries: string): readonly string[] | undefined
  /**
   * The same; what is not in memory is asked of the database, for all who ask meanwhile in one query.
   *
   * @param party who waits for it: where one query is not enough, those who wait take turns
   */
  find(position: Position, boundaries: string, party?: Party): Promise<readonly string[]>
  /** What is asked of the database. */
  state(): BatcherState
}

/**
 * Cells a degree, of longitude and of latitude, in each of the grids. The first are about 7 km wide: a
 * country is soon known by them. Those that a border goes through are told apart by cells of 0.9 km.
 */
const GRIDS = [16, 128]

/** The rows of cells are so far apart in their numbers. */
const COLUMNS = 360 * Math.max(...GRIDS) + 1

/** Some megabytes; the first grid has 46,000 in Ethiopia and around it. */
const CACHED_CELLS = 100_000

/** Places a query: some tens of microseconds each. */
const PLACES_PER_QUERY = 200

/** A cell by its number, its south-western corner and its size in degrees. */
interface Cell extends CellToFind {
  number: number
}

/**
 * Makes the finder of a database. It keeps which countries cells of two grids lie in, where that is known to
 * be the same for all of a cell. What lies in none of these is asked for each time.
 *
 * @param concurrency queries that may be under way at the same time
 * @param cachedCells so many cells are cached, of all grids; then the oldest make room
 */
export function createCountryFinder(
  db: Kysely<Tables>,
  concurrency: number,
  cachedCells = CACHED_CELLS,
): CountryFinder {
  /** Null for cells that are not known to be the same throughout. */
  const cells = new Map<number, string[] | null>()
  /** Goes through the cells from the oldest on. Another one would pass all that are gone each time. */
  let oldest = cells.keys()
  /** The same few lists, over and over. */
  const lists = new Map<string, string[]>()
  /** The boundaries that the cells are of, and those before: long calls may still be about these. */
  let current: string | undefined
  let replaced: string | undefined

  const ask = createAsking(db, concurrency)

  /** Whether what is recorded is of these boundaries. Those that others have replaced do not come back. */
  function isCurrent(boundaries: string): boolean {
    if (boundaries === current) return true
    if (boundaries === replaced) return false
    cells.clear()
    oldest = cells.keys()
    replaced = current
    current = boundaries
    return true
  }

  /** What is recorded of the cell of the coarsest grid that is the same throughout. */
  function recordedAt(position: Position): readonly string[] | undefined {
    for (let grid = 0; grid < GRIDS.length; grid++) {
      const countries = cells.get(numberOf(position, grid))
      if (countries !== null) return countries
    }
    return undefined
  }

  /** The first cell around a position of which nothing is recorded; null where borders go through all. */
  function cellToFind(position: Position): Cell | null {
    const grid = GRIDS.findIndex((_, at) => !cells.has(numberOf(position, at)))
    return grid === -1 ? null : cellOf(position, grid)
  }

  function record(cell: number, countries: string[] | null): void {
    if (cells.size >= cachedCells) cells.delete(oldest.next().value as number)
    cells.set(cell, countries)
  }

  function listOf(countries: string[]): string[] {
    const key = countries.join()
    const known = lists.get(key)
    if (known) return known
    lists.set(key, countries)
    return countries
  }

  return {
    fromMemory(position, boundaries) {
      return isCurrent(boundaries) ? recordedAt(position) : undefined
    },
    async find(position, boundaries, party) {
      const known = isCurrent(boundaries)
      const recorded = known ? recordedAt(position) : undefined
      if (recorded) return recorded
      const cell = known ? cellToFind(position) : null
      const found = await ask({ ...position, cell }, party)
      // Asked before other boundaries were loaded, or after: it must not be taken for what those say.
      if (cell && found.boundaries === current) {
        record(cell.number, found.throughout ? listOf(found.containing) : null)
      }
      return found.containing
    },
    state: ask.state,
  }
}

function createAsking(db: Kysely<Tables>, concurrency: number) {
  return createBatcher({
    run: (places: PlaceToFind[]) => findCountries(db, places),
    concurrency,
    batch: PLACES_PER_QUERY,
    // No place makes a query fail: asking again for fewer would not help.
    failsAll: () => true,
  })
}

function cellOf(position: Position, grid: number): Cell {
  const perDegree = GRIDS[grid] as number
  return {
    number: numberOf(position, grid),
    west: Math.floor(position.longitude * perDegree) / perDegree,
    south: Math.floor(position.latitude * perDegree) / perDegree,
    degrees: 1 / perDegree,
  }
}

/** The number of the cell of a grid that a position lies in; no two cells of any grid have one number. */
function numberOf({ longitude, latitude }: Position, grid: number): number {
  const perDegree = GRIDS[grid] as number
  const column = Math.floor(longitude * perDegree)
  const row = Math.floor(latitude * perDegree)
  return (row * COLUMNS + column) * GRIDS.length + grid
}
