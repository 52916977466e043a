import type { Database } from '#src/data/database.ts'
import { OperatorError } from '#src/errors.ts'
import type { LayerFacts } from '#src/ingest/checks/rules.ts'
import { OpenFiles } from '#src/ingest/geotiff/open-files.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { extentOrRefuse } from '#src/ingest/load.ts'
import type { CoverageSource, LayerSource } from '#src/ingest/source.ts'
import { layerCollector, type Statistics } from '#src/ingest/statistics.ts'
import { formatError } from '#src/lib/promises.ts'
import type { Grid, LevelExtent } from '#src/raster/grid.ts'
import { type Candidate, type LeftOut, listFiles, TEXT } from './files.ts'

/** What the pixels of a band say. */
export interface Measured {
  grid: Grid
  extent: LevelExtent
  pixels: number
  /** Of pixels, from 0 to 1. */
  share: number
  statistics: Statistics
  /** Of pixels, as the file says. */
  offset: number
  facts: LayerFacts
}

export interface Band {
  path: string
  /** From the folder. */
  file: string
  /** From 1, and how many the file has. */
  number: number
  count: number
  description?: string | undefined
  unit?: string | undefined
  /** Of the band before those of the file. */
  notes: Record<string, string>
  /** Undefined for a file that cannot be read. */
  measured?: Measured
  /** Why it cannot. */
  fault?: string
  /** Of a layer in several files, side by side: their bands. */
  tiles?: readonly Band[]
}

/** The bands of files. */
export function listTiles(band: Band): readonly Band[] {
  return band.tiles ?? [band]
}

export interface Drop {
  folder: string
  bands: readonly Band[]
  leftOut: readonly LeftOut[]
  /** Bands that side by side are one, by the names of all. */
  joined: Map<string, Band>
  /** How far a band has the values of others, by the names of all. */
  matched: Map<string, number>
}

/** Files that a person reads before they answer. */
export function listTexts({ leftOut }: Drop): string[] {
  return leftOut.flatMap(({ file, reason }) => (reason === TEXT ? file : []))
}

/** Files of these endings are meant as layers, also where they are damaged. */
const RASTER = /\.(?:tiff?|nc|nc4|asc|h5|hdf5?|img|grib2?|zarr)(?:\.gz)?$/i

/**
 * Reads all that a folder has, each pixel once.
 *
 * @param progress takes the part that is read, from 0 to 1
 * @throws {OperatorError} for a folder that cannot be read
 */
export async function readDrop(
  database: Database,
  folder: string,
  progress: (part: number) => void,
): Promise<Drop> {
  const { candidates, leftOut } = await listFiles(folder)
  const bands: Band[] = []
  for (const [index, candidate] of candidates.entries()) {
    try {
      bands.push(...(await readFileBands(database, candidate)))
    } catch (error) {
      const reason = shortened(error, candidate)
      if (RASTER.test(candidate.file))
        bands.push({ ...candidate, number: 1, count: 1, notes: {}, fault: reason })
      else leftOut.push({ file: candidate.file, reason })
    }
    progress((index + 1) / candidates.length)
  }
  return {
    folder,
    bands,
    leftOut: leftOut.toSorted((a, b) => (a.file < b.file ? -1 : 1)),
    joined: new Map(),
    matched: new Map(),
  }
}

/** Without the path of the folder. */
function shortened(error: unknown, { path, file }: Candidate): string {
  return formatError(error).replaceAll(path, file).replace(/\.$/, '')
}

async function readFileBands(database: Database, candidate: Candidate): Promise<Band[]> {
  const bands = await describeBands(candidate)
  try {
    const measured = await measure(database, bands)
    return bands.map((band) => ({ ...band, measured: measured.get(band.number) as Measured }))
  } catch (error) {
    const fault = shortened(error, candidate)
    return bands.map((band) => ({ ...band, fault }))
  }
}

/** Alpha bands are masks. */
async function describeBands({ path, file }: Candidate): Promise<Band[]> {
  const open = new OpenFiles()
  try {
    const [raster] = await open.of([path])
    const { notes } = raster.words(0)
    const numbers = Array.from({ length: raster.bandCount }, (_, index) => index + 1)
    const counted = numbers.filter((number) => number !== raster.alphaBand)
    return counted.map((number): Band => {
      const { description, unit, notes: own } = raster.words(number)
      const all = { ...notes, ...own }
      const [, noted] = Object.entries(all).find(([name]) => /^units?$/i.test(name)) ?? []
      return { path, file, number, count: counted.length, description, unit: unit ?? noted, notes: all }
    })
  } catch (error) {
    return open.explain(error)
  } finally {
    await open.close()
  }
}

/** As a load would read them; what they mean is not known yet. */
function openBands(database: Database, bands: readonly Band[]) {
  const layers = bands.map((band, at) => {
    const files = listTiles(band).map(({ path }) => path) as [string, ...string[]]
    return { files, band: band.number, unit: '', decimals: 2, scenario: String(at) }
  })
  return openGeoTiffs(database.writer, {
    ...{ product: '', country_code: '', source: '', licence: '', lossy: true, layers },
  })
}

async function measure(database: Database, bands: readonly Band[]): Promise<Map<number, Measured>> {
  const release = await openBands(database, bands)
  try {
    const measured = new Map<number, Measured>()
    for (const coverage of release.coverages) {
      const { grid } = coverage
      const extent = await extentOrRefuse(database, coverage)
      const pixels = grid.width * grid.height
      for (const { layer, statistics, values, frame, filled } of await readAll(coverage)) {
        const facts = { ...layer, statistics, raw: { pixelType: layer.pixelType, values, frame, filled } }
        const share = statistics.validCount / pixels
        const { offset } = layer
        const { number } = bands[Number(layer.scenario)] as Band
        measured.set(number, { grid, extent, pixels, share, statistics, offset, facts })
      }
    }
    if (measured.size === 0) throw new OperatorError(`${bands[0]?.path} has no band of values.`)
    return measured
  } finally {
    await release.close()
  }
}

async function readAll(coverage: CoverageSource) {
  const collector = layerCollector(coverage)
  for (const window of coverage.windows) collector.add(window, await coverage.read(window))
  return collector.result().layers
}

/** Bands that lie side by side, read as one; undefined for others. Each set is read once. */
export async function joinTiles(
  database: Database,
  drop: Drop,
  tiles: readonly Band[],
): Promise<Band | undefined> {
  const [first, ...others] = tiles
  if (!first || others.length === 0 || !areTiles(tiles)) return undefined
  const name = tiles.map(({ file }) => file).join(' ')
  const before = drop.joined.get(`${name} ${first.number}`)
  if (before) return before
  const whole = { ...first, file: `${first.file} and ${others.length} more`, tiles }
  const measured = (await measure(database, [whole]).catch(() => undefined))?.get(first.number)
  if (!measured) return undefined
  const joined = { ...whole, measured }
  drop.joined.set(`${name} ${first.number}`, joined)
  return joined
}

/** Pieces of a grid, and pixels of each, that are compared; relative differences of rounding. */
const COMPARED = 16
const COMPARED_PIXELS = 4096
const ROUNDING = 1e-3

/** The share of the values of a band, in a sample, that one of others on its grid has there. Each is read once. */
export async function matchValues(
  database: Database,
  drop: Drop,
  band: Band,
  others: readonly Band[],
): Promise<number> {
  const all = [band, ...others]
  const name = all.map(({ file, number }) => `${file} ${number}`).join(' ')
  const before = drop.matched.get(name)
  if (before !== undefined) return before
  const release = await openBands(database, all)
  try {
    let [whole, same] = [0, 0]
    const coverage = release.coverages[0] as CoverageSource
    const order = all.map((_, at) => coverage.layers.findIndex(({ scenario }) => scenario === String(at)))
    const every = Math.ceil(coverage.windows.length / COMPARED)
    for (const window of coverage.windows.filter((_, at) => at % every === 0)) {
      const pixels = await coverage.read(window)
      const count = window.width * window.height
      for (let at = 0; at < count; at += Math.ceil(count / COMPARED_PIXELS)) {
        const [own, ...sisters] = order.map((index) => {
          const { nodata, scale, offset } = coverage.layers[index] as LayerSource
          const pixel = pixels[index]?.[at]
          return pixel === nodata ? Number.NaN : (pixel as number) * scale + offset
        }) as [number, ...number[]]
        if ([own, ...sisters].some(Number.isNaN)) continue
        whole++
        if (sisters.some((value) => Math.abs(value - own) <= ROUNDING * Math.abs(own))) same++
      }
    }
    const share = whole === 0 ? 1 : same / whole
    drop.matched.set(name, share)
    return share
  } finally {
    await release.close()
  }
}

/** Of a pixel, by which edges may differ. */
const NEAR = 0.1

/** Whether grids of one kind touch, and do not overlap. */
function areTiles(bands: readonly Band[]): boolean {
  const boxes = bands.flatMap(({ measured, number, count }) => {
    if (!measured) return []
    const { originX, originY, pixelWidth, pixelHeight, width, height, srid } = measured.grid
    const kind = [srid, pixelWidth.toPrecision(6), pixelHeight.toPrecision(6), number, count].join(' ')
    const [left, top] = [originX / pixelWidth, originY / pixelHeight]
    return [{ kind, left, top, right: left + width, bottom: top + height }]
  })
  const [first] = boxes
  if (!first || boxes.length < bands.length || boxes.some(({ kind }) => kind !== first.kind)) return false
  /** Pixels that two have in common, across and down; 0 where they touch. */
  const common = (one: typeof first, other: typeof first) => [
    Math.min(one.right, other.right) - Math.max(one.left, other.left),
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top),
  ]
  const pairs = boxes.flatMap((one, at) => boxes.slice(at + 1).map((other) => common(one, other)))
  const overlaps = pairs.some((sides) => sides.every((pixels) => pixels > NEAR))
  const touches = (one: typeof first) =>
    boxes.some((other) => {
      const sides = common(one, other)
      return other !== one && Math.min(...sides) >= -NEAR && Math.max(...sides) > NEAR
    })
  return !overlaps && boxes.every(touches)
}
