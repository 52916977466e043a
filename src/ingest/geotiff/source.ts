import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { OperatorError } from '#src/errors.ts'
import { sameGrid } from '#src/raster/grid.ts'
import type { Pixels } from '#src/raster/pixels.ts'
import type { Manifest } from '../manifest-file.ts'
import { type CoverageSource, compareLayers, type ReleaseSource } from '../source.ts'
import { type FileLayer, type LayerFiles, openLayer } from './layers.ts'
import { OpenFiles } from './open-files.ts'
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
  const files = new OpenFiles()
  const notes = new Set<string>()
  const notHonoured = new Set<string>()
  try {
    const layers: FileLayer[] = []
    for (const entry of manifest.layers) {
      const ofLayer = await files.of(entry.files)
      if (!manifest.lossy) refuseLoss(ofLayer)
      layers.push(await openLayer(db, ofLayer, entry, { notes, notHonoured }))
    }
    return {
      description: {
        product: manifest.product,
        countryCode: manifest.country_code,
        cropCode: manifest.crop ?? null,
        forecastPeriod: manifest.forecast_period ? `${manifest.forecast_period}-01` : null,
        synthetic: manifest.synthetic ?? false,
        lossy: manifest.lossy ?? false,
        validUntil: manifest.valid_until ?? null,
        source: manifest.source,
        licence: manifest.licence,
        checksum: await checksumOf(manifest, layers),
      },
      coverages: groupByGrid(layers).map((group) => coverageOf(group, layers)),
      notes: [...notes],
      notHonoured: [...notHonoured],
      close: () => files.close(),
    }
  } catch (error) {
    await files.close()
    throw error
  }
}

/** Values that a compression has changed are loaded where the release says so. */
function refuseLoss(files: LayerFiles): void {
  const file = files.find(({ lossy }) => lossy)
  if (!file) return
  throw new OperatorError(
    `${file.path} is compressed with JPEG, which may have changed its values: load the raster as it was before, or say "lossy: true" in the manifest, and the catalogue says it of the release.`,
  )
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

function coverageOf(layers: FileLayer[], release: FileLayer[]): CoverageSource {
  const [{ grid }] = layers as [FileLayer]
  return {
    grid,
    layers: layers.map(({ layer }) => layer),
    windows: windowsOf(grid, layers, release),
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
async function checksumOf(
  { source, licence, synthetic, lossy, valid_until }: Manifest,
  layers: FileLayer[],
): Promise<string> {
  const hash = createHash('sha256').update(
    JSON.stringify([
      source,
      licence,
      ...(synthetic ? [synthetic] : []),
      ...(lossy ? ['lossy'] : []),
      ...(valid_until ? [valid_until] : []),
    ]),
  )
  const files = new Map<string, string>()
  const all = async (paths: string[]) => {
    for (const path of paths) if (!files.has(path)) files.set(path, await checksumOfFile(path))
    return paths.map((path) => files.get(path) as string)
  }
  for (const { layer, grid, files, pieces, bands, fileNodata, masked } of layers.toSorted((a, b) =>
    compareLayers(a.layer, b.layer),
  )) {
    const { origin: _, ...meaning } = layer
    const contents = await all(files.map(({ path }) => path))
    const [content, band] = contents.length === 1 ? [contents[0], bands[0]] : [[contents, pieces], bands]
    // Of several files, which mask is whose counts as well.
    const ofMasks: string[][] = []
    for (const { maskPaths } of masked ? files : []) ofMasks.push(await all(maskPaths))
    const masks = masked ? ['masked', ...(ofMasks.length === 1 ? ofMasks.flat() : ofMasks)] : []
    hash.update(JSON.stringify([meaning, grid, content, band, fileNodata, ...masks]))
  }
  return hash.digest('hex')
}

async function checksumOfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return hash.digest('hex')
}
