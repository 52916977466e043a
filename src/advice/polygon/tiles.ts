import type { Ask, Reads } from '#src/data/database.ts'
import { requireStore, type TileStores } from '#src/data/tiles/store.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import type { Pause } from '#src/lib/limiter.ts'
import type { Wait } from '#src/lib/time-budget.ts'
import { type CoveredPixels, columnsIn, coverWhole, largestBlocks } from '#src/raster/blocks.ts'
import { createMeasure, type Measure } from '#src/raster/grid.ts'
import { type DecodedTile, decodeTile, type Tile } from '#src/raster/tiles.ts'
import type { PolygonWeights } from '#src/raster/weights.ts'
import { readSummaries, type StoredSummary, type ZonalCoverage } from './queries.ts'

export type TileAddress = Pick<Tile, 'row' | 'column'>

interface ReadTile extends TileAddress {
  decode: () => DecodedTile
}

type ReadTiles = (coverage: ZonalCoverage, tiles: TileAddress[]) => Promise<ReadTile[]>

/** Reads tiles of a coverage from its store, which has no tiles without values. */
export async function readTiles(
  stores: TileStores,
  reads: Reads,
  { id, store }: ZonalCoverage,
  tiles: TileAddress[],
): Promise<ReadTile[]> {
  const stored = await requireStore(stores, store).read(reads, id, tiles)
  return stored.map(({ row, column, wkb }) => ({ row, column, decode: () => decodeTile(wkb) }))
}

/** Tiles of a coverage that polygons share: eight megabytes with eight Float32 bands. */
const SHARED_TILES = 1024

/** Reads for several polygons: tiles that they ask for come in one statement, and each is read and decoded once. */
export function sharingTiles(readTiles: ReadTiles): ReadTiles {
  const keyOf = ({ row, column }: TileAddress) => `${row} ${column}`

  function createReader(coverage: ZonalCoverage): (tile: TileAddress) => Promise<ReadTile | null> {
    const shared = new Map<string, Promise<ReadTile | null>>()
    const read = createBatcher({
      concurrency: 1,
      batch: TILES_A_CHUNK,
      // A statement does not fail for the sake of one of its tiles.
      failsAll: () => true,
      async run(tiles: TileAddress[]) {
        const found = new Map((await readTiles(coverage, tiles)).map((tile) => [keyOf(tile), tile]))
        return tiles.map((tile) => decodingOnce(found.get(keyOf(tile))))
      },
    })
    return (tile) => {
      const key = keyOf(tile)
      const found = shared.get(key) ?? read(tile)
      if (shared.size >= SHARED_TILES) shared.clear()
      shared.set(key, found)
      return found
    }
  }

  const readers = new Map<ZonalCoverage, ReturnType<typeof createReader>>()
  return async (coverage, tiles) => {
    const read = readers.get(coverage) ?? createReader(coverage)
    readers.set(coverage, read)
    const found = await Promise.all(tiles.map(read))
    return found.filter((tile) => tile !== null)
  }
}

function decodingOnce(tile: ReadTile | undefined): ReadTile | null {
  if (!tile) return null
  const { row, column } = tile
  let { decode } = tile
  return {
    row,
    column,
    decode() {
      const decoded = decode()
      // Releases the bytes.
      decode = () => decoded
      return decoded
    },
  }
}

/** What a computation reads and waits with, until its deadline. */
export interface Computation {
  /** Reads from the database, and waits for the next slice. */
  ask: Ask
  readTiles: ReadTiles
  /** Waits for other reads from the database, with the timeout of `ask`. */
  wait: Wait
  /** Lets other requests proceed; rejects after the deadline. */
  pause: Pause
}

/** Tiles of one statement: half a megabyte with one Float32 band. */
const TILES_A_CHUNK = 512

/** A requested tile: the covered pixels, and the tile of each coverage. */
interface WeighedTile extends TileAddress {
  covered: CoveredPixels
  read: ReadTile[]
}

/** Adds the tiles of coverages at one address of their grid; a tile without values does not exist, but one of them does. */
type AddTiles = (covered: CoveredPixels, ...tiles: (DecodedTile | undefined)[]) => void

/** Reads requested tiles of coverages on one grid in chunks, so that memory stays bounded. */
export class TileReader {
  readonly #computation: Computation
  readonly #coverages: ZonalCoverage[]
  readonly #grid: ZonalCoverage
  readonly #measure: Measure
  readonly #addTiles: AddTiles
  #requested = new Map<string, WeighedTile>()

  constructor(computation: Computation, coverages: ZonalCoverage[], addTiles: AddTiles) {
    this.#computation = computation
    this.#coverages = coverages
    this.#grid = coverages[0] as ZonalCoverage
    this.#measure = createMeasure(this.#grid, this.#grid.geographic)
    this.#addTiles = addTiles
  }

  async request(row: number, column: number, covered: CoveredPixels): Promise<void> {
    this.#requested.set(`${row} ${column}`, { row, column, covered, read: [] })
    if (this.#requested.size >= TILES_A_CHUNK) await this.finish()
  }

  /** Requests whole tiles of a row, in runs of columns. */
  async requestWhole(row: number, runs: number[]): Promise<void> {
    const { tileSize, width, height } = this.#grid
    const first = row * tileSize
    const cover = (columns: number) =>
      coverWhole(this.#measure, first, {
        width: Math.min(tileSize, columns),
        height: Math.min(tileSize, height - first),
      })
    const covered = cover(width)
    for (const column of columnsIn(runs)) {
      const left = width - column * tileSize
      await this.request(row, column, left < tileSize ? cover(left) : covered)
    }
  }

  async finish(): Promise<void> {
    const requested = this.#requested
    this.#requested = new Map()
    if (requested.size === 0) return
    const { readTiles, pause } = this.#computation
    for (const [side, coverage] of this.#coverages.entries()) {
      for (const tile of await readTiles(coverage, [...requested.values()])) {
        ;(requested.get(`${tile.row} ${tile.column}`) as WeighedTile).read[side] = tile
      }
    }
    for (const { covered, read } of requested.values()) {
      if (read.length === 0) continue
      this.#addTiles(covered, ...Array.from(read, (tile) => tile?.decode()))
      await pause()
    }
  }
}

/** The read part of a polygon, and the tiles inside that have summaries instead. */
interface TilesRead {
  /** The area of the polygon in the measure of the grid. */
  total: number
  /** Unread tiles, as runs of columns by their row. */
  inside: Map<number, number[]>
}

/** Reads the tiles on the border of a polygon, and those inside unless all coverages have summaries. */
export async function readPolygonTiles(
  computation: Computation,
  coverages: ZonalCoverage[],
  weights: PolygonWeights,
  addTiles: AddTiles,
): Promise<TilesRead> {
  const reader = new TileReader(computation, coverages, addTiles)
  const inside: TilesRead['inside'] = new Map()
  const rows = weights.rows()
  let step = rows.next()
  for (; !step.done; step = rows.next()) {
    await computation.pause()
    if (!step.value) continue
    const { row, border, inside: runs } = step.value
    for (const { column, ...covered } of border) await reader.request(row, column, covered)
    if (runs.length === 0) continue
    if (coverages.every(({ summarised }) => summarised)) inside.set(row, runs)
    else await reader.requestWhole(row, runs)
  }
  await reader.finish()
  return { total: step.value, inside }
}

/** Runs of blocks in one statement. */
const RUNS_A_CHUNK = 1024

/** @param most summaries: of larger blocks alone where the tiles are more */
export async function* readBlocks(
  { ask, pause }: Computation,
  coverage: ZonalCoverage,
  inside: Map<number, number[]>,
  most?: number,
): AsyncGenerator<StoredSummary> {
  const runs = largestBlocks(inside, coverage, most)
  for (let at = 0; at < runs.length; at += RUNS_A_CHUNK) {
    for (const stored of await readSummaries(ask, coverage.id, runs.slice(at, at + RUNS_A_CHUNK))) {
      yield stored
      await pause()
    }
  }
}
