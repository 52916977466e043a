import { MAX_LEVEL } from '#schemas/areas.ts'
import { findAdminCountry } from '#src/catalog/area-queries.ts'
import type { ReleaseRow } from '#src/catalog/release-queries.ts'
import { readUntil } from '#src/data/cancellable.ts'
import type { Database } from '#src/data/database.ts'
import type { Db } from '#src/data/tables.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { ApiError, noAreas } from '#src/errors.ts'
import { BLOCK_FACTOR, type CoveredPixels } from '#src/raster/blocks.ts'
import { addChange, type Change, ChangeTally, noChange, type Side } from '#src/raster/change.ts'
import { createMeasure, sameGrid } from '#src/raster/grid.ts'
import { measureBounds, type Rings } from '#src/raster/rings.ts'
import { emptySummary, type Summary } from '#src/raster/summary.ts'
import type { DecodedTile } from '#src/raster/tiles.ts'
import {
  type LayerStatistics,
  listAreasInRelease,
  listCoverages,
  readAreaShape,
  type StoredSummary,
  type ZonalBand,
  type ZonalCoverage,
} from '../polygon/queries.ts'
import { type Computation, readBlocks, readPolygonTiles, readTiles } from '../polygon/tiles.ts'
import { type WeighedRegion, weighPolygons } from '../polygon/weighing.ts'
import { refuseMoved, zonalStatistics } from '../polygon/zonal-statistics.ts'

/** An area that releases are compared in, or the country. */
interface ComparedArea {
  code: string
  name: string
}

type ComparedLayer = Pick<ZonalBand, 'input' | 'scenario' | 'condition' | 'unit' | 'decimals'>

interface PlacedBand {
  coverage: ZonalCoverage
  band: ZonalBand
}

/** A layer that one of two releases has, or both. */
interface LayerPair extends ComparedLayer {
  before: PlacedBand | null
  after: PlacedBand | null
}

function listBands(coverages: ZonalCoverage[]): PlacedBand[] {
  return coverages
    .flatMap((coverage) => coverage.bands.map((band) => ({ coverage, band })))
    .filter(({ band }) => band.role === null)
    .sort((a, b) => a.band.index - b.band.index)
}

/** Pairs layers by input, scenario and condition: those of the later release first, in its order. */
function pairLayers(before: PlacedBand[], after: PlacedBand[]): LayerPair[] {
  const pairOf = ({ band }: PlacedBand): LayerPair => {
    const isSame = ({ band: other }: PlacedBand) =>
      other.input === band.input && other.scenario === band.scenario && other.condition === band.condition
    return { ...band, before: before.find(isSame) ?? null, after: after.find(isSame) ?? null }
  }
  return [...after.map(pairOf), ...before.map(pairOf).filter((pair) => pair.after === null)]
}

/** A layer that both releases have on one grid in the same tiles, so that its pixels can be compared. */
type PairedLayer = LayerPair & Record<'before' | 'after', PlacedBand>

function isPaired(layer: LayerPair): layer is PairedLayer {
  const [before, after] = [layer.before?.coverage, layer.after?.coverage]
  return Boolean(before && after && sameGrid(before, after) && before.tileSize === after.tileSize)
}

/** Two coverages on one grid, with the layers to compare. */
interface CoveragePair {
  before: ZonalCoverage
  after: ZonalCoverage
  layers: PairedLayer[]
  /** The area of a whole block, in the measure of the grid. */
  areaOfBlock: (block: Pick<StoredSummary, 'level' | 'row' | 'column'>) => number
}

function pairCoverages(layers: PairedLayer[]): CoveragePair[] {
  const found: CoveragePair[] = []
  for (const layer of layers) {
    const [before, after] = [layer.before.coverage, layer.after.coverage]
    const same = found.find((pair) => pair.before === before && pair.after === after)
    if (same) same.layers.push(layer)
    else found.push({ before, after, layers: [layer], areaOfBlock: measureBlocks(after) })
  }
  return found
}

/** Makes the function for the area of a whole block: its columns of pixels by the sum of its rows. */
function measureBlocks(grid: ZonalCoverage): CoveragePair['areaOfBlock'] {
  const { width, height, tileSize } = grid
  const { pixelArea } = createMeasure(grid, grid.geographic)
  const areasAbove = new Float64Array(height + 1)
  for (let row = 0; row < height; row++) areasAbove[row + 1] = (areasAbove[row] as number) + pixelArea(row)
  return ({ level, row, column }) => {
    const side = tileSize * BLOCK_FACTOR ** level
    const columns = Math.min(width, (column + 1) * side) - column * side
    const [top, bottom] = [row * side, Math.min(height, (row + 1) * side)]
    return columns * ((areasAbove[bottom] as number) - (areasAbove[top] as number))
  }
}

interface Comparing {
  /** The relative difference that counts as a change. */
  threshold: number
  /** Whether to compare every pixel, and not those on the borders of areas alone. */
  exact: boolean
}

/** Blocks of an area: more of them give closer bounds. */
const MOST_BLOCKS = 32_768

/** Compares tiles on the border of an area by pixels, whole tiles inside by the smallest blocks that are few enough. */
async function compareBands(
  computation: Computation,
  { before, after, layers, areaOfBlock }: CoveragePair,
  { weightsOf }: WeighedRegion,
  { threshold, exact }: Comparing,
) {
  const weights = await weightsOf(after)
  const tallies = layers.map(({ before, after }) => new ChangeTally(before.band, after.band, threshold))
  const coverages = [after, before].map((coverage) => ({
    ...coverage,
    summarised: coverage.summarised && !exact,
  }))
  const { total, inside } = await readPolygonTiles(computation, coverages, weights, addTiles)
  const blocks = new Map<string, StoredSummary>()
  for await (const old of readBlocks(computation, before, inside, MOST_BLOCKS)) blocks.set(placeKey(old), old)
  for await (const now of readBlocks(computation, after, inside, MOST_BLOCKS)) {
    addBlock(blocks.get(placeKey(now)), now)
    blocks.delete(placeKey(now))
  }
  for (const old of blocks.values()) addBlock(old, undefined)
  return tallies.map(({ change }): LayerComparison => ({ total, change, pixelwise: true }))

  function addTiles(covered: CoveredPixels, now?: DecodedTile, old?: DecodedTile): void {
    for (const [index, { before, after }] of layers.entries()) {
      const [had, has] = [old?.bands[before.band.band - 1], now?.bands[after.band.band - 1]]
      tallies[index]?.addPixels(had, has, covered)
    }
  }

  function addBlock(old: StoredSummary | undefined, now: StoredSummary | undefined): void {
    const area = areaOfBlock((now ?? old) as StoredSummary)
    for (const [index, { before, after }] of layers.entries()) {
      tallies[index]?.addBlock(readSummary(old, before.band), readSummary(now, after.band), area)
    }
  }
}

const NOTHING = emptySummary()

function readSummary(block: StoredSummary | undefined, { band }: ZonalBand): Summary {
  return block ? block.summary(band) : NOTHING
}

function placeKey({ level, row, column }: StoredSummary): string {
  return `${level} ${row} ${column}`
}

/** The finest level without a requested one. */
const FINEST_DEFAULT = Math.min(2, MAX_LEVEL)

/** The relative difference that counts as a change, by default. */
export const DEFAULT_THRESHOLD = 0.1

/** Layers times areas of a comparison, which memory holds until the answer. */
const MOST_ROWS = 200_000

/** @throws {ApiError} INVALID_PARAMETERS, as of a request for the changes from `a` to `b` */
function refuseIncomparable(before: ReleaseRow, after: ReleaseRow): void {
  const differ = (kind: string) => `${after.code} and ${before.code} are of different ${kind}`
  const incomplete = [after, before].find(({ status }) => status === 'loading')
  const reason =
    (before.product !== after.product && differ('products')) ||
    (before.countryCode !== after.countryCode && differ('countries')) ||
    (incomplete && `${incomplete.code} is not complete`)
  if (reason) throw ApiError.invalid('b', `must be a release of the product and country of a: ${reason}`)
}

/** Null for the cover of the releases as one area, where no areas are loaded. */
function chooseLevel(name: string, levels: number[], requested: number | undefined): number | null {
  if (requested !== undefined && !levels.includes(requested)) throw noAreas({ name, levels }, requested)
  const coarse = levels.filter((level) => level <= FINEST_DEFAULT)
  return requested ?? coarse.at(-1) ?? null
}

interface LayerComparison {
  /** Of the area, in the measure of the grid. */
  total: number
  change: Change
  /** Whether pixels were compared. Different grids allow means and cover alone. */
  pixelwise: boolean
}

/** The change of a layer in an area, or in all of them without one. */
export interface ChangeRow extends LayerComparison {
  area: ComparedArea | null
  layer: ComparedLayer
}

export interface Comparison extends Comparing {
  /** The codes of the releases. */
  before: string
  after: string
  /** Null where no areas are loaded, and the cover of the releases is one area. */
  level: number | null
  areas: number
  /** Each layer in all areas together. */
  layers: ChangeRow[]
  /** Each layer in each area. */
  rows: ChangeRow[]
}

/**
 * Compares two releases in all areas of a level, one after the other.
 *
 * @param progress gets the finished part of the areas
 * @throws {ApiError} INVALID_PARAMETERS or NO_AREAS, and {ReplacedMeanwhile} for a deleted release or area
 */
export async function compareReleases(
  computation: Computation,
  db: Db,
  before: ReleaseRow,
  after: ReleaseRow,
  { level: requested, ...comparing }: Comparing & { level?: number | undefined },
  progress: (done: number) => void = () => {},
): Promise<Comparison> {
  refuseIncomparable(before, after)
  const { wait, ask } = computation
  const { countryCode } = after
  const found = await wait(() => findAdminCountry(db, countryCode, MAX_LEVEL))
  const { name, levels } = found ?? { name: countryCode, levels: [] }
  const level = chooseLevel(name, levels, requested)
  const coverages = {
    before: await wait(() => listCoverages(db, before.id)),
    after: await wait(() => listCoverages(db, after.id)),
  }
  const layers = pairLayers(listBands(coverages.before), listBands(coverages.after))
  const plan = makePlan(layers, coverages)
  const most = Math.floor(MOST_ROWS / layers.length)
  const selection = { countryCode, level, limit: most + 1 }
  const listed = level === null ? [] : await wait(() => listAreasInRelease(db, selection, null))
  if (listed.length > most) {
    const rule = `must be one with at most ${most} areas: that many are compared in ${layers.length} layers`
    throw ApiError.invalid('level', rule)
  }
  const rows: ChangeRow[] = []
  const sums = layers.map(
    (layer): ChangeRow => ({ area: null, layer, total: 0, change: noChange(), pixelwise: true }),
  )
  const compareArea = async (area: ComparedArea, polygons: Rings[]) => {
    const found = await compareIn(computation, plan, polygons, comparing)
    for (const [index, layer] of layers.entries()) {
      const row = { area, layer, ...(found.get(layer) as LayerComparison) }
      const sum = sums[index] as ChangeRow
      rows.push(row)
      sum.total += row.total
      addChange(sum.change, row.change)
      sum.pixelwise &&= row.pixelwise
    }
  }
  for (const [index, area] of listed.entries()) {
    await compareArea(area, await readAreaShape(ask, area))
    progress((index + 1) / listed.length)
  }
  if (level === null) {
    const extent = coveringRectangle([...coverages.before, ...coverages.after])
    await compareArea({ code: countryCode, name }, [extent])
  }
  // Tiles of deleted or moved releases look as if they had no value.
  await refuseMoved(ask, before.id, coverages.before)
  await refuseMoved(ask, after.id, coverages.after)
  const codes = { before: before.code, after: after.code }
  return { ...comparing, ...codes, level, areas: rows.length / layers.length, layers: sums, rows }
}

/** Finds the layers to compare by pixels, and the coverages of the others. */
function makePlan(layers: LayerPair[], coverages: Record<'before' | 'after', ZonalCoverage[]>) {
  const others = layers.filter((layer) => !isPaired(layer))
  const beside = (side: 'before' | 'after') => {
    const bands = new Set(others.map((layer) => layer[side]?.band))
    return coverages[side]
      .map((coverage) => ({ ...coverage, bands: coverage.bands.filter((band) => bands.has(band)) }))
      .filter(({ bands }) => bands.length > 0)
  }
  const pairs = pairCoverages(layers.filter(isPaired))
  return { pairs, others, before: beside('before'), after: beside('after') }
}

/** The change of each layer. */
async function compareIn(
  computation: Computation,
  { pairs, others, before, after }: ReturnType<typeof makePlan>,
  polygons: Rings[],
  comparing: Comparing,
): Promise<Map<LayerPair, LayerComparison>> {
  const found = new Map<LayerPair, LayerComparison>()
  const region = weighPolygons(computation, polygons)
  for (const pair of pairs) {
    const changes = await compareBands(computation, pair, region, comparing)
    for (const [index, layer] of pair.layers.entries()) found.set(layer, changes[index] as LayerComparison)
  }
  const old = await zonalStatistics(computation, before, region, null)
  const now = await zonalStatistics(computation, after, region, null)
  const readSide = (layers: (LayerStatistics | null)[], placed: PlacedBand | null) => {
    const layer = placed && layers[placed.band.index]
    const area = layer ? layer.covered * old.areaHa : 0
    return { area, sum: layer ? layer.mean * area : 0 }
  }
  for (const layer of others) {
    const sides = [readSide(old.layers, layer.before), readSide(now.layers, layer.after)] as const
    found.set(layer, compareStatistics(layer, old.areaHa, ...sides))
  }
  return found
}

/** The change of a layer by the statistics of each release alone. */
function compareStatistics(layer: LayerPair, total: number, before: Side, after: Side): LayerComparison {
  const inOneAlone = layer.before === null || layer.after === null
  const all = (area: number) => ({ least: area, likely: area, most: area })
  const change = { ...noChange(), before, after }
  return {
    total,
    change: inOneAlone ? { ...change, gained: all(after.area), lost: all(before.area) } : change,
    pixelwise: inOneAlone,
  }
}

/** The rectangle in longitude and latitude that all coverages lie in. */
function coveringRectangle(coverages: ZonalCoverage[]): Rings {
  const corners = coverages.map(({ west, south, east, north }) => [west, south, east, north])
  const [west, south, east, north] = measureBounds(corners)
  return [Float64Array.of(west, south, east, south, east, north, west, north, west, south)]
}

/** A computation for a command: without a queue, and without an end but the command's. */
export async function computingAlone(database: Database): Promise<Computation> {
  const reads = readUntil(database, new AbortController().signal)
  const stores = await createTileStores(database)
  return {
    ...reads,
    readTiles: (coverage, tiles) => readTiles(stores, reads, coverage, tiles),
    wait: (something) => something(),
    pause: async () => {},
  }
}
