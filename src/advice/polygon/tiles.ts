import { type Ask, type Reads, readUntil } from '#src/data/cancellable.ts'
import { requireStore, type TileStores } from '#src/data/tiles/stores.ts'
import { ApiError, databaseUnavailable } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import type { Exchange } from '#src/http/exchange.ts'
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { type Deadline, startDeadline, tooSlow } from '#src/http/plugins/time-budget.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import { type ClientKey, createLimiter, type Pause } from '#src/lib/limiter.ts'
import { createWait, type Wait } from '#src/lib/time-budget.ts'
import { type CoveredPixels, columnsIn, coverWhole, largestBlocks } from '#src/raster/blocks.ts'
import { createMeasure, type Measure } from '#src/raster/grid.ts'
import { type DecodedTile, decodeTile, type Tile } from '#src/raster/tiles.ts'
import type { PolygonWeights } from '#src/raster/weights.ts'
import { readSummaries, type StoredSummary, type ZonalCoverage } from './queries.ts'

type TilePlace = Pick<Tile, 'row' | 'column'>

interface ReadTile extends TilePlace {
  decode: () => DecodedTile
}

/** Reads tiles of a coverage from its store, which has no tiles without values. */
type ReadTiles = (coverage: ZonalCoverage, tiles: TilePlace[]) => Promise<ReadTile[]>

export function readingTiles(stores: TileStores, reads: Reads): ReadTiles {
  return async ({ id, store }, tiles) => {
    const stored = await requireStore(stores, store).read(reads, id, tiles)
    return stored.map(({ row, column, wkb }) => ({ row, column, decode: () => decodeTile(wkb) }))
  }
}

/** Tiles of a coverage that polygons share: eight megabytes with eight Float32 bands. */
const SHARED_TILES = 1024

/** Reads for several polygons: tiles that they ask for come in one statement, and each is read and decoded once. */
export function sharingTiles(readTiles: ReadTiles): ReadTiles {
  const keyOf = ({ row, column }: TilePlace) => `${row} ${column}`

  function createReader(coverage: ZonalCoverage): (tile: TilePlace) => Promise<ReadTile | null> {
    const shared = new Map<string, Promise<ReadTile | null>>()
    const read = createBatcher({
      concurrency: 1,
      batch: TILES_A_CHUNK,
      // A statement does not fail for the sake of one of its tiles.
      failsAll: () => true,
      async run(tiles: TilePlace[]) {
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

export interface Computation {
  /** Reads from the database until the deadline, and waits for its turn. */
  ask: Ask
  readTiles: ReadTiles
  /** Waits for other reads from the database, with the timeout of `ask`. */
  wait: Wait
  /** Lets other requests proceed; rejects after the deadline. */
  pause: Pause
}

/** Computes in turn. @throws {ApiError} OVERLOADED where too many wait, DATABASE_UNAVAILABLE */
type Compute = <Result>(task: (computation: Computation) => Promise<Result>) => Promise<Result>

export interface Waiting {
  /** Waits for the database, beside the computation. */
  wait: Wait
  /** Waits in the queue for a connection. */
  waitForPermit: Wait
  compute: Compute
}

/** Computations of one caller at the same time; always fewer than all. */
const MOST_RUNNING_EACH = 2

/** Computations of all callers at the same time, in one thread. */
const MOST_RUNNING = 4

/** Computations of all callers in the queue. Each holds its body, of at most a megabyte. */
const WAITING = 100

/** The share of the timeout that a single polygon may wait in the queue. */
const SHARE_OF_WAITING = 0.5

/** Makes the queue of computations, in which callers take turns. */
export function createComputing(app: App) {
  const { config, database, metrics } = app
  const { POLYGON_TIMEOUT_MS: timeoutMs, DATABASE_POOL_SIZE: connections } = config
  // Half of the connections stay for others. The embedded database has one, which is free between two statements.
  const most = database.kind === 'embedded' ? 1 : Math.floor(connections / 2)
  const running = Math.max(1, Math.min(MOST_RUNNING, most))
  // A caller leaves a permit to others: its polygons may all be slow.
  const runningEach = Math.max(1, Math.min(MOST_RUNNING_EACH, running - 1))
  const queue = createLimiter({ running, runningEach, waiting: WAITING }, tooMany)
  observeQueue(metrics, 'polygons', queue.state)

  /**
   * @param isOneOfMany waits in the queue as long as the client does, since the answer may have begun
   * @throws {ApiError} QUERY_TIMEOUT after POLYGON_TIMEOUT_MS, for one of many from its turn on
   */
  return <Advice>(
    exchange: Exchange,
    advise: (waiting: Waiting) => Promise<Advice>,
    isOneOfMany = false,
  ): Promise<Advice> => {
    const { reply, clientKey } = exchange
    const began = performance.now()
    const deadline = startDeadline(reply, isOneOfMany ? undefined : timeoutMs)
    const { signal, setDue, end } = deadline

    const compute: Compute = (task) => {
      const passed = () => (isOneOfMany ? 0 : performance.now() - began)
      if (!isOneOfMany) setDue(timeoutMs * SHARE_OF_WAITING - passed(), tooMany)
      const begin = async () => {
        setDue(timeoutMs - passed(), () => tooSlow(timeoutMs))
        const computation = computationUntil(app, clientKey, deadline)
        await computation.pause()
        return task(computation)
      }
      return queue.run(clientKey, begin, signal)
    }

    const advice = advise({
      wait: (something) => exchange.wait(something),
      waitForPermit: (something) => exchange.withDatabasePermit(something),
      compute,
    })
    // A statement that cannot be interrupted goes on, and so does its permit.
    return Promise.race([advice, rejectAtAbort(signal)]).finally(end)
  }
}

/** Makes the access of a computation, which ends at its deadline. */
export function computationUntil(
  { config, database, tiles, slices }: App,
  clientKey: ClientKey,
  { signal, abort }: Pick<Deadline, 'signal' | 'abort'>,
): Computation {
  const read = readUntil(database, signal)
  const wait = createWait(config.STATEMENT_TIMEOUT_MS, () => abort(databaseUnavailable()))
  const pause = () => slices.next(clientKey, signal)
  async function waitAndPause<Rows>(reading: () => Promise<Rows>): Promise<Rows> {
    const rows = await wait(reading)
    await pause()
    return rows
  }
  const reads: Reads = {
    ask: (query) => waitAndPause(() => read.ask(query)),
    copy: (query) => waitAndPause(() => read.copy(query)),
    signal,
  }
  return { ask: reads.ask, readTiles: readingTiles(tiles, reads), wait, pause }
}

function rejectAtAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}

function tooMany(): ApiError {
  return new ApiError('OVERLOADED', 'Too many polygons are being computed; try again in a second.')
}

/** Tiles of one statement: half a megabyte with one Float32 band. */
const TILES_A_CHUNK = 512

/** A requested tile: the covered pixels, and the tile of each coverage. */
interface WeighedTile extends TilePlace {
  covered: CoveredPixels
  read: ReadTile[]
}

/** Takes the tiles of coverages on one grid at a place; a tile without values does not exist, but one of them does. */
type VisitTiles = (covered: CoveredPixels, ...tiles: (DecodedTile | undefined)[]) => void

/** Reads requested tiles of coverages on one grid in chunks, so that memory stays bounded. */
export class TileReader {
  readonly #computation: Computation
  readonly #coverages: ZonalCoverage[]
  readonly #grid: ZonalCoverage
  readonly #measure: Measure
  readonly #visit: VisitTiles
  #requested = new Map<string, WeighedTile>()

  constructor(computation: Computation, coverages: ZonalCoverage[], visit: VisitTiles) {
    this.#computation = computation
    this.#coverages = coverages
    this.#grid = coverages[0] as ZonalCoverage
    this.#measure = createMeasure(this.#grid, this.#grid.geographic)
    this.#visit = visit
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
      this.#visit(covered, ...Array.from(read, (tile) => tile?.decode()))
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
  visit: VisitTiles,
): Promise<TilesRead> {
  const reader = new TileReader(computation, coverages, visit)
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
