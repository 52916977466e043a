import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, join, relative } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { CompanionRole } from '#schemas/certainty.ts'
import type { Db } from '#src/data/tables.ts'
import { listSome, OperatorError } from '#src/errors.ts'
import { formatCentre, type Grid, sameGrid, type Window } from '#src/raster/grid.ts'
import { createPixels, markMasked, markNodata, type Pixels, withType } from '#src/raster/pixels.ts'
import { TILE_SIZE } from '#src/raster/tiles.ts'
import type { Manifest } from '../manifest.ts'
import { stemOf } from '../other-formats.ts'
import {
  type CoverageSource,
  compareLayers,
  hasSameLabels,
  type LayerSource,
  type SourceFile,
  splitWindow,
} from '../source.ts'
import { type FileLayer, type LayerFiles, openLayer, type Piece, pieceIn } from './layers.ts'
import { OpenFiles } from './open-files.ts'

export async function openGeoTiffs(db: Db, manifest: Manifest) {
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
    refuseOtherGrids(layers)
    layers.sort((a, b) => compareLayers(a.layer, b.layer))
    const { digest, refuseChanges } = createDigester()
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
        conditions: manifest.conditions ?? null,
        checksum: await computeChecksum(manifest, layers, digest),
      },
      coverages: groupByGrid(layers).map((group) => createCoverage(group, files)),
      files: await listFiles(layers, files, digest),
      refuseChanges,
      notes: groupNotes(notes, layers, files),
      notHonoured: groupNotes(notHonoured, layers, files),
      close: () => files.close(),
    }
  } catch (error) {
    await files.close()
    return files.explain(error)
  }
}

/** Notes that differ by the file alone are one. */
function groupNotes(notes: Set<string>, layers: FileLayer[], open: OpenFiles): string[] {
  const paths = new Set(layers.flatMap(({ files }) => files.map(({ path }) => path)))
  const longestFirst = [...paths].sort((a, b) => b.length - a.length)
  const groups = new Map<string, { note: string; more: string[] }>()
  for (const note of notes) {
    const path = longestFirst.find((path) => note.includes(stemOf(path))) ?? ''
    const key = path === '' ? note : note.replaceAll(stemOf(path), '*')
    const group = groups.get(key)
    if (group) group.more.push(basename(path))
    else groups.set(key, { note: open.shown(note), more: [] })
  }
  return [...groups.values()].map(({ note, more }) => {
    return more.length === 0 ? note : `${note} The same holds for ${more.length} more: ${listSome(more)}.`
  })
}

/** Only releases declared lossy may have changed values. */
function refuseLoss(files: LayerFiles): void {
  const file = files.find(({ lossy }) => lossy)
  if (!file) return
  throw new OperatorError(
    `${file.path} is compressed with JPEG, which may have changed its values: load the raster as it was before, or say "lossy: true" in the manifest, and the catalogue says it of the release.`,
  )
}

const RANGE_GRID = 'a range has the grid of its layer'

/** Why bands share a grid, by what they say of layers. */
const SHARED_GRIDS: Partial<Record<CompanionRole, string>> = {
  probability: 'the odds of a release share one',
  landscape: 'the values of conditions are mixed by it, pixel by pixel',
  low: RANGE_GRID,
  high: RANGE_GRID,
  stddev: RANGE_GRID,
}

/** A range is compared with its values pixel by pixel, odds are summed, and the values of conditions are mixed. */
function refuseOtherGrids(layers: FileLayer[]): void {
  const compared = layers.flatMap(({ layer, grid }) => {
    if (layer.role === undefined) return []
    const isCompared = (one: FileLayer['layer']) => {
      if (layer.role === 'probability') return one.role === 'probability'
      if (layer.role === 'landscape') return one.condition !== undefined
      return one.role === undefined && hasSameLabels(one, layer)
    }
    const other = layers.find((one) => isCompared(one.layer) && !sameGrid(grid, one.grid))
    return other ? [[layer, other.layer] as const] : []
  })
  for (const [layer, other] of compared) {
    throw new OperatorError(
      `${layer.origin} has another grid than ${other.origin}: ${SHARED_GRIDS[layer.role as CompanionRole]}. gdalwarp -te and -tr make it so.`,
    )
  }
}

function groupByGrid(layers: FileLayer[]): FileLayer[][] {
  const groups: FileLayer[][] = []
  for (const layer of layers) {
    const group = groups.find(([first]) => first && sameGrid(first.grid, layer.grid))
    if (group) group.push(layer)
    else groups.push([layer])
  }
  return groups
}

function createCoverage(layers: FileLayer[], open: OpenFiles): CoverageSource {
  const [{ grid }] = layers as [FileLayer]
  return {
    grid,
    layers: layers.map(({ layer }) => layer),
    windows: planWindows(grid, layers),
    async read(window) {
      const pixels: Pixels[] = []
      for (const files of new Set(layers.map(({ files }) => files))) {
        const together = layers.filter((layer) => layer.files === files)
        const bands = await readLayers(together, window).catch((error) => open.explain(error))
        together.forEach((layer, index) => {
          pixels[layers.indexOf(layer)] = bands[index] as Pixels
        })
      }
      return pixels
    },
  }
}

/** Covers sources, meanings, and the bytes of pixels. */
async function computeChecksum(
  { source, licence, synthetic, lossy, valid_until, conditions }: Manifest,
  layers: FileLayer[],
  digest: typeof digestFile,
): Promise<string> {
  const hash = createHash('sha256').update(
    JSON.stringify([
      source,
      licence,
      ...(synthetic ? [synthetic] : []),
      ...(lossy ? ['lossy'] : []),
      ...(valid_until ? [valid_until] : []),
      ...(conditions ? [conditions] : []),
    ]),
  )
  const all = async (paths: string[]) => {
    const contents: string[] = []
    for (const path of paths) contents.push((await digest(path)).sha256)
    return contents
  }
  for (const { layer, grid, files, pieces, bands, fileNodata, masked } of layers) {
    const { origin: _, about: __, ...meaning } = layer
    const contents = await all(files.map(({ path }) => path))
    const [content, band] = contents.length === 1 ? [contents[0], bands[0]] : [[contents, pieces], bands]
    // Masks of several files keep their file.
    const ofMasks: string[][] = []
    for (const { maskPaths } of masked ? files : []) ofMasks.push(await all(maskPaths))
    const masks = masked ? ['masked', ...(ofMasks.length === 1 ? ofMasks.flat() : ofMasks)] : []
    hash.update(JSON.stringify([meaning, grid, content, band, fileNodata, ...masks]))
  }
  return hash.digest('hex')
}

/** The file of each layer, and masks beside it. What other files say, such as a world file, is in the grid. */
async function listFiles(layers: FileLayer[], open: OpenFiles, digest: typeof digestFile) {
  const found = new Map<string, SourceFile<LayerSource>>()
  const add = async (path: string, name: string, part: SourceFile<LayerSource>['layers'][number]) => {
    const file = found.get(path) ?? { name, ...(await digest(path)), layers: [] }
    found.set(path, file)
    file.layers.push(part)
  }
  for (const { layer, files, bands, fileNodata, masked } of layers) {
    const nodata = statedNodata(layer, fileNodata)
    for (const [index, file] of files.entries()) {
      const { path, name, inside } = open.sourceOf(file)
      const part = { layer, band: bands[index] as number, ...(inside && { path: inside }) }
      await add(path, name, { ...part, nodata, masked: masked && file.masks.length > 0 })
      if (!masked || inside) continue
      for (const mask of file.maskPaths) await add(mask, basename(mask), { layer })
    }
  }
  return [...found.values()]
}

/** As tools print such a pixel. Infinities never are values. */
function statedNodata({ pixelType }: LayerSource, fileNodata = Number.NaN): number | null {
  const nodata = pixelType === '32BF' ? Math.fround(fileNodata) : fileNodata
  return Number.isFinite(nodata) ? nodata : null
}

/** Reads each file once, and knows whether it was written to since. */
function createDigester() {
  const files = new Map<string, { version: Promise<string>; digest: ReturnType<typeof digestFile> }>()
  const versionOf = async (path: string) => {
    const versions: string[] = []
    for (const file of await listFilesIn(path)) {
      const { ino, size, mtimeNs } = await stat(file, { bigint: true })
      versions.push([file, ino, size, mtimeNs].join())
    }
    return versions.join()
  }
  return {
    digest(path: string) {
      const found = files.get(path) ?? { version: versionOf(path), digest: digestFile(path) }
      files.set(path, found)
      return found.digest
    },
    async refuseChanges() {
      for (const [path, { version }] of files) {
        if ((await version) === (await versionOf(path).catch(() => ''))) continue
        throw new OperatorError(
          `${basename(path)} changed while it was loaded: load it again when it is whole.`,
        )
      }
    },
  }
}

/** All files of a folder, in the order of their names; a file itself. */
async function listFilesIn(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const entries = await readdir(path, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => join(parentPath, name)).sort()
}

/** Of a folder, what `sha256sum` says of its files: a line each, of the digest and the name. */
export async function digestFile(path: string): Promise<{ sha256: string; bytes: number }> {
  const hash = createHash('sha256')
  if ((await stat(path)).isDirectory()) {
    let bytes = 0
    for (const file of await listFilesIn(path)) {
      const found = await digestFile(file)
      hash.update(`${found.sha256}  ${relative(path, file)}\n`)
      bytes += found.bytes
    }
    return { sha256: hash.digest('hex'), bytes }
  }
  const file = createReadStream(path)
  await pipeline(file, hash)
  return { sha256: hash.digest('hex'), bytes: file.bytesRead }
}

/** Over all layers of a coverage. */
const WINDOW_BYTES = 48 * 2 ** 20
/** Of blocks that windows split. */
const SPLIT_WINDOW_HEIGHT = 128

/** Sparse files leave out windows without values. */
export function planWindows(grid: Grid, layers: FileLayer[]): Window[] {
  const step = inTiles(findLargestBlock(layers).width)
  return planWholeWindows(grid, layers).flatMap((window) => writtenParts(window, step, layers))
}

/** Skips parts in which all layers are blank. */
function writtenParts(window: Window, step: number, layers: FileLayer[]): Window[] {
  const parts: Window[] = []
  const end = window.column + window.width
  for (let column = window.column; column < end; column += step) {
    const part = { ...window, column, width: Math.min(step, end - column) }
    if (layers.every((layer) => layer.isBlank(part))) continue
    const before = parts.at(-1)
    if (before && before.column + before.width === column) before.width += part.width
    else parts.push(part)
  }
  return parts
}

/**
 * Whole blocks, as wide as memory allows: two windows of a block decompress it twice. Too large or too high blocks are
 * split.
 */
function planWholeWindows(grid: Grid, layers: FileLayer[]): Window[] {
  const bytes = layers.reduce((sum, { pixelBytes }) => sum + pixelBytes, 0)
  const most = Math.floor(WINDOW_BYTES / bytes)
  const block = findLargestBlock(layers)
  // Tiles of whole blocks: 16 rows of eight layers stay in the cache of a processor.
  const whole = (TILE_SIZE * block.height) / Math.min(TILE_SIZE, block.height & -block.height)
  let height = whole <= SPLIT_WINDOW_HEIGHT ? whole : inTiles(Math.max(block.height, SPLIT_WINDOW_HEIGHT))
  let width = grid.width
  if (width * height > most) height = inTiles(block.height)
  if (width * height > most) {
    const across = Math.floor(most / height / block.width)
    width = inTiles(block.width * Math.max(across, 1))
  }
  if (width * height > most) height = wholeTiles(most / width)
  if (width * height > most) width = wholeTiles(most / height)
  return splitWindow({ column: 0, row: 0, width: grid.width, height: grid.height }, width, height)
}

function findLargestBlock(layers: FileLayer[]): { width: number; height: number } {
  const blocks = layers.flatMap(({ files }) => files.map(({ block }) => block))
  return {
    width: Math.max(...blocks.map(({ width }) => width)),
    height: Math.max(...blocks.map(({ height }) => height)),
  }
}

function wholeTiles(pixels: number): number {
  return Math.max(1, Math.floor(pixels / TILE_SIZE)) * TILE_SIZE
}

function inTiles(pixels: number): number {
  return Math.ceil(pixels / TILE_SIZE) * TILE_SIZE
}

/** Bands of the same blocks are decompressed once. */
async function readLayers(layers: FileLayer[], window: Window): Promise<Pixels[]> {
  const [{ pieces }] = layers as [FileLayer]
  if (pieces.length === 1) return readPiece(layers, { ...window, file: 0, from: window })
  const whole = layers.map(({ layer: { pixelType, nodata } }) =>
    createPixels(pixelType, window.width * window.height).fill(nodata as number),
  )
  for (const piece of pieces) {
    const part = pieceIn(window, piece)
    if (!part) continue
    const pixels = await readPiece(layers, part)
    layers.forEach((layer, index) => {
      const at = paste(pixels[index] as Pixels, part, whole[index] as Pixels, window, layer)
      if (at) refuseOverlap(layer, piece, at)
    })
  }
  return whole
}

async function readPiece(layers: FileLayer[], { file: number, from, width, height }: Piece) {
  const file = (layers[0] as FileLayer).files[number] as FileLayer['files'][number]
  const window = { ...from, width, height }
  const bandsOf = (some: FileLayer[]) => some.map(({ bands }) => bands[number] as number)
  const found = await file.read(window, bandsOf(layers))
  const pixels = found.map((band, index) => {
    const { layer, fileNodata } = layers[index] as FileLayer
    const stored = withType(band, layer.pixelType)
    markNodata(stored, layer.pixelType, fileNodata)
    return stored
  })
  const masked = layers.filter((layer) => layer.masked)
  if (masked.length === 0) return pixels
  for (const mask of file.masks) {
    const masks = await mask.read(window, bandsOf(masked))
    masked.forEach((layer, index) => {
      const ofLayer = pixels[layers.indexOf(layer)] as Pixels
      markMasked(ofLayer, masks[index] as Pixels, layer.layer.nodata as number)
    })
  }
  return pixels
}

interface Disagreement {
  column: number
  row: number
  values: [number, number]
}

/** Overlapping pixels must be equal. */
function paste(
  from: Pixels,
  piece: Window,
  to: Pixels,
  window: Window,
  { layer: { nodata } }: FileLayer,
): Disagreement | undefined {
  for (let row = 0, source = 0; row < piece.height; row++) {
    let target = (piece.row - window.row + row) * window.width + piece.column - window.column
    for (let column = 0; column < piece.width; column++, source++, target++) {
      const [value, there] = [from[source] as number, to[target] as number]
      if (value === nodata || value === there) continue
      if (there !== nodata) {
        return { column: piece.column + column, row: piece.row + row, values: [there, value] }
      }
      to[target] = value
    }
  }
  return undefined
}

function refuseOverlap({ files, pieces, grid, bands }: FileLayer, piece: Piece, at: Disagreement): never {
  const pixel = { ...at, width: 1, height: 1 }
  const before = pieces.slice(0, pieces.indexOf(piece)).filter((other) => pieceIn(pixel, other))
  const others = [...new Set(before.map(({ file }) => files[file]?.path))].join(' or ')
  const [there, value] = at.values
  throw new OperatorError(
    `${files[piece.file]?.path} has ${value} in band ${bands[piece.file]} at ${formatCentre(grid, at)}, where ${others} has ${there}: files of one layer overlap only where they are equal or one has no value.`,
  )
}
