import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { type Grid, sameGrid, type Window } from '#src/raster/grid.ts'
import { bytesOf, markNodata, type Pixels, storedNodata } from '#src/raster/pixels.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { Manifest, ManifestLayer } from '../manifest.ts'
import { sridOfEpsg } from '../queries.ts'
import { type CoverageSource, compareLayers, type LayerSource, type ReleaseSource } from '../source.ts'
import type { Band } from './bands.ts'
import { openRaster, type RasterFile } from './file.ts'

/** A release in GeoTIFFs, with what an operator should know of them. */
export interface GeoTiffRelease extends ReleaseSource {
  notes: string[]
  close(): Promise<void>
}

/** A layer together with the band it is read from. */
interface FileLayer {
  layer: LayerSource
  grid: Grid
  file: RasterFile
  band: number
  /** The nodata value as pixels of the file have it. */
  fileNodata: number | undefined
}

/** Pixels are read in windows of about this many bytes over all layers of a coverage. */
const WINDOW_BYTES = 48 * 2 ** 20
const SMALLEST_WINDOW_HEIGHT = 128

/**
 * Opens the files of a manifest and groups their layers into coverages by grid.
 *
 * @throws {OperatorError} when a file cannot be used; says which and why
 */
export async function openGeoTiffs(db: Kysely<Tables>, manifest: Manifest): Promise<GeoTiffRelease> {
  const files = new Map<string, RasterFile>()
  const notes = new Set<string>()
  const close = async () => {
    for (const file of files.values()) await file.close()
  }
  try {
    const layers: FileLayer[] = []
    for (const entry of manifest.layers) {
      const file = files.get(entry.file) ?? (await openRaster(entry.file))
      files.set(entry.file, file)
      for (const warning of file.warnings) notes.add(warning)
      const band = await file.band(entry.band)
      const srid = await sridOf(db, file, entry, notes)
      const nodata = nodataOf(entry, band)
      if (nodata !== undefined && storedNodata(band.pixelType, nodata) === undefined) {
        notes.add(
          `${file.path} declares nodata ${nodata}, which its ${band.pixelType} pixels cannot hold: all count.`,
        )
      }
      layers.push({
        layer: layerOf(entry, band),
        grid: { srid, ...file.grid },
        file,
        band: entry.band,
        fileNodata: nodata,
      })
    }
    return {
      description: {
        product: manifest.product,
        countryCode: manifest.country_code,
        cropCode: manifest.crop ?? null,
        forecastPeriod: manifest.forecast_period ? `${manifest.forecast_period}-01` : null,
        synthetic: manifest.synthetic ?? false,
        source: manifest.source,
        licence: manifest.licence,
        checksum: await checksumOf(manifest, layers),
      },
      coverages: groupByGrid(layers).map(coverageOf),
      notes: [...notes],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

function layerOf(entry: ManifestLayer, band: Band): LayerSource {
  return {
    input: entry.input ?? null,
    scenario: entry.scenario ?? null,
    unit: entry.unit,
    scale: entry.scale ?? band.scale,
    offset: entry.offset ?? band.offset,
    decimals: entry.decimals,
    pixelType: band.pixelType,
    nodata: storedNodata(band.pixelType, nodataOf(entry, band)),
    origin: `${basename(entry.file)} band ${entry.band}`,
  }
}

/** NaN needs no naming: it is never a value. */
function nodataOf(entry: ManifestLayer, band: Band): number | undefined {
  const nodata = entry.nodata ?? band.nodata
  return typeof nodata === 'number' && !Number.isNaN(nodata) ? nodata : undefined
}

async function sridOf(
  db: Kysely<Tables>,
  file: RasterFile,
  entry: ManifestLayer,
  notes: Set<string>,
): Promise<number> {
  if (entry.srid === undefined && file.crs.kind === 'unnamed-wgs84') {
    notes.add(`${file.path} names no CRS, but its parameters are those of WGS 84: it is read as EPSG:4326.`)
    return 4326
  }
  if (entry.srid === undefined && file.crs.kind === 'unknown') {
    throw new OperatorError(`${file.path} has an unknown CRS: ${file.crs.reason}; give the layer's srid.`)
  }
  const named = file.crs.kind === 'epsg' ? file.crs.code : undefined
  const code = entry.srid ?? (named as number)
  if (entry.srid !== undefined && named !== undefined && named !== entry.srid) {
    notes.add(`${file.path} says EPSG:${named}, but the manifest's srid ${entry.srid} is used.`)
  }
  const srid = await sridOfEpsg(db, code)
  if (srid === undefined)
    throw new OperatorError(`${file.path} has an unknown CRS: PostGIS does not know EPSG:${code}.`)
  return srid
}

function groupByGrid(layers: FileLayer[]): FileLayer[][] {
  const groups: FileLayer[][] = []
  for (const layer of layers.toSorted((a, b) => compareLayers(a.layer, b.layer))) {
    const group = groups.find(([first]) => first && sameGrid(first.grid, layer.grid))
    if (group) group.push(layer)
    else groups.push([layer])
  }
  return groups
}

function coverageOf(layers: FileLayer[]): CoverageSource {
  const [{ grid }] = layers as [FileLayer]
  return {
    grid,
    layers: layers.map(({ layer }) => layer),
    windows: windowsOf(grid, layers),
    async read(window) {
      const pixels: Pixels[] = []
      // Bands of one file come out of the same blocks: read them together, decompress once.
      for (const file of new Set(layers.map(({ file }) => file))) {
        const ofFile = layers.filter((layer) => layer.file === file)
        const bands = await file.read(
          window,
          ofFile.map(({ band }) => band),
        )
        ofFile.forEach(({ layer, fileNodata }, index) => {
          const band = bands[index] as Pixels
          markNodata(band, layer.pixelType, fileNodata)
          pixels[layers.findIndex((candidate) => candidate.layer === layer)] = band
        })
      }
      return pixels
    },
  }
}

/**
 * Windows of whole blocks of the files, as wide as the grid where memory allows: a block that two
 * windows share is decompressed twice. Where one block of each layer is too much, it is, piece by piece.
 */
function windowsOf(grid: Grid, layers: FileLayer[]): Window[] {
  const bytes = layers.reduce((sum, { layer }) => sum + bytesOf(layer.pixelType), 0)
  const most = Math.floor(WINDOW_BYTES / bytes)
  const block = {
    width: Math.max(...layers.map(({ file }) => file.block.width)),
    height: Math.max(...layers.map(({ file }) => file.block.height)),
  }
  let height = inTiles(Math.max(block.height, SMALLEST_WINDOW_HEIGHT))
  let width = grid.width
  if (width * height > most) height = inTiles(block.height)
  if (width * height > most) {
    const blocks = Math.floor(most / height / block.width)
    width = inTiles(block.width * Math.max(blocks, 1))
  }
  if (width * height > most) height = wholeTiles(most / width)
  if (width * height > most) width = wholeTiles(most / height)
  const windows: Window[] = []
  for (let row = 0; row < grid.height; row += height) {
    for (let column = 0; column < grid.width; column += width) {
      windows.push({
        column,
        row,
        width: Math.min(width, grid.width - column),
        height: Math.min(height, grid.height - row),
      })
    }
  }
  return windows
}

/** As many pixels as make whole tiles, one of them at least. */
function wholeTiles(pixels: number): number {
  return Math.max(1, Math.floor(pixels / TILE_SIZE)) * TILE_SIZE
}

function inTiles(pixels: number): number {
  return Math.ceil(pixels / TILE_SIZE) * TILE_SIZE
}

/** SHA-256 over where the release comes from, what each layer means and the bytes of its file. */
async function checksumOf({ source, licence, synthetic }: Manifest, layers: FileLayer[]): Promise<string> {
  const hash = createHash('sha256').update(
    JSON.stringify([source, licence, ...(synthetic ? [synthetic] : [])]),
  )
  const files = new Map<string, string>()
  for (const { layer, grid, file, band, fileNodata } of layers.toSorted((a, b) =>
    compareLayers(a.layer, b.layer),
  )) {
    const content = files.get(file.path) ?? (await checksumOfFile(file.path))
    files.set(file.path, content)
    const { origin: _, ...meaning } = layer
    hash.update(JSON.stringify([meaning, grid, content, band, fileNodata]))
  }
  return hash.digest('hex')
}

async function checksumOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
