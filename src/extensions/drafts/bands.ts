import type { Database } from '#src/data/database.ts'
import { OperatorError } from '#src/errors.ts'
import type { LayerFacts } from '#src/ingest/checks/rules.ts'
import { OpenFiles } from '#src/ingest/geotiff/open-files.ts'
import { openGeoTiffs } from '#src/ingest/geotiff/source.ts'
import { extentOrRefuse } from '#src/ingest/load.ts'
import type { CoverageSource } from '#src/ingest/source.ts'
import { layerCollector, type Statistics } from '#src/ingest/statistics.ts'
import { formatError } from '#src/lib/promises.ts'
import type { Grid, LevelExtent } from '#src/raster/grid.ts'
import { type Candidate, type LeftOut, listFiles } from './files.ts'

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
}

export interface Drop {
  folder: string
  bands: readonly Band[]
  leftOut: readonly LeftOut[]
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
  return { folder, bands, leftOut: leftOut.toSorted((a, b) => (a.file < b.file ? -1 : 1)) }
}

/** Without the path of the folder. */
function shortened(error: unknown, { path, file }: Candidate): string {
  return formatError(error).replaceAll(path, file).replace(/\.$/, '')
}

async function readFileBands(database: Database, candidate: Candidate): Promise<Band[]> {
  const bands = await describeBands(candidate)
  try {
    const measured = await measure(database, candidate.path, bands)
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

/** As a load would read it; what it means is not known yet. */
async function measure(database: Database, path: string, bands: Band[]): Promise<Map<number, Measured>> {
  const release = await openGeoTiffs(database.writer, {
    ...{ product: '', country_code: '', source: '', licence: '', lossy: true },
    layers: bands.map(({ number }) => ({
      ...{ files: [path], band: number, unit: '', decimals: 2, scenario: String(number) },
    })),
  })
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
        measured.set(Number(layer.scenario), { grid, extent, pixels, share, statistics, offset, facts })
      }
    }
    if (measured.size === 0) throw new OperatorError(`${path} has no band of values.`)
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
