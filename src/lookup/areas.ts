import type { Kysely } from 'kysely'
import type { Tables } from '#src/data/tables.ts'
import { type BatcherState, createBatcher } from '#src/lib/batcher.ts'
import type { ClientKey } from '#src/lib/fair-queue.ts'
import { type BoundedPolygon, boundedPolygon, clip, isWithinAny, type Rings } from '#src/raster/rings.ts'
import { decodeMultiPolygon } from '#src/raster/wkb.ts'
import { isClearOf, type OutlineStore } from './outlines.ts'
import {
  type Area,
  type CellToFind,
  type FoundCell,
  findAreasAt,
  findAreasInCells,
  type Position,
} from './queries.ts'

/** What is known of a cell. */
interface AreaCell {
  /** The areas that all of it lies in. */
  throughout: readonly Area[]
  /** The areas that a part of it lies in. */
  partly: { area: Area; polygons: BoundedPolygon[] }[]
  /** The country that all of it lies in, null for none; undefined where parts of it lie in others. */
  country: string | null | undefined
  /** About how much memory it takes. */
  bytes: number
}

/** Cells by their number, bounded in bytes, of the boundaries that are loaded. */
interface AreaCells {
  /**
   * Undefined for a cell that is not known.
   *
   * @param boundaries which are loaded: what was recorded with others is forgotten
   */
  get(number: number, boundaries: string): AreaCell | undefined
  /** @param boundaries that the cell is of, as the database has said: it is not kept where others are known to be loaded */
  record(number: number, cell: AreaCell, boundaries: string): void
  state(): { cells: number; bytes: number }
}

/** Makes a store of so many bytes; then the oldest cells make room. */
function createAreaCells(limit: number): AreaCells {
  const cells = new Map<number, AreaCell>()
  let bytes = 0
  /** Goes through the cells from the oldest on. Another one would pass all that are gone each time. */
  let oldest = cells.keys()
  /** Areas are in many cells, and the same few lists of them over and over. */
  const areas = new Map<number, Area>()
  const lists = new Map<string, readonly Area[]>()
  /** The boundaries that the cells are of, and those before: long calls may still be about these. */
  let current: string | undefined
  let replaced: string | undefined

  function beginAnew(boundaries: string): void {
    for (const kept of [cells, areas, lists]) kept.clear()
    bytes = 0
    oldest = cells.keys()
    replaced = current
    current = boundaries
  }

  /** Whether what is recorded is of these boundaries. That others have been replaced is known, whoever asks by them. */
  function isCurrent(boundaries: string): boolean {
    if (boundaries !== current && boundaries !== replaced) beginAnew(boundaries)
    return boundaries === current
  }

  function sharedArea(area: Area): Area {
    const known = areas.get(area.id)
    if (!known) areas.set(area.id, area)
    return known ?? area
  }

  function sharedList(list: readonly Area[]): readonly Area[] {
    const key = list.map(({ id }) => id).join()
    const known = lists.get(key)
    if (!known) lists.set(key, list.map(sharedArea))
    return known ?? list
  }

  return {
    get: (number, boundaries) => (isCurrent(boundaries) ? cells.get(number) : undefined),
    record(number, { throughout, partly, country, bytes: added }, boundaries) {
      // The database has them again: a backup has been restored.
      if (boundaries === replaced) beginAnew(boundaries)
      if (boundaries !== current || cells.has(number)) return
      const shared = partly.map(({ area, polygons }) => ({ area: sharedArea(area), polygons }))
      cells.set(number, { throughout: sharedList(throughout), partly: shared, country, bytes: added })
      bytes += added
      while (bytes > limit) {
        const first = oldest.next().value as number
        bytes -= (cells.get(first) as AreaCell).bytes
        cells.delete(first)
      }
    },
    state: () => ({ cells: cells.size, bytes }),
  }
}

/** Finds the administrative areas of all levels that a position lies in, borders included, in no order. */
export interface AreaFinder {
  /**
   * From memory alone; undefined where the database has to be asked.
   *
   * @param boundaries which are loaded: what was found with others is forgotten
   */
  fromMemory(position: Position, boundaries: string): readonly Area[] | undefined
  /**
   * The same; what is not in memory is asked of the database, for all who ask meanwhile in one query.
   *
   * @param client key who waits for it: where one query is not enough, those who wait take turns
   */
  find(position: Position, boundaries: string, clientKey?: ClientKey): Promise<readonly Area[]>
  /** The country that a position lies in, on a border the one of lowest code, from memory alone; null for none. */
  countryFromMemory(position: Position, boundaries: string): string | null | undefined
  state(): AreaFinderState
}

export interface AreaFinderState {
  /** Cells in memory, and about how many bytes they take. */
  cells: number
  bytes: number
  /** What is asked of the database. */
  askingCells: BatcherState
  askingPlaces: BatcherState
}

/** Cells a degree, of longitude and of latitude: they are about 7 km wide. */
const PER_DEGREE = 16

/** Degrees around a cell up to which shapes are kept. */
const BEYOND = 1 / 1024

/** The rows of cells are so far apart in their numbers. */
const COLUMNS = 360 * PER_DEGREE + 1

/** All cells of Rwanda, with four levels of real areas, take 8 MB. */
const CACHE_BYTES = 32_000_000

/** Cells and places a query: some milliseconds' worth. */
const CELLS_PER_QUERY = 50
const PLACES_PER_QUERY = 200

/** What, as measured, a cell takes beside its shapes, a polygon beside its rings, and a ring beside its numbers. */
const CELL_BYTES = 230
const POLYGON_BYTES = 230
const RING_BYTES = 310

/** A cell by its number, and where it is. */
interface NumberedCell extends CellToFind {
  number: number
}

/**
 * Makes the finder of a database. It keeps which areas meet a cell, and the shapes of those that do not cover it: by
 * these it tells where a position lies, unless that is within centimetres of an edge. There PostGIS decides.
 *
 * @param concurrency queries that may be under way at the same time, of each kind
 * @param outlines places far from which have no cells, once they are in memory
 * @param cacheBytes so many bytes of cells are kept; then the oldest make room
 */
export function createAreaFinder(
  db: Kysely<Tables>,
  concurrency: number,
  outlines: OutlineStore,
  cacheBytes = CACHE_BYTES,
): AreaFinder {
  const cells = createAreaCells(cacheBytes)

  /** No areas where the position is far from all of them; undefined where that is not known. */
  function noneAt(position: Position, boundaries: string): readonly Area[] | undefined {
    const known = outlines.known(boundaries)
    return known && isClearOf(known, position) ? [] : undefined
  }

  // No cell or place makes a query fail: asking again for fewer would not help.
  const common = { concurrency, failsAll: () => true }
  const askCell = createBatcher({
    ...common,
    run: (asked: NumberedCell[]) => findAreasInCells(db, asked),
    batch: CELLS_PER_QUERY,
    keyOf: ({ number }) => number,
  })
  const askPlace = createBatcher({
    ...common,
    run: (places: Position[]) => findAreasAt(db, places),
    batch: PLACES_PER_QUERY,
  })

  async function askAndRecord(asked: NumberedCell, clientKey?: ClientKey): Promise<AreaCell> {
    const found = await askCell(asked, clientKey)
    const cell = cellOf(asked, found)
    // It may be of other boundaries than those that are known of: loaded meanwhile, or not arrived at a replica.
    cells.record(asked.number, cell, found.boundaries)
    return cell
  }

  return {
    fromMemory(position, boundaries) {
      const cell = cells.get(numberOf(position), boundaries)
      return cell ? areasAt(cell, position) : noneAt(position, boundaries)
    },
    countryFromMemory(position, boundaries) {
      const cell = cells.get(numberOf(position), boundaries)
      if (cell && cell.country !== undefined) return cell.country
      const areas = cell ? areasAt(cell, position) : noneAt(position, boundaries)
      return areas && firstCountryOf(areas)
    },
    async find(position, boundaries, clientKey) {
      const known = cells.get(numberOf(position), boundaries)
      const none = known ? undefined : noneAt(position, boundaries)
      if (none) return none
      const cell = known ?? (await askAndRecord(cellAround(position), clientKey))
      return areasAt(cell, position) ?? askPlace(position, clientKey)
    },
    state: () => ({ ...cells.state(), askingCells: askCell.state(), askingPlaces: askPlace.state() }),
  }
}

/** The codes of the countries that areas are in, in order. */
export function countryCodesOf(areas: readonly Area[]): string[] {
  return [...new Set(areas.map(({ countryCode }) => countryCode))].sort()
}

/** The country that areas are in, of several the one of lowest code; null where there are none. */
export function firstCountryOf(areas: readonly Area[]): string | null {
  return countryCodesOf(areas)[0] ?? null
}

/** The areas of a cell that a position in it lies in; undefined where that is too near to an edge to tell. */
function areasAt(
  { throughout, partly }: AreaCell,
  { longitude, latitude }: Position,
): readonly Area[] | undefined {
  if (partly.length === 0) return throughout
  const found = [...throughout]
  for (const { area, polygons } of partly) {
    const within = isWithinAny(polygons, longitude, latitude)
    if (within === undefined) return undefined
    if (within) found.push(area)
  }
  return found
}

/** Shapes are cut off around the cell, so far from it that the cut is near to none of its positions. */
function cellOf({ west, south, degrees }: CellToFind, { areas }: FoundCell): AreaCell {
  const around = {
    west: west - BEYOND,
    south: south - BEYOND,
    east: west + degrees + BEYOND,
    north: south + degrees + BEYOND,
  }
  const clipped = (rings: Rings) => rings.map((ring) => clip(ring, around)).filter(({ length }) => length > 0)
  const throughout: Area[] = []
  const partly: AreaCell['partly'] = []
  let bytes = CELL_BYTES
  for (const { shape, ...area } of areas) {
    if (shape === null) {
      throughout.push(area)
    } else {
      const polygons = decodeMultiPolygon(shape)
        .map(clipped)
        .filter(({ length }) => length > 0)
        .map(boundedPolygon)
      partly.push({ area, polygons })
      bytes += bytesOf(polygons)
    }
  }
  const all = [...throughout, ...partly.map(({ area }) => area)]
  const isOfOne = countryCodesOf(all).length === countryCodesOf(throughout).length
  return { throughout, partly, country: isOfOne ? firstCountryOf(throughout) : undefined, bytes }
}

function bytesOf(polygons: BoundedPolygon[]): number {
  return polygons.reduce(
    (sum, { rings }) => rings.reduce((of, ring) => of + RING_BYTES + ring.byteLength, sum + POLYGON_BYTES),
    0,
  )
}

/** The number of the cell that a position lies in. */
function numberOf({ longitude, latitude }: Position): number {
  return Math.floor(latitude * PER_DEGREE) * COLUMNS + Math.floor(longitude * PER_DEGREE)
}

function cellAround(position: Position): NumberedCell {
  return {
    number: numberOf(position),
    west: Math.floor(position.longitude * PER_DEGREE) / PER_DEGREE,
    south: Math.floor(position.latitude * PER_DEGREE) / PER_DEGREE,
    degrees: 1 / PER_DEGREE,
  }
}
