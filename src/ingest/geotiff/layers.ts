import { basename } from 'node:path'
import type { Kysely } from 'kysely'
import type { Tables } from '#src/database/tables.ts'
import { OperatorError } from '#src/errors.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import {
  bytesOf,
  markMasked,
  markNodata,
  type Pixels,
  type StoredBand,
  storedNodata,
  storedWithGaps,
  withType,
} from '#src/raster/pixels.ts'
import type { ManifestLayer } from '../manifest-file.ts'
import type { LayerSource } from '../source.ts'
import type { Band } from './bands.ts'
import type { RasterFile } from './file.ts'
import { sridOf } from './srid.ts'
import { unreadBeside } from './unread.ts'

/** A layer together with the band it is read from. */
export interface FileLayer {
  layer: LayerSource
  grid: Grid
  file: RasterFile
  band: number
  /** The nodata value as pixels of the file have it. */
  fileNodata: number | undefined
  /** Whether the masks of the file say which pixels are missing. */
  masked: boolean
  /** Bytes that a pixel takes while it is read. */
  pixelBytes: number
}

/** What the operator should know of files. */
export interface Remarks {
  /** What does not stop the load. */
  notes: Set<string>
  /** What lies beside them and is not followed. */
  notHonoured: Set<string>
}

/**
 * What a layer of a manifest is in its file.
 *
 * @param remarks what there is to say is added to them
 * @throws {OperatorError} when the file has no such band, or one that is no data
 */
export async function openLayer(
  db: Kysely<Tables>,
  file: RasterFile,
  entry: ManifestLayer,
  { notes, notHonoured }: Remarks,
): Promise<FileLayer> {
  const band = await file.band(entry.band)
  for (const sentence of await unreadBeside(file.path)) notHonoured.add(sentence)
  if (entry.nodata === undefined) for (const note of band.notes) notes.add(note)
  const masked = file.masks.length > 0 && entry.mask !== 'none'
  if (masked && entry.band === file.alphaBand) {
    throw new OperatorError(
      `Band ${entry.band} of ${file.path} is an alpha band, which says where the others have values; where it has values of its own, give the layer "mask: none".`,
    )
  }
  if (masked && file.alphaBand !== undefined) {
    notes.add(
      `Band ${file.alphaBand} of ${file.path} is an alpha band: the others are missing where it is 0. Where it has values of its own, give the layers "mask: none".`,
    )
  }
  const nodata = nodataOf(entry, band)
  if (nodata !== undefined && storedNodata(band.pixelType, nodata) === undefined) {
    notes.add(
      `${file.path} declares nodata ${nodata}, which its ${band.pixelType} pixels cannot hold: all count.`,
    )
  }
  const stored = storedAs(band, nodata, masked)
  return {
    layer: {
      input: entry.input ?? null,
      scenario: entry.scenario ?? null,
      unit: entry.unit,
      scale: entry.scale ?? band.scale,
      offset: entry.offset ?? band.offset,
      decimals: entry.decimals,
      ...stored,
      origin: `${basename(entry.file)} band ${entry.band}`,
    },
    grid: { srid: await sridOf(db, file, entry, notes), ...file.grid },
    file,
    band: entry.band,
    fileNodata: nodata,
    masked,
    pixelBytes:
      bytesOf(stored.pixelType) +
      (masked ? file.masks.length : 0) +
      (stored.pixelType === band.pixelType ? 0 : bytesOf(band.pixelType)),
  }
}

/** Reads layers of one file together: their bands come out of the same blocks, which are decompressed once. */
export async function readLayers(layers: FileLayer[], window: Window): Promise<Pixels[]> {
  const [{ file }] = layers as [FileLayer]
  const found = await file.read(
    window,
    layers.map(({ band }) => band),
  )
  const pixels = found.map((band, index) => {
    const { layer, fileNodata } = layers[index] as FileLayer
    const stored = withType(band, layer.pixelType)
    markNodata(stored, layer.pixelType, fileNodata)
    return stored
  })
  const masked = layers.filter((layer) => layer.masked)
  if (masked.length === 0) return pixels
  for (const mask of file.masks) {
    const masks = await mask.read(
      window,
      masked.map(({ band }) => band),
    )
    masked.forEach((layer, index) => {
      markMasked(
        pixels[layers.indexOf(layer)] as Pixels,
        masks[index] as Pixels,
        layer.layer.nodata as number,
      )
    })
  }
  return pixels
}

function storedAs({ pixelType }: Band, nodata: number | undefined, masked: boolean): StoredBand {
  return masked ? storedWithGaps(pixelType, nodata) : { pixelType, nodata: storedNodata(pixelType, nodata) }
}

/** NaN needs no naming: it is never a value. */
function nodataOf(entry: ManifestLayer, band: Band): number | undefined {
  const nodata = entry.nodata ?? band.nodata
  return typeof nodata === 'number' && !Number.isNaN(nodata) ? nodata : undefined
}
