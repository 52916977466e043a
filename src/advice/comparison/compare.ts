import type { Kysely } from 'kysely'
import { MAX_LEVEL } from '#schemas/areas.ts'
import { findAdminCountry } from '#src/catalog/area-queries.ts'
import type { ReleaseRow } from '#src/catalog/release-queries.ts'
import { readUntil } from '#src/data/cancellable.ts'
import type { Database } from '#src/data/client.ts'
import type { Tables } from '#src/data/tables.ts'
import { createTileStores } from '#src/data/tiles/stores.ts'
import { noAreas } from '#src/errors.ts'
import { BLOCK_FACTOR, type CoveredPixels } from '#src/raster/blocks.ts'
import { addChange, type Change, ChangeTally, noChange, type Side } from '#src/raster/change.ts'
import { createMeasure, sameGrid } from '#src/raster/grid.ts'
import { measureBounds, type Rings } from '#src/raster/rings.ts'
import { emptySummary, type Summary } from '#src/raster/summary.ts'
import type { DecodedTile } from '#src/raster/tiles.ts'
import { type Computation, readBlocks, readingTiles, readPolygonTiles } from '../polygon/computing.ts'
import {
  type LayerStatistics,
  listAreasInRelease,
  listCoverages,
  readAreaShape,
  type StoredSummary,
  type ZonalBand,
  type ZonalCoverage,
} from '../polygon/queries.ts'
import { type WeighedRegion, weighPolygons } from '../polygon/weighing.ts'
import { refuseMoved, zonalStatistics } from '../polygon/zonal-statistics.ts'

/** An area that releases are compared in, or the country. */
export interface ComparedArea {
  code: string
  name: string
}

export type ComparedLayer = Pick<ZonalBand, 'input' | 'scenario' | 'condition' | 'unit' | 'decimals'>

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

/** Two coverages on one grid, with the bands to compare. */
interface CoveragePair {
  before: ZonalCoverage
  after: ZonalCoverage
  bands: BandPair[]
  /** The area of a whole block, in the measure of the grid. */
  areaOfBlock: (block: Pick<StoredSummary, 'level' | 'row' | 'column'>) => number
}

interface BandPair {
  /** The index of its pair of layers. */
  pair: number
  before: ZonalBand
  after: ZonalBand
}

/** Pairs the coverages whose pixels can be compared: those on the same grid in the same tiles. */
function pairCoverages(pairs: LayerPair[]): CoveragePair[] {
  const found: CoveragePair[] = []
  for (const [pair, { before, after }] of pairs.entries()) {
    if (!before || !after || !sameGrid(before.coverage, after.coverage)) continue
    if (before.coverage.tileSize !== after.coverage.tileSize) continue
    const band = { pair, before: before.band, after: after.band }
    const same = found.find((of) => of.before === before.coverage && of.after === after.coverage)
    if (same) same.bands.push(band)
    else {
      const coverages = { before: before.coverage, after: after.coverage }
      found.push({ ...coverages, bands: [band], areaOfBlock: measureBlocks(after.coverage) })
    }
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
  { before, after, bands, areaOfBlock }: CoveragePair,
  { weightsOf }: WeighedRegion,
  { threshold, exact }: Comparing,
) {
  const weights = await weightsOf(after)
  const tallies = bands.map((band) => new ChangeTally(band.before, band.after, threshold))
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
  return { total, changes: tallies.map(({ change }) => change) }

  function addTiles(covered: CoveredPixels, now?: DecodedTile, old?: DecodedTile): void {
    for (const [index, band] of bands.entries()) {
      const [had, has] = [old?.bands[band.before.band - 1], now?.bands[band.after.band - 1]]
      tallies[index]?.addPixels(had, has, covered)
    }
  }

  function addBlock(old: StoredSummary | undefined, now: StoredSummary | undefined): void {
    const area = areaOfBlock((now ?? old) as StoredSummary)
    for (const [index, band] of bands.entries()) {
      tallies[index]?.addBlock(readSummary(old, band.before), readSummary(now, band.after), area)
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

/** Two releases cannot be compared, or not in the areas of a level. */
export class Incomparable extends Error {
  override name = 'Incomparable'
  /** The wrong parameter, and its rule. */
  readonly field: 'b' | 'level'
  readonly rule: string

  constructor(field: 'b' | 'level', rule: string) {
    super(rule)
    this.field = field
    this.rule = rule
  }
}

function refuseIncomparable(before: ReleaseRow, after: ReleaseRow): void {
  for (const [key, kind] of [
    ['product', 'products'],
    ['countryCode', 'countries'],
  ] as const) {
    if (before[key] === after[key]) continue
    throw new Incomparable('b', `${after.code} and ${before.code} are of different ${kind}`)
  }
  const incomplete = [after, before].find(({ status }) => status === 'loading')
  if (incomplete) throw new Incomparable('b', `${incomplete.code} is not complete`)
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
 * @throws {Incomparable}, {ApiError} NO_AREAS, and {ReplacedMeanwhile} for a deleted release or area
 */
export async function compareReleases(
  computation: Computation,
  db: Kysely<Tables>,
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
    throw new Incomparable('level', rule)
  }
  const rows: ChangeRow[] = []
  const sums = layers.map(
    (layer): ChangeRow => ({ area: null, layer, total: 0, change: noChange(), pixelwise: true }),
  )
  const compareArea = async (area: ComparedArea, polygons: Rings[]) => {
    const found = await compareIn(computation, plan, polygons, comparing)
    for (const [index, sum] of sums.entries()) {
      const row = { area, layer: sum.layer, ...(found[index] as LayerComparison) }
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

/** Finds the pairs to compare by pixels, and the coverages of the other layers. */
function makePlan(layers: LayerPair[], coverages: Record<'before' | 'after', ZonalCoverage[]>) {
  const pairs = pairCoverages(layers)
  const paired = new Set(pairs.flatMap(({ bands }) => bands.map(({ pair }) => pair)))
  const beside = (side: 'before' | 'after') => {
    const bands = new Set(layers.map((layer, pair) => (paired.has(pair) ? undefined : layer[side]?.band)))
    return coverages[side]
      .map((coverage) => ({ ...coverage, bands: coverage.bands.filter((band) => bands.has(band)) }))
      .filter(({ bands }) => bands.length > 0)
  }
  return { layers, pairs, before: beside('before'), after: beside('after') }
}

async function compareIn(
  computation: Computation,
  { layers, pairs, before, after }: ReturnType<typeof makePlan>,
  polygons: Rings[],
  comparing: Comparing,
): Promise<LayerComparison[]> {
  const found: LayerComparison[] = []
  const region = weighPolygons(computation, polygons)
  for (const pair of pairs) {
    const { total, changes } = await compareBands(computation, pair, region, comparing)
    pair.bands.forEach((band, index) => {
      found[band.pair] = { total, change: changes[index] as Change, pixelwise: true }
    })
  }
  const old = await zonalStatistics(computation, before, region, null)
  const now = await zonalStatistics(computation, after, region, null)
  const readSide = (layers: (LayerStatistics | null)[], placed: PlacedBand | null) => {
    const layer = placed && layers[placed.band.index]
    const area = layer ? layer.covered * old.areaHa : 0
    return { area, sum: layer ? layer.mean * area : 0 }
  }
  layers.forEach((layer, pair) => {
    found[pair] ??= compareStatistics(
      layer,
      old.areaHa,
      readSide(old.layers, layer.before),
      readSide(now.layers, layer.after),
    )
  })
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
export function computingAlone(database: Database): Computation {
  const reads = readUntil(database, new AbortController().signal)
  return {
    ...reads,
    readTiles: readingTiles(createTileStores(database), reads),
    wait: (something) => something(),
    pause: async () => {},
  }
}
