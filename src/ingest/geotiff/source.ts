import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { sameGrid } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import type { Manifest } from '../manifest-file.ts'
import { type CoverageSource, compareLayers, type ReleaseSource } from '../source.ts'
import { openRaster } from './file.ts'
import { type FileLayer, type LayerFiles, openLayer } from './layers.ts'
import { readLayers } from './read-layers.ts'
import { windowsOf } from './windows.ts'

/** A release in GeoTIFFs, with what an operator should know of them. */
export interface GeoTiffRelease extends ReleaseSource {
  notes: string[]
  /** What the files say of their pixels and is not read, in sentences. */
  notHonoured: string[]
  close(): Promise<void>
}

/**
 * Opens the files of a manifest and groups their layers into coverages by grid.
 *
 * @throws {OperatorError} when a file cannot be used; says which and why
 */
export async function openGeoTiffs(db: Kysely<Tables>, manifest: Manifest): Promise<GeoTiffRelease> {
  const files = new Map<string, LayerFiles>()
  const notes = new Set<string>()
  const notHonoured = new Set<string>()
  const close = async () => {
    for (const [file] of files.values()) await file.close()
  }
  try {
    const layers: FileLayer[] = []
    for (const entry of manifest.layers) {
      const ofLayer = files.get(entry.file) ?? [await openRaster(entry.file)]
      files.set(entry.file, ofLayer)
      layers.push(await openLayer(db, ofLayer, entry, { notes, notHonoured }))
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
      notHonoured: [...notHonoured],
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
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
      for (const files of new Set(layers.map(({ files }) => files))) {
        const together = layers.filter((layer) => layer.files === files)
        const bands = await readLayers(together, window)
        together.forEach((layer, index) => {
          pixels[layers.indexOf(layer)] = bands[index] as Pixels
        })
      }
      return pixels
    },
  }
}

/** SHA-256 over where the release comes from, what each layer means and the bytes that its pixels come from. */
async function checksumOf({ source, licence, synthetic }: Manifest, layers: FileLayer[]): Promise<string> {
  const hash = createHash('sha256').update(
    JSON.stringify([source, licence, ...(synthetic ? [synthetic] : [])]),
  )
  const files = new Map<string, string>()
  const contentOf = async (path: string) => {
    const content = files.get(path) ?? (await checksumOfFile(path))
    files.set(path, content)
    return content
  }
  for (const {
    layer,
    grid,
    files: [file],
    band,
    fileNodata,
    masked,
  } of layers.toSorted((a, b) => compareLayers(a.layer, b.layer))) {
    const { origin: _, ...meaning } = layer
    const content = await contentOf(file.path)
    const masks = masked ? ['masked', ...(await Promise.all(file.maskPaths.map(contentOf)))] : []
    hash.update(JSON.stringify([meaning, grid, content, band, fileNodata, ...masks]))
  }
  return hash.digest('hex')
}

async function checksumOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
