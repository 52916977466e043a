import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Ask, type Reads, readUntil } from '#src/data/cancellable.ts'
import type { TileStores } from '#src/data/tiles/stores.ts'
import type { StoredTile } from '#src/data/tiles/tile-queries.ts'
import { ApiError } from '#src/errors.ts'
import type { App } from '#src/http/app.ts'
import { observeQueue } from '#src/http/metrics/metrics.ts'
import { databaseUnavailable } from '#src/http/plugins/error-handler.ts'
import { type Deadline, startDeadline, tooSlow, withTimeout } from '#src/http/plugins/time-budget.ts'
import { clientKeyOf } from '#src/http/request.ts'
import { createBatcher } from '#src/lib/batcher.ts'
import { type ClientKey, createLimiter, type Pause } from '#src/lib/limiter.ts'
import { createWait, type Wait } from '#src/lib/time-budget.ts'
import { columnsIn, largestBlocks, tileRowsOf } from '#src/raster/blocks.ts'
import { createMeasure, type Measure } from '#src/raster/grid.ts'
import { clip, ellipsoidArea, planarArea, type Rings, ringLength, sumOfRings } from '#src/raster/rings.ts'
import { type ProjectedPolygon, projectOnGrid } from '#src/raster/scan.ts'
import { type DecodedTile, decodeTile } from '#src/raster/tiles.ts'
import { readSummaries, type StoredSummary, transformPolygons, type ZonalCoverage } from './queries.ts'

/** Reads tiles of a coverage from its store, which has no tiles without values. */
type ReadTiles = (coverage: ZonalCoverage, tiles: { row: number; column: number }[]) => Promise<StoredTile[]>

export function readingTiles(stores: TileStores, reads: Reads): ReadTiles {
  return ({ id, store }, tiles) => stores[store].read(reads, id, tiles)
}

type TilePlace = Pick<StoredTile, 'row' | 'column'>

/** Reads for several polygons at once: tiles that they ask for meanwhile come in one statement, and each once. */
export function sharingTiles(readTiles: ReadTiles): ReadTiles {
  const keyOf = ({ row, column }: TilePlace) => `${row} ${column}`
  const readers = new Map<ZonalCoverage, (tile: TilePlace) => Promise<StoredTile | null>>()

  const createReader = (coverage: ZonalCoverage) =>
    createBatcher({
      concurrency: 1,
      batch: TILES_A_CHUNK,
      // A statement does not fail for the sake of one of its tiles.
      failsAll: () => true,
      keyOf,
      async run(tiles: TilePlace[]) {
        const found = new Map((await readTiles(coverage, tiles)).map((tile) => [keyOf(tile), tile]))
        return tiles.map((tile) => found.get(keyOf(tile)) ?? null)
      },
    })

  return async (coverage, tiles) => {
    const read = readers.get(coverage) ?? createReader(coverage)
    readers.set(coverage, read)
    const found = await Promise.all(tiles.map(read))
    return found.filter((tile) => tile !== null)
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
  waitInTurn: Wait
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
  const { config, database, metrics, inTurn } = app
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
    request: FastifyRequest,
    reply: FastifyReply,
    advise: (waiting: Waiting) => Promise<Advice>,
    isOneOfMany = false,
  ): Promise<Advice> => {
    const clientKey = clientKeyOf(request)
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
      wait: (something) => withTimeout(request, reply, something),
      waitInTurn: (something) => inTurn(request, reply, something),
      compute,
    })
    // A statement that cannot be interrupted goes on, and so does its permit.
    return Promise.race([advice, rejectAtAbort(signal)]).finally(end)
  }
}

/** Makes the access of a computation, which ends at its deadline. */
export function computationUntil(
  { config, database, tiles, turns }: App,
  clientKey: ClientKey,
  { signal, abort }: Pick<Deadline, 'signal' | 'abort'>,
): Computation {
  const read = readUntil(database, signal)
  const wait = createWait(config.STATEMENT_TIMEOUT_MS, () => abort(databaseUnavailable()))
  const pause = () => turns.next(clientKey, signal)
  async function withTimeout<Rows>(reading: () => Promise<Rows>): Promise<Rows> {
    const rows = await wait(reading)
    await pause()
    return rows
  }
  const reads: Reads = {
    ask: (query) => withTimeout(() => read.ask(query)),
    copy: (query) => withTimeout(() => read.copy(query)),
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

export interface ZonalPolygon extends ProjectedPolygon {
  /** The share of the polygons' area: below 1 where they were clipped beyond the grid. */
  share: number
}

/** Places polygons on a grid. Parts far beyond a projected grid are clipped, as they may have no image there. */
export async function projectOnCoverage(
  ask: Ask,
  coverage: ZonalCoverage,
  polygons: Rings[],
): Promise<ZonalPolygon> {
  const inGridCrs = coverage.srid === 4326 ? { polygons, share: 1 } : await transform(ask, coverage, polygons)
  const placed = projectOnGrid(coverage, coverage.geographic, inGridCrs.polygons)
  const { share } = inGridCrs
  return { ...placed, share, within: share === 1 && placed.within }
}

/** Degrees beyond a projected grid: clipped parts count by their area on the ellipsoid, nearly the same. */
const MARGIN = 3

/**
 * A line that is straight in longitude and latitude is a curve in the plane. Close to the equator it leaves
 * its chord by about 40 metres for the square of a degree; with steps as short as this (square degrees for
 * a degree of the polygon's width) that changes its area by less than 1e-9.
 */
const STEP = 7e-7

/** Polygons that would have more positions than this are divided more coarsely. */
const MOST_STEPS = 100_000

async function transform(
  ask: Ask,
  { srid, west, south, east, north }: ZonalCoverage,
  polygons: Rings[],
): Promise<{ polygons: Rings[]; share: number }> {
  const extent = { west: west - MARGIN, south: south - MARGIN, east: east + MARGIN, north: north + MARGIN }
  const clipped = polygons
    .map((rings) =>
      rings.flatMap((ring) => {
        const part = clip(ring, extent)
        return part.length > 0 ? [part] : []
      }),
    )
    .filter((rings) => rings.length > 0)
  if (clipped.length === 0) return { polygons: [], share: 0 }
  const length = clipped.flat().reduce((sum, ring) => sum + ringLength(ring), 0)
  // As wide as a square with the same proportion of area to border.
  const width = (4 * sumOfRings(clipped, planarArea)) / length
  const step = Math.max(Math.sqrt(STEP * width), length / MOST_STEPS)
  const transformed = await transformPolygons(ask, clipped, srid, step)
  const unchanged = clipped.flat().every((ring, index) => ring === polygons.flat()[index])
  return {
    polygons: transformed,
    share:
      unchanged && clipped.length === polygons.length ? 1 : ellipsoidArea(clipped) / ellipsoidArea(polygons),
  }
}

/** Tiles of one statement: half a megabyte with one Float32 band. */
const TILES_A_CHUNK = 512

/** A requested tile: the inner area of each pixel, row by row, and the stored tile of each coverage. */
interface WeighedTile {
  row: number
  column: number
  areas: Float64Array
  stored: Buffer[]
}

/** Takes the tiles of coverages on one grid at a place; a tile without values does not exist, but one of them does. */
type VisitTiles = (areas: Float64Array, ...tiles: (DecodedTile | undefined)[]) => void

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

  async request(row: number, column: number, areas: Float64Array): Promise<void> {
    this.#requested.set(`${row} ${column}`, { row, column, areas, stored: [] })
    if (this.#requested.size >= TILES_A_CHUNK) await this.finish()
  }

  /** Requests whole tiles of a row, in runs of columns. */
  async requestWhole(row: number, runs: number[]): Promise<void> {
    const { tileSize } = this.#grid
    const areas = new Float64Array(tileSize * tileSize)
    for (let line = 0; line < tileSize; line++) {
      areas.fill(this.#measure.pixelArea(row * tileSize + line), line * tileSize, (line + 1) * tileSize)
    }
    for (const column of columnsIn(runs)) await this.request(row, column, areas)
  }

  async finish(): Promise<void> {
    const requested = this.#requested
    this.#requested = new Map()
    if (requested.size === 0) return
    const { readTiles, pause } = this.#computation
    for (const [side, coverage] of this.#coverages.entries()) {
      for (const { row, column, wkb } of await readTiles(coverage, [...requested.values()])) {
        ;(requested.get(`${row} ${column}`) as WeighedTile).stored[side] = wkb
      }
    }
    for (const { areas, stored } of requested.values()) {
      if (stored.length === 0) continue
      this.#visit(areas, ...Array.from(stored, (wkb) => wkb && decodeTile(wkb)))
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
  placed: ZonalPolygon,
  visit: VisitTiles,
): Promise<TilesRead> {
  const grid = coverages[0] as ZonalCoverage
  const reader = new TileReader(computation, coverages, visit)
  const inside: TilesRead['inside'] = new Map()
  let area = 0
  for (const found of tileRowsOf(placed, grid, createMeasure(grid, grid.geographic))) {
    await computation.pause()
    if (!found) continue
    area += found.area
    for (const [column, areas] of found.border) await reader.request(found.row, column, areas)
    if (found.inside.length === 0) continue
    if (coverages.every(({ summarised }) => summarised)) inside.set(found.row, found.inside)
    else await reader.requestWhole(found.row, found.inside)
  }
  await reader.finish()
  // The sum of the parts is as exact as the parts; only the area beside the grid is missing.
  return { total: (placed.within ? area : placed.area) / placed.share, inside }
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
