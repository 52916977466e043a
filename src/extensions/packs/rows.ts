import type { ProductDefinition } from '#schemas/products/define.ts'
import { certaintyTexts, valueColumns } from '#src/advice/columns.ts'
import { findInteriorPoint } from '#src/advice/polygon/geometry.ts'
import { transformPolygons } from '#src/advice/polygon/queries.ts'
import type { Rectangle } from '#src/catalog/area-queries.ts'
import type { Ask } from '#src/data/database.ts'
import { ApiError } from '#src/errors.ts'
import { isoMonth } from '#src/lib/dates.ts'
import { round } from '#src/lib/round.ts'
import type { Position } from '#src/lookup/layers.ts'
import { type NumberedCoverage, type PublishedRelease, readSeries } from '#src/lookup/releases.ts'
import type { Snapshot } from '#src/lookup/snapshot.ts'
import { transformPositions } from '#src/maps/queries.ts'
import { columnsIn } from '#src/raster/blocks.ts'
import { createMeasure, type LevelExtent } from '#src/raster/grid.ts'
import { clip, isWithinAny, measureBounds, planarArea, type Rings } from '#src/raster/rings.ts'
import { type ProjectedPolygon, projectOnGrid, scan } from '#src/raster/scan.ts'
import { decodeMultiPolygon } from '#src/raster/tiles.ts'
import { type PackedArea, type PackSources, tooLargeArea } from './content.ts'
import { WGS84 } from './pixels.ts'
import { findAreaShape } from './queries.ts'

/** A pack as a table: a row for each pixel of a grid that the area covers, also in part. */

/** ODK takes lists of about so many rows. */
export const MOST_ROWS = 50_000

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

/** The sides of what two rectangles have in common: below 0 where they do not meet. */
function measureOverlap([west, south, east, north]: Rectangle, [left, bottom, right, top]: Rectangle) {
  return {
    across: Math.min(east, right) - Math.max(west, left),
    down: Math.min(north, top) - Math.max(south, bottom),
  }
}

/**
 * The grid that covers most of an area; of those that differ by a row and a column of pixels the finest. Another one would
 * leave a part of the area without rows.
 *
 * @throws {ApiError} NO_RELEASE where nothing is published, NO_DATA where no grid reaches it
 */
export function chooseGrid(series: readonly TableSeries[], area: PackedArea): NumberedCoverage {
  if (series.length === 0) {
    throw new ApiError('NO_RELEASE', `Nothing has been published yet for ${area.country}.`)
  }
  const grids = series
    .flatMap(({ release }) => release.coverages)
    .map((grid) => {
      const overlap = measureOverlap(grid.extent, area.bbox)
      const pixel = measurePixel(grid)
      return {
        grid,
        meets: overlap.across >= 0 && overlap.down >= 0,
        size: pixel.across * pixel.down,
        reach: overlap.across * overlap.down,
        atMost: (overlap.across + pixel.across) * (overlap.down + pixel.down),
      }
    })
    .filter(({ meets }) => meets)
  const furthest = Math.max(...grids.map(({ reach }) => reach))
  const [first, ...others] = grids.filter(({ atMost }) => atMost >= furthest)
  if (!first) throw withoutValues(area)
  return others.reduce((finest, one) => (one.size < finest.size ? one : finest), first).grid
}

function withoutValues({ name, code }: PackedArea): ApiError {
  return new ApiError('NO_DATA', `${name} (${code}) has no values: no published raster reaches it.`)
}

/** A pixel that an area covers, also in part. */
interface CoveredPixel {
  column: number
  row: number
  /** A point of the area in it, in columns and rows: its centre, where that is one. */
  point: readonly [x: number, y: number]
}

/** Degrees beyond a grid at which shapes are cut: far away they may have no position in its system. */
const BEYOND = 0.1

/** Degrees of a straight edge: in another system it is a curve, which leaves it by less than a centimetre. */
const STEP = 0.01

/** The shape of an area on a grid. */
async function placeArea(
  { app }: Pick<PackSources, 'app'>,
  area: PackedArea,
  grid: NumberedCoverage,
): Promise<ProjectedPolygon> {
  const db = app.database.reader
  const shape = await findAreaShape(db, area)
  const polygons = shape ? decodeMultiPolygon(shape) : []
  if (grid.srid === WGS84) return projectOnGrid(grid, true, polygons)
  const [west, south, east, north] = grid.extent
  const around = { west: west - BEYOND, south: south - BEYOND, east: east + BEYOND, north: north + BEYOND }
  const near = polygons.map((rings) => clipAll(rings, around)).filter(({ length }) => length > 0)
  const ask: Ask = async (query) => (await query.execute(db)).rows as never
  return projectOnGrid(
    grid,
    false,
    near.length > 0 ? await transformPolygons(ask, near, grid.srid, STEP) : [],
  )
}

/** A smaller share of a pixel is passed over: rounded, its point would lie beside it. */
const LEAST_SHARE = 0.001

interface CoveredRow {
  row: number
  /** Border pixels, ascending. */
  columns: number[]
  /** Whole pixels: first column and the one after the last, alternately. */
  runs: number[]
}

function countPixels({ columns, runs }: CoveredRow): number {
  return runs.reduce((count, column, at) => (at % 2 === 0 ? count - column : count + column), columns.length)
}

/**
 * The pixels of a grid that an area covers, also in part, row by row.
 *
 * @throws {ApiError} TOO_MANY_POINTS, NO_DATA for an area beside the grid
 */
export async function findCoveredPixels(
  sources: PackSources,
  area: PackedArea,
  grid: NumberedCoverage,
): Promise<CoveredPixel[]> {
  const polygon = await placeArea(sources, area, grid)
  const rows: CoveredRow[] = []
  const slivers: CoveredRow[] = []
  for (const covered of scan(polygon, grid.width, grid.height, createMeasure(grid, false))) {
    if (!covered) {
      await sources.pause()
      continue
    }
    const { row, columns, areas, runs, pixelArea } = covered
    const isLarge = (at: number) => (areas[at] as number) >= LEAST_SHARE * pixelArea
    rows.push({ row, columns: columns.filter((_, at) => isLarge(at)), runs: [...runs] })
    slivers.push({ row, columns: columns.filter((_, at) => !isLarge(at)), runs: [] })
  }
  const count = rows.reduce((sum, row) => sum + countPixels(row), 0)
  if (count > MOST_ROWS) throw await tooLargeArea(sources, area, { unit: 'pixels', count, most: MOST_ROWS })
  const found: CoveredPixel[] = []
  for (const row of count > 0 ? rows : slivers) {
    await sources.pause()
    found.push(...placeRow(polygon, row))
  }
  if (found.length === 0) throw withoutValues(area)
  return found
}

function placeRow({ rings }: ProjectedPolygon, { row, columns, runs }: CoveredRow): CoveredPixel[] {
  const [west, east] = [columns[0] ?? 0, (columns.at(-1) ?? 0) + 1]
  const near = columns.length > 0 ? clipAll(rings, { west, south: row, east, north: row + 1 }) : []
  const border = columns.map((column) => ({ column, row, point: pointIn(near, column, row) }))
  const whole = [...columnsIn(runs)].map((column) => ({ column, row, point: centreOf(column, row) }))
  return [...border, ...whole].sort((one, other) => one.column - other.column)
}

const centreOf = (column: number, row: number) => [column + 0.5, row + 0.5] as const

function clipAll(rings: Rings, box: LevelExtent): Rings {
  return rings.map((ring) => clip(ring, box)).filter(({ length }) => length > 0)
}

/** A point of the polygon in a pixel that it covers in part. */
function pointIn(rings: Rings, column: number, row: number): CoveredPixel['point'] {
  const inside = clipAll(rings, { west: column, south: row, east: column + 1, north: row + 1 })
  // The largest is none of a hole.
  inside.sort((one, other) => Math.abs(planarArea(other)) - Math.abs(planarArea(one)))
  const [west, south, east, north] = measureBounds(inside)
  const centre = centreOf(column, row)
  if (isWithinAny([{ rings: inside, west, south, east, north }], ...centre)) return centre
  const { longitude, latitude } = findInteriorPoint([inside])
  return [longitude, latitude]
}

/** A pixel by its position in degrees. */
interface LocatedPixel extends CoveredPixel, Position {}

/** As columns have them: 10 cm on the ground. */
const DECIMALS = 6

async function locate(
  { app }: Pick<PackSources, 'app'>,
  { srid, originX, originY, pixelWidth, pixelHeight }: NumberedCoverage,
  pixels: readonly CoveredPixel[],
): Promise<LocatedPixel[]> {
  const xs = pixels.map(({ point: [x] }) => originX + x * pixelWidth)
  const ys = pixels.map(({ point: [, y] }) => originY + y * pixelHeight)
  const positions =
    srid === WGS84
      ? xs.map((x, at) => ({ x, y: ys[at] as number }))
      : await transformPositions(app.database.reader, WGS84, xs, ys, srid)
  return pixels.map((pixel, at) => {
    const { x, y } = positions[at] as { x: number; y: number }
    return { ...pixel, longitude: round(x, DECIMALS), latitude: round(y, DECIMALS) }
  })
}

export type TableCell = string | number | null

interface TableColumn {
  name: string
  isText: boolean
}

/** A column of values, and how it reads those of its release. */
interface SeriesColumns extends TableSeries {
  columns: TableColumn[]
  cellsOf(values: number[] | null): TableCell[]
}

/** XPath, and so ODK, takes names of XML alone (XML 1.0, production 4a, without joiners and its last planes). */
const NOT_IN_NAMES =
  /[^\w.\-\u00B7\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u037D\u037F-\u1FFF\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD]+/gu

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
  const { names, cellsOf } = valueColumns(product, release, undefined)
  const texts = new Set(certaintyTexts(product, release).names)
  const columns = names.map((name) => ({ name: nameOf(`${prefix} ${name}`), isText: texts.has(name) }))
  return {
    ...one,
    columns,
    cellsOf: (values) => (values ? cellsOf(values) : names.map(() => null)),
  }
}

/** What a release says of itself: the same in each row. */
function describeRelease({ code, synthetic, ...release }: PublishedRelease): Record<string, string | null> {
  const month = release.forecastPeriod && isoMonth(release.forecastPeriod)
  return {
    release: code,
    forecast_month: month,
    valid_until: release.validUntil,
    synthetic: String(synthetic),
  }
}

export interface PackTable {
  columns: TableColumn[]
  /** The series of the columns. */
  series: readonly TableSeries[]
  /** Cells in the order of the columns, some rows at a time. */
  slices: AsyncIterable<TableCell[][]>
}

/** Where the columns of every table are, for geometries. */
export const POSITION_COLUMNS = { latitude: 2, longitude: 3 } as const

/** The last columns: with them a form finds the row of a position. */
const GRID_COLUMNS = ['grid_lat', 'grid_lng', 'pixel_lat', 'pixel_lng']

/** The corner that columns and rows are counted from, and what they take, in degrees; none for a grid in another system. */
function listGridCells({ srid, originX, originY, pixelWidth, pixelHeight }: NumberedCoverage): TableCell[] {
  if (srid !== WGS84) return GRID_COLUMNS.map(() => null)
  return [originY, originX, pixelHeight, pixelWidth]
}

/** Rows of a slice, of some fifty cells each, which takes some milliseconds. */
const ROWS_A_SLICE = 100

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
  const pixels = await findCoveredPixels(sources, area, grid)
  const nameOf = createNaming()
  const above = area.parents.filter(({ level }) => level > 0)
  const first = ['name', 'label', 'lat', 'lng', 'country_code', 'area_code', 'area_name']
  const describing = [...first, ...above.flatMap(({ level }) => [`level${level}_code`, `level${level}_name`])]
  const columns = describing.map((name, at) => ({
    name: nameOf(name),
    isText: at !== POSITION_COLUMNS.latitude && at !== POSITION_COLUMNS.longitude,
  }))
  const values = series.map((one) => listSeriesColumns(one, nameOf))
  const releases = series.flatMap(({ prefix, release }) =>
    Object.entries(describeRelease(release)).map(([name, cell]) => ({
      column: { name: nameOf(`${name} ${prefix}`), isText: true },
      cell,
    })),
  )
  const ofArea = [area.countryCode, area.code, area.name, ...above.flatMap(({ code, name }) => [code, name])]
  const gridColumns = GRID_COLUMNS.map((name) => ({ name: nameOf(name), isText: false }))
  const last = [...releases.map(({ cell }) => cell), ...listGridCells(grid)]

  async function* slices(): AsyncGenerator<TableCell[][]> {
    for (let from = 0; from < pixels.length; from += ROWS_A_SLICE) {
      await sources.pause()
      const slice = await locate(sources, grid, pixels.slice(from, from + ROWS_A_SLICE))
      const read: TableCell[][][] = []
      for (const { release, cellsOf } of values) {
        await sources.pause()
        read.push((await sources.lookup.valuesAt(release, slice)).map(cellsOf))
      }
      await sources.pause()
      yield slice.map(({ column, row, latitude, longitude }, at) => [
        `${column}_${row}`,
        `${area.name} ${latitude}, ${longitude}`,
        ...[latitude, longitude],
        ...ofArea,
        ...read.flatMap((ofSeries) => ofSeries[at] as TableCell[]),
        ...last,
      ])
    }
  }
  return {
    columns: [
      ...columns,
      ...values.flatMap((one) => one.columns),
      ...releases.map(({ column }) => column),
      ...gridColumns,
    ],
    series,
    slices: slices(),
  }
}
