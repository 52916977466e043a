import type { Database } from '#src/data/database.ts'
import { type FailureSources, findAlsoAtPrimary, StorageUnavailable } from '#src/data/failures.ts'
import type { Db } from '#src/data/tables.ts'
import type {
  PixelWriter,
  StoredWindow,
  TileAddress,
  TileSource,
  TileStore,
  WrittenCoverage,
} from '#src/data/tiles/store.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import { TILE_SIZE, type Tile, tileCutter } from '#src/raster/tiles.ts'
import { BLOCK_SIZE, type EncodedGranule, listBlockWindows } from './granule.ts'
import { GranuleBuilder } from './granule-builder.ts'
import { createGranuleReader, fileNameOf, type GranuleReader } from './granule-reader.ts'
import { openFileStore, requireFileStore } from './open.ts'
import { findGranules, type GranuleFile, keepGranule, listGranuleRows, listGranules } from './queries.ts'
import { findServedFiles } from './serving.ts'
import { createRangeReader, type RangeReader } from './store.ts'
import { loadZstd } from './zstd.ts'

/** Reads of one look-up at the same time. */
const READS_AT_A_TIME = 16

const TILES_ACROSS_BLOCK = BLOCK_SIZE / TILE_SIZE

/** Tiles in files; the database lists the granules of a coverage. */
function createFileTiles(source: FailureSources<Db>, files: RangeReader): TileStore {
  const granules = createGranuleReader(files)

  async function cutTiles(
    found: (GranuleFile | undefined | null)[],
    tiles: TileAddress[],
    signal?: AbortSignal,
  ): Promise<(Buffer | Error | null)[]> {
    const results = found.map((granule) => (granule === null ? null : EMPTY)) as (Buffer | Error | null)[]
    const blocks = new Map<string, { granule: GranuleFile; indices: number[] }>()
    for (const [index, granule] of found.entries()) {
      if (!granule) continue
      const { row, column } = tiles[index] as TileAddress
      const key = `${granule.name} ${blockOf(row)} ${blockOf(column)}`
      const block = blocks.get(key) ?? { granule, indices: [] }
      block.indices.push(index)
      blocks.set(key, block)
    }
    await eachOf([...blocks.values()], async ({ granule, indices }) => {
      try {
        // A read without a waiting caller is left out.
        signal?.throwIfAborted()
        const wanted = indices.map((index) => tiles[index] as TileAddress)
        const cut = await tilesIn(granules, granule, wanted)
        for (const [at, index] of indices.entries()) results[index] = cut[at] as Buffer
      } catch (error) {
        for (const index of indices) results[index] = error as Error
      }
    })
    return results
  }

  return {
    find: async (tiles) => cutTiles(await findAlsoAtPrimary(source, tiles, findGranulesIn), tiles),
    hits: granules.hits,
    async read({ ask, signal }, coverageId, tiles) {
      const addresses = tiles.map((tile) => ({ ...tile, coverageId }))
      const found = await cutTiles(await findGranules(ask, addresses), addresses, signal)
      const rows: Tile[] = []
      for (const [index, { row, column }] of tiles.entries()) {
        const wkb = found[index]
        if (wkb instanceof Error) throw wkb
        if (wkb?.length) rows.push({ row, column, wkb })
      }
      return rows
    },
    windows: (coverageId) => windowsOf(source.reader, granules, coverageId),
  }
}

function findGranulesIn(db: Db, tiles: TileAddress[]) {
  return findGranules(async (query) => (await query.execute(db)).rows, tiles)
}

const EMPTY = Buffer.alloc(0)

function blockOf(tile: number): number {
  return Math.floor(tile / TILES_ACROSS_BLOCK)
}

/** Tiles of one block. */
async function tilesIn(
  granules: GranuleReader,
  file: GranuleFile,
  tiles: Pick<TileAddress, 'row' | 'column'>[],
): Promise<Buffer[]> {
  const { row, column } = tiles[0] as TileAddress
  const block = await granules.block(file, { row: row * TILE_SIZE, column: column * TILE_SIZE })
  if (block === null) return tiles.map(() => EMPTY)
  const { grid, bands } = await granules.header(file)
  const cut = tileCutter(grid, bands)
  const { window, pixels } = block
  return tiles.map(({ row, column }) => {
    const left = column * TILE_SIZE - window.column
    const top = row * TILE_SIZE - window.row
    // The block may end with the grid.
    if (left >= window.width || top >= window.height) return EMPTY
    return cut(window, pixels, left, top)?.wkb ?? EMPTY
  })
}

async function eachOf<One>(all: One[], work: (one: One) => Promise<void>): Promise<void> {
  const left = all.values()
  const lane = async () => {
    for (const one of left) await work(one)
  }
  await Promise.all(Array.from({ length: Math.min(READS_AT_A_TIME, all.length) }, lane))
}

/** Row by row of blocks, each from left to right. */
async function* windowsOf(db: Db, granules: GranuleReader, coverageId: number): AsyncGenerator<StoredWindow> {
  for (const granuleRow of await listGranuleRows(db, coverageId)) {
    const files = await listGranules(db, coverageId, granuleRow)
    const headers = await Promise.all(files.map((file) => granules.header(file)))
    const rows = new Set(headers.flatMap(({ window }) => listBlockWindows(window).map(({ row }) => row)))
    for (const row of rows) {
      for (const [index, { window, bands }] of headers.entries()) {
        for (const block of listBlockWindows(window)) {
          if (block.row !== row) continue
          const stored = await granules.block(files[index] as GranuleFile, block)
          if (stored === null) continue
          const { width, height } = stored.window
          const all = bands.map(({ nodata }, band) => ({ pixels: stored.pixels[band] as Pixels, nodata }))
          yield { window: stored.window, width, height, bands: all }
        }
      }
    }
  }
}

/** Opens the files that TILE_STORE names; a service reads them within a deadline, and through its cache. */
export async function openFileTiles(source: TileSource): Promise<TileStore> {
  const { config } = source
  const files = await openFileStore(config)
  if (!files) return NO_FILES
  return createFileTiles(source, findServedFiles(config)?.ranges ?? createRangeReader(files))
}

/** Writes windows into files, from top to bottom. */
export async function createFileWriter(
  { writer, config }: Pick<Database, 'writer' | 'config'>,
  coverage: WrittenCoverage,
): Promise<PixelWriter> {
  const files = await requireFileStore(config)
  const builder = new GranuleBuilder(await loadZstd(), coverage)

  async function write(granules: Iterable<EncodedGranule>): Promise<void> {
    for (const granule of granules) {
      // The file comes first: named files exist.
      await files.write(fileNameOf(granule), granule.bytes)
      await keepGranule(writer, coverage.id, granule)
    }
  }

  return {
    add: (window, pixels) => write(builder.add(window, pixels)),
    finish: () => write(builder.finish()),
  }
}

/** For a database with releases in files, and no TILE_STORE. */
const NO_FILES: TileStore = {
  hits: () => 0,
  find: notNamed,
  read: notNamed,
  windows: () => ({ [Symbol.asyncIterator]: () => ({ next: notNamed }) }),
}

async function notNamed(): Promise<never> {
  throw new StorageUnavailable('a release is in files, and TILE_STORE does not say where these are')
}
