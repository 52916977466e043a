import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { createCoalescer } from './coalescer.ts'
import { findCountries, type PlaceToFind, type Position } from './queries.ts'

/**
 * Finds the codes of the countries that a position lies in, borders included, in order: at once where that
 * is known from memory. Otherwise the database is asked, for all who ask meanwhile in one query.
 *
 * @param boundaries which are loaded: what was found with others is forgotten
 */
export type FindCountries = (position: Position, boundaries: string) => string[] | Promise<string[]>

/**
 * Cells a degree, of longitude and of latitude. In smaller ones it takes more questions until a country is
 * known; of larger ones more have a border in them. So a cell is about 7 km wide, and 3 in 100 of those of
 * Ethiopia and around it have one.
 */
const CELLS_PER_DEGREE = 16
const CELL_DEGREES = 1 / CELLS_PER_DEGREE

/** The rows of cells are so far apart in their numbers. */
const COLUMNS = 360 * CELLS_PER_DEGREE + 1

/** Some megabytes; Ethiopia and what is around it has 46,000. */
const KEPT_CELLS = 100_000

/** Places a query: some tens of microseconds each. */
const PLACES_PER_QUERY = 200

/**
 * Makes the finder of a database. It keeps which countries cells of a grid lie in, where that is the same
 * for all of a cell; in the others, with a border in them, each position is asked for.
 *
 * @param concurrency queries that may be under way at the same time
 */
export function createCountryFinder(db: Kysely<Tables>, concurrency: number): FindCountries {
  /** Null for cells with a border in them. */
  const cells = new Map<number, string[] | null>()
  /** The same few lists, over and over. */
  const lists = new Map<string, string[]>()
  let current = ''

  const ask = createCoalescer({
    run: (places: PlaceToFind[]) => findCountries(db, places, CELL_DEGREES),
    concurrency,
    batch: PLACES_PER_QUERY,
    // No place makes a query fail: asking again for fewer would not help.
    failsAll: () => true,
  })

  async function askFor(position: Position, column: number, row: number, known: boolean): Promise<string[]> {
    const cell = known ? null : { west: column / CELLS_PER_DEGREE, south: row / CELLS_PER_DEGREE }
    const { containing, throughout, boundaries } = await ask({ ...position, cell })
    // Asked before other boundaries were loaded, or after: it must not be taken for what those say.
    if (cell && boundaries === current) keep(numberOf(column, row), throughout ? containing : null)
    return containing
  }

  function keep(cell: number, countries: string[] | null): void {
    if (cells.size >= KEPT_CELLS) cells.clear()
    cells.set(cell, countries && listOf(countries))
  }

  function listOf(countries: string[]): string[] {
    const key = countries.join()
    const known = lists.get(key)
    if (known) return known
    lists.set(key, countries)
    return countries
  }

  return (position, boundaries) => {
    if (boundaries !== current) {
      cells.clear()
      current = boundaries
    }
    const column = Math.floor(position.longitude * CELLS_PER_DEGREE)
    const row = Math.floor(position.latitude * CELLS_PER_DEGREE)
    const known = cells.get(numberOf(column, row))
    return known ?? askFor(position, column, row, known === null)
  }
}

function numberOf(column: number, row: number): number {
  return row * COLUMNS + column
}
