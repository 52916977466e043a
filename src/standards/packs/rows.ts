import type { ProductDefinition } from '#schemas/products/define.ts'
import { certaintyTexts, valueColumns } from '#src/advice/columns.ts'
import type { Rectangle } from '#src/catalog/area-queries.ts'
import { ApiError } from '#src/errors.ts'
import { round } from '#src/lib/round.ts'
import { type Area, findAreasAt, type Position } from '#src/lookup/queries.ts'
import { type NumberedCoverage, type PublishedRelease, readSeries } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import type { Window } from '#src/raster/grid.ts'
import {
  boundedPolygon,
  clip,
  isWithinAny,
  measureBounds,
  planarArea,
  type Rings,
  sumOfRings,
} from '#src/raster/rings.ts'
import { decodeMultiPolygon } from '#src/raster/tiles.ts'
import { transformPositions } from '../maps/queries.ts'
import { type PackedArea, type PackSources, tooLargeArea } from './content.ts'
import { boundWindow, findWindow, listSides, WGS84 } from './pixels.ts'
import { findAreaShape } from './queries.ts'

/** A pack as a table: a row for each pixel of the finest grid whose centre lies in the area. */

/** ODK takes lists of about so many rows, where a form reads a few columns of them. */
export const MOST_ROWS = 50_000

/** Pixels in the rectangle around an area that are looked at: of a bent area few lie in it. */
const MOST_CANDIDATES = 20 * MOST_ROWS

/** A release of the country, and what begins the names of its columns. */
export interface TableSeries {
  product: ProductDefinition
  release: PublishedRelease
  prefix: string
}

/** The releases that answer in a country where a request names no month: product by product, each crop by crop. */
export function listTableSeries(
  { app }: Pick<PackSources, 'app'>,
  snapshot: Snapshot,
  countryCode: string,
): TableSeries[] {
  const crops = snapshot.countries.find(({ code }) => code === countryCode)?.crops ?? []
  return app.products.list.flatMap((product) =>
    (product.seasonal ? crops : [null]).flatMap((crop) => {
      const asked = readSeries(product, { country_code: countryCode, ...(crop !== null && { crop }) })
      const release = snapshot.releaseOf(asked)
      return release ? [{ product, release, prefix: [product.code, crop ?? []].flat().join('_') }] : []
    }),
  )
}

/** Degrees of a pixel, about: those of a grid in another system are not quite equal. */
function measurePixel({ extent: [west, south, east, north], width, height }: NumberedCoverage) {
  return { across: (east - west) / width, down: (north - south) / height }
}

function meets([west, south, east, north]: Rectangle, [left, bottom, right, top]: Rectangle): boolean {
  return left <= east && right >= west && bottom <= north && top >= south
}

/**
 * The finest grid of releases that reaches an area; of equal ones the first.
 *
 * @throws {ApiError} NO_RELEASE where nothing is published, NO_DATA where no grid reaches it
 */
export function chooseGrid(series: readonly TableSeries[], area: PackedArea): NumberedCoverage {
  if (series.length === 0) {
    throw new ApiError('NO_RELEASE', `Nothing has been published yet for ${area.country}.`)
  }
  const grids = series
    .flatMap(({ release }) => release.coverages)
    .filter(({ extent }) => meets(extent, area.bbox))
  const size = (grid: NumberedCoverage) => {
    const { across, down } = measurePixel(grid)
    return across * down
  }
  const [first, ...others] = grids
  if (!first) {
    const sentence = `${area.name} (${area.code}) has no values: no published raster reaches it.`
    throw new ApiError('NO_DATA', sentence)
  }
  return others.reduce((finest, grid) => (size(grid) < size(finest) ? grid : finest), first)
}

/**
 * Refuses an area with too many rows. By its simplified outline, before anything is read: the count of rows may refuse what
 * is hardly smaller.
 *
 * @throws {ApiError} TOO_MANY_POINTS
 */
export async function refuseLargeTable(
  sources: Pick<PackSources, 'app'>,
  area: PackedArea,
  grid: NumberedCoverage,
): Promise<void> {
  const { across, down } = measurePixel(grid)
  const { type, coordinates } = area.outline
  const polygons = (type === 'Polygon' ? [coordinates] : coordinates) as [number, number][][][]
  const rings = polygons.map((polygon) => polygon.map((ring) => Float64Array.from(ring.flat())))
  const count = Math.round(sumOfRings(rings, planarArea) / (across * down))
  if (count > MOST_ROWS) throw await refuseRows(sources, area, count)
}

function refuseRows(sources: Pick<PackSources, 'app'>, area: PackedArea, count: number): Promise<ApiError> {
  return tooLargeArea(sources, area, { unit: 'pixels', count, most: MOST_ROWS })
}

/** A pixel of the finest grid by its centre. */
interface Centre extends Position {
  column: number
  row: number
}

/** As columns have them: 10 cm on the ground. */
const DECIMALS = 6

/** Centres that are looked at, and positions that are transformed, between two turns of others. */
const CENTRES_A_SLICE = 500
const POSITIONS_A_QUERY = 5000

/** The window of a grid in any system around a rectangle of degrees. */
async function locateWindow(
  { app }: PackSources,
  grid: NumberedCoverage,
  rectangle: Rectangle,
): Promise<Window> {
  if (grid.srid === WGS84) return findWindow(grid, rectangle)
  const sides = listSides(rectangle)
  const places = await transformPositions(
    app.database.reader,
    grid.srid,
    sides.map(({ longitude }) => longitude),
    sides.map(({ latitude }) => latitude),
  )
  return boundWindow(
    grid,
    places.map(({ x, y }) => [x, y] as const),
  )
}

/** The centres of the pixels of a window in rounded degrees, row by row, in slices. */
async function* listCentres(
  { app, pause }: PackSources,
  grid: NumberedCoverage,
  { column: left, row: top, width, height }: Window,
): AsyncGenerator<Centre[]> {
  const { srid, originX, originY, pixelWidth, pixelHeight } = grid
  const length = srid === WGS84 ? CENTRES_A_SLICE : POSITIONS_A_QUERY
  for (let from = 0; from < width * height; from += length) {
    await pause()
    const cells = Array.from({ length: Math.min(length, width * height - from) }, (_, at) => ({
      column: left + ((from + at) % width),
      row: top + Math.floor((from + at) / width),
    }))
    const xs = cells.map(({ column }) => originX + (column + 0.5) * pixelWidth)
    const ys = cells.map(({ row }) => originY + (row + 0.5) * pixelHeight)
    const places =
      srid === WGS84
        ? xs.map((x, at) => ({ x, y: ys[at] as number }))
        : await transformPositions(app.database.reader, WGS84, xs, ys, srid)
    yield cells.map((cell, at) => {
      const { x, y } = places[at] as { x: number; y: number }
      return { ...cell, longitude: round(x, DECIMALS), latitude: round(y, DECIMALS) }
    })
  }
}

/** Degrees around centres at which shapes are cut. */
const BEYOND = 1 / 1024

/** The centres in an area. Only edges near to them are looked at; within centimetres of an edge the database decides. */
async function selectWithin(
  { app }: PackSources,
  { countryCode, level, code }: PackedArea,
  polygons: readonly Rings[],
  centres: readonly Centre[],
): Promise<Centre[]> {
  const [west, south, east, north] = measureBounds([
    centres.flatMap(({ longitude, latitude }) => [longitude, latitude]),
  ])
  const around = { west: west - BEYOND, south: south - BEYOND, east: east + BEYOND, north: north + BEYOND }
  const near = polygons
    .map((rings) => rings.map((ring) => clip(ring, around)).filter(({ length }) => length > 0))
    .filter(({ length }) => length > 0)
    .map(boundedPolygon)
  const within = centres.map(({ longitude, latitude }) => isWithinAny(near, longitude, latitude))
  const open = centres.filter((_, at) => within[at] === undefined)
  const areas = open.length > 0 ? await findAreasAt(app.database.reader, open) : []
  const isArea = (one: Area) => one.code === code && one.level === level && one.countryCode === countryCode
  const decided = new Map(open.map((centre, at) => [centre, areas[at]?.some(isArea)]))
  return centres.filter((centre, at) => within[at] ?? decided.get(centre))
}

/**
 * The pixels of a grid whose centres lie in an area, borders included, as `admin_areas_at` has them.
 *
 * @throws {ApiError} TOO_MANY_POINTS
 */
async function findCentres(
  sources: PackSources,
  area: PackedArea,
  grid: NumberedCoverage,
): Promise<Centre[]> {
  const window = await locateWindow(sources, grid, area.bbox)
  const candidates = window.width * window.height
  if (candidates > MOST_CANDIDATES) throw await refuseRows(sources, area, candidates)
  const shape = await findAreaShape(sources.app.database.reader, area)
  const polygons = shape ? decodeMultiPolygon(shape) : []
  const found: Centre[] = []
  for await (const slice of listCentres(sources, grid, window)) {
    found.push(...(await selectWithin(sources, area, polygons, slice)))
  }
  if (found.length > MOST_ROWS) throw await refuseRows(sources, area, found.length)
  return found
}

export type Cell = string | number | null

interface TableColumn {
  name: string
  isText: boolean
}

/** A column of values, and how it reads those of its release. */
interface SeriesColumns extends TableSeries {
  columns: TableColumn[]
  cellsOf(values: number[] | null): Cell[]
}

/** What names of columns have: XPath, and so ODK, takes no others. */
const NOT_IN_NAMES = /[^\p{L}\p{N}_.-]+/gu

/** Names of columns that differ from each other whatever their case. */
function createNaming(): (name: string) => string {
  const taken = new Set<string>()
  return (wanted) => {
    const name = wanted.replaceAll(NOT_IN_NAMES, '_')
    let free = name
    for (let number = 2; taken.has(free.toLowerCase()); number++) free = `${name}_${number}`
    taken.add(free.toLowerCase())
    return free
  }
}

function listSeriesColumns(one: TableSeries, nameOf: (name: string) => string): SeriesColumns {
  const { product, release, prefix } = one
  const { names, cellsOf } = valueColumns(product, release)
  const texts = new Set(certaintyTexts(product, release).names)
  const columns = names.map((name) => ({ name: nameOf(`${prefix} ${name}`), isText: texts.has(name) }))
  return {
    ...one,
    columns,
    cellsOf: (values) => (values ? cellsOf(values) : names.map(() => null)),
  }
}

export interface PackTable {
  columns: TableColumn[]
  /** The series of the columns. */
  series: readonly TableSeries[]
  /** Cells in the order of the columns, some rows at a time. */
  slices: AsyncIterable<Cell[][]>
}

/** Where the columns of every table are, for geometries. */
export const POSITION_COLUMNS = { latitude: 2, longitude: 3 } as const

/** The last columns: with them a form finds the row of a position. */
const GRID_COLUMNS = ['grid_lat', 'grid_lng', 'pixel_lat', 'pixel_lng']

/** The corner that columns and rows are counted from, and what they take, in degrees; none for a grid in another system. */
function listGridCells({ srid, originX, originY, pixelWidth, pixelHeight }: NumberedCoverage): Cell[] {
  if (srid !== WGS84) return GRID_COLUMNS.map(() => null)
  return [originY, originX, pixelHeight, pixelWidth]
}

/** Rows of a slice, which takes some milliseconds. */
const ROWS_A_SLICE = 500

/**
 * The table of a pack. Its values are those that the service gives at the positions of its rows.
 *
 * @throws {ApiError} TOO_MANY_POINTS, and while its slices are read OVERLOADED
 * @throws {ReplacedMeanwhile} where a release is deleted or moved meanwhile
 */
export async function makeTable(
  sources: PackSources,
  area: PackedArea,
  series: readonly TableSeries[],
): Promise<PackTable> {
  const grid = chooseGrid(series, area)
  const centres = await findCentres(sources, area, grid)
  const nameOf = createNaming()
  const above = area.parents.filter(({ level }) => level > 0)
  const first = ['name', 'label', 'lat', 'lng', 'country_code', 'area_code', 'area_name']
  const describing = [...first, ...above.flatMap(({ level }) => [`level${level}_code`, `level${level}_name`])]
  const columns = describing.map((name, at) => ({
    name: nameOf(name),
    isText: at !== POSITION_COLUMNS.latitude && at !== POSITION_COLUMNS.longitude,
  }))
  const values = series.map((one) => listSeriesColumns(one, nameOf))
  const releases = series.map(({ prefix }) => ({ name: nameOf(`release ${prefix}`), isText: true }))
  const ofArea = [area.countryCode, area.code, area.name, ...above.flatMap(({ code, name }) => [code, name])]
  const codes = series.map(({ release }) => release.code)
  const gridColumns = GRID_COLUMNS.map((name) => ({ name: nameOf(name), isText: false }))
  const gridCells = listGridCells(grid)

  async function* slices(): AsyncGenerator<Cell[][]> {
    for (let from = 0; from < centres.length; from += ROWS_A_SLICE) {
      await sources.pause()
      const slice = centres.slice(from, from + ROWS_A_SLICE)
      const read: Cell[][][] = []
      for (const { release, cellsOf } of values) {
        read.push((await sources.lookup.valuesAt(release, slice)).map(cellsOf))
      }
      yield slice.map(({ column, row, latitude, longitude }, at) => [
        `${column}_${row}`,
        `${area.name} ${latitude}, ${longitude}`,
        ...[latitude, longitude],
        ...ofArea,
        ...read.flatMap((ofSeries) => ofSeries[at] as Cell[]),
        ...codes,
        ...gridCells,
      ])
    }
  }
  return {
    columns: [...columns, ...values.flatMap((one) => one.columns), ...releases, ...gridColumns],
    series,
    slices: slices(),
  }
}
