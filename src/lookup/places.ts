import type { PointRequest } from '#schemas/point-request.ts'
import type { ProductDefinition } from '#schemas/products/define.ts'
import type { Country } from '#src/catalog/reference-queries.ts'
import type { Db } from '#src/data/tables.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import { Cache } from '#src/lib/cache.ts'
import { fillMissing } from '#src/lib/promises.ts'
import { type BoundedPolygon, boundedPolygon, clip, isWithinAny, type Rings } from '#src/raster/rings.ts'
import { decodeMultiPolygon } from '#src/raster/tiles.ts'
import { conditionError } from './conditions.ts'
import type { Position } from './layers.ts'
import { type Area, type CellToFind, type FoundCell, findAreasAt, findAreasInCells } from './queries.ts'
import {
  makeReleaseMembers,
  type PublishedRelease,
  type ReleaseMembers,
  type RequestedSeries,
  readSeries,
} from './releases.ts'
import type { Snapshot, Snapshots } from './snapshot.ts'

interface AreaCell {
  throughout: readonly Area[]
  partly: { area: Area; polygons: BoundedPolygon[] }[]
  /** Country of the whole cell, null for none; undefined for several. */
  country: string | null | undefined
  bytes: number
}

/** Caches cells by number, bounded in bytes, of the loaded boundaries. */
function createAreaCells(limit: number) {
  const cells = new Cache<number, AreaCell>('area cells', { maxSize: limit, sizeOf: ({ bytes }) => bytes })
  /** Many cells share areas. */
  const areas = new Map<number, Area>()
  /** Version of the boundaries of the cells. */
  let current: string | undefined

  function sharedArea(area: Area): Area {
    const stored = areas.get(area.id)
    if (!stored) areas.set(area.id, area)
    return stored ?? area
  }

  return {
    /** Cells of other boundaries are forgotten: a long call over a change of boundaries costs others a query. */
    get(number: number, boundaries: string): AreaCell | undefined {
      if (boundaries === current) return cells.get(number)
      cells.clear()
      areas.clear()
      current = boundaries
      return undefined
    },
    /** @param boundaries of the query; a cell of other than the current ones is not stored */
    record(number: number, cell: AreaCell, boundaries: string): void {
      if (boundaries !== current) return
      const throughout = cell.throughout.map(sharedArea)
      const partly = cell.partly.map(({ area, polygons }) => ({ area: sharedArea(area), polygons }))
      cells.set(number, { ...cell, throughout, partly })
    },
    state: () => ({ cells: cells.statistics().entries, bytes: cells.size }),
  }
}

export type AreaFinder = ReturnType<typeof createAreaFinder>

/** Cells of a degree of longitude and of latitude: they are about 7 km wide. */
const PER_DEGREE = 16

/** Degrees around a cell at which shapes are cut. */
const BEYOND = 1 / 1024

/** Numbers of a row of cells. */
const COLUMNS = 360 * PER_DEGREE + 1

/** All cells of Rwanda, with four levels of real areas, take 8 MB. */
const CACHE_BYTES = 32_000_000

/** Some milliseconds of the database. */
const CELLS_PER_QUERY = 50
const PLACES_PER_QUERY = 200

/** Measured memory of a cell beside its shapes, of a polygon beside its rings, of a ring beside its numbers. */
const CELL_BYTES = 400
const POLYGON_BYTES = 230
const RING_BYTES = 310

interface NumberedCell extends CellToFind {
  number: number
}

/**
 * Finds the administrative areas of all levels at a position, borders included, in no order. A cell has its areas, and the
 * shapes of those that do not cover it. Within centimetres of an edge PostGIS decides.
 *
 * @param concurrency queries at the same time, of each kind
 */
export function createAreaFinder(db: Db, concurrency: number, cacheBytes = CACHE_BYTES) {
  const cells = createAreaCells(cacheBytes)

  // No single cell or place makes a query fail.
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

  async function load(numbered: NumberedCell): Promise<AreaCell> {
    const found = await askCell(numbered)
    const cell = createCell(numbered, found)
    // Boundaries may have been loaded meanwhile, or not have arrived at a replica.
    cells.record(numbered.number, cell, found.boundaries)
    return cell
  }

  return {
    /** Undefined for a miss. @param boundaries version; cells of others are forgotten */
    fromMemory(position: Position, boundaries: string): readonly Area[] | undefined {
      const cell = cells.get(numberCell(position), boundaries)
      return cell && areasAt(cell, position)
    },
    /** Null for no country, undefined for a miss; on a border the country of lowest code. */
    countryFromMemory(position: Position, boundaries: string): string | null | undefined {
      const cell = cells.get(numberCell(position), boundaries)
      if (cell && cell.country !== undefined) return cell.country
      const areas = cell && areasAt(cell, position)
      return areas && firstCountryOf(areas)
    },
    /** From memory or the database; concurrent requests share one query. */
    async find(position: Position, boundaries: string): Promise<readonly Area[]> {
      const stored = cells.get(numberCell(position), boundaries)
      const cell = stored ?? (await load(cellAround(position)))
      return areasAt(cell, position) ?? askPlace(position)
    },
    state: () => ({
      ...cells.state(),
      askingCells: askCell.state(),
      askingPlaces: askPlace.state(),
    }),
  }
}

export function listDistinctCountries(areas: readonly Area[]): string[] {
  return [...new Set(areas.map(({ countryCode }) => countryCode))].sort()
}

/** Of several countries that of lowest code; null without any. */
function firstCountryOf(areas: readonly Area[]): string | null {
  return listDistinctCountries(areas)[0] ?? null
}

/** The areas of a cell at a position; undefined near to an edge. */
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

/** The cut of the shapes is far from all positions of the cell. */
function createCell({ west, south, degrees }: CellToFind, { areas }: FoundCell): AreaCell {
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
      bytes += measureBytes(polygons)
    }
  }
  const all = [...throughout, ...partly.map(({ area }) => area)]
  const isOfOne = listDistinctCountries(all).length === listDistinctCountries(throughout).length
  return { throughout, partly, country: isOfOne ? firstCountryOf(throughout) : undefined, bytes }
}

function measureBytes(polygons: BoundedPolygon[]): number {
  return polygons.reduce(
    (sum, { rings }) => rings.reduce((of, ring) => of + RING_BYTES + ring.byteLength, sum + POLYGON_BYTES),
    0,
  )
}

function numberCell({ longitude, latitude }: Position): number {
  return Math.floor(latitude * PER_DEGREE) * COLUMNS + Math.floor(longitude * PER_DEGREE)
}

function cellAround(position: Position): NumberedCell {
  return {
    number: numberCell(position),
    west: Math.floor(position.longitude * PER_DEGREE) / PER_DEGREE,
    south: Math.floor(position.latitude * PER_DEGREE) / PER_DEGREE,
    degrees: 1 / PER_DEGREE,
  }
}

/** Members of a request that its place may fill in. */
export interface LocatableRequest {
  crop?: string | undefined
  country_code?: string | undefined
  release?: string | undefined
  /** `place`: the country is that of the place. */
  country_source?: 'place'
}

/** Finds the countries of requests without one, by the outlines and not by the rasters. */
export function createRequestLocator(
  { known, current }: Pick<Snapshots, 'known' | 'current'>,
  areas: AreaFinder,
) {
  const countryOf = ({ countries }: Snapshot, found: string | null) =>
    countries.find(({ code }) => code === found) ?? null

  /** Null outside all countries, undefined for a miss. */
  const countryFromMemory = (snapshot: Snapshot, position: Position) => {
    const code = areas.countryFromMemory(position, snapshot.boundaries)
    return code === undefined ? undefined : countryOf(snapshot, code)
  }

  const country = async (snapshot: Snapshot, position: Position) =>
    countryOf(snapshot, firstCountryOf(await areas.find(position, snapshot.boundaries)))

  return {
    /** The countries of positions; null outside all of them. */
    findCountries: (snapshot: Snapshot, positions: Position[]): Promise<(Country | null)[]> =>
      fillMissing(
        positions.map((position) => countryFromMemory(snapshot, position)),
        (index) => country(snapshot, positions[index] as Position),
      ),
    /** Fills in the country of a request without one, and its crop. False for a miss. */
    fillFromMemory(request: LocatableRequest, position: Position): boolean {
      if (!needsCountry(request)) return true
      const snapshot = known()
      const found = snapshot && countryFromMemory(snapshot, position)
      if (found === undefined) return false
      fillCountry(found, request)
      return true
    },
    async fill(request: LocatableRequest, position: Position): Promise<void> {
      if (needsCountry(request)) fillCountry(await country(await current(), position), request)
    },
    async fillCrop(request: LocatableRequest): Promise<void> {
      const { country_code: code, crop } = request
      if (code === undefined || crop !== undefined) return
      const [offered] = countryOf(known() ?? (await current()), code.trim().toLowerCase())?.crops ?? []
      if (offered !== undefined) request.crop = offered
    },
  }
}

function needsCountry({ country_code, release }: LocatableRequest): boolean {
  return country_code === undefined && release === undefined
}

function fillCountry(country: Country | null, request: LocatableRequest): void {
  if (!country) return
  request.country_code = country.code
  request.country_source = 'place'
  const [crop] = country.crops
  if (request.crop === undefined && crop !== undefined) request.crop = crop
}

export function sourceMember({ country_source }: LocatableRequest): { country_source?: 'place' } {
  return country_source === undefined ? {} : { country_source }
}

/** Release of some places of a call, or none. */
export interface SourceRelease {
  series: RequestedSeries
  release: PublishedRelease | undefined
  members: ReleaseMembers
}

/** The sources of a call, each created once. */
export interface SourceReleases {
  /** Whether each place is answered for its own country. */
  byPlace: boolean
  /** @param country of the places; null outside all countries, or where it does not matter */
  of(country: Country | null): SourceRelease
}

type SeriesRequest = Pick<PointRequest, 'crop' | 'country_code' | 'forecast_period' | 'release' | 'condition'>

/** @param release of the request, without regard to its places */
export function createSources(
  product: ProductDefinition,
  request: SeriesRequest,
  snapshot: Snapshot,
  release: PublishedRelease | undefined,
): SourceReleases {
  function createSource(
    placed: SeriesRequest & LocatableRequest,
    releaseOf: (series: RequestedSeries) => PublishedRelease | undefined,
  ): SourceRelease {
    const series = readSeries(product, placed)
    const found = releaseOf(series)
    const error = found && conditionError(found, series.condition)
    if (error) throw error
    const members = found
      ? makeReleaseMembers(found)
      : { country_code: series.countryCode, crop: snapshot.cropNamed(series.cropCode) }
    return { series, release: found, members: { ...members, ...sourceMember(placed) } }
  }

  const general = createSource(request, () => release)
  const byCountry = new Map<Country, SourceRelease>()
  return {
    byPlace: needsCountry(request),
    of(country) {
      if (!country) return general
      const stored = byCountry.get(country)
      if (stored) return stored
      const placed = { ...request }
      fillCountry(country, placed)
      const source = createSource(placed, snapshot.releaseOf)
      byCountry.set(country, source)
      return source
    },
  }
}

export function listReleaseCodes(sources: readonly SourceRelease[]): string[] {
  return [...new Set(sources.flatMap(({ release }) => release?.code ?? []))]
}

/** Members that are the same in all sources. */
export function makeSharedMembers([first, ...others]: readonly SourceRelease[]): ReleaseMembers {
  const members = Object.entries(first?.members ?? {})
  return Object.fromEntries(
    members.filter(([name, value]) => others.every((other) => other.members[name] === value)),
  )
}
