import { stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import type { Kysely } from 'kysely'
import { type CrsText, isCrs, MAX_CRS_CHARACTERS, projOf, sridOfCode, sridOfText } from '#src/data/crs.ts'
import type { Tables } from '#src/data/tables.ts'
import { OperatorError } from '#src/errors.ts'
import type { Grid, Window } from '#src/raster/grid.ts'
import {
  bytesOf,
  markNodata,
  pixelsOf,
  type StoredBand,
  storedNodata,
  storedWithGaps,
} from '#src/raster/pixels.ts'
import type { ManifestLayer } from '../manifest-file.ts'
import { isGeographic } from '../queries.ts'
import type { LayerSource } from '../source.ts'
import type { Band } from './bands.ts'
import { crsOfText, type FileCrs } from './crs.ts'
import type { RasterFile } from './file.ts'
import { betweenMeridians, mosaicOf, type Piece, pieceIn } from './mosaic.ts'

export type LayerFiles = readonly [RasterFile, ...RasterFile[]]

export interface FileLayer {
  layer: LayerSource
  grid: Grid
  files: LayerFiles
  pieces: Piece[]
  /** From 1, a file each. */
  bands: number[]
  /** As pixels of the files have it. */
  fileNodata: number | undefined
  /** The masks of the files count. */
  masked: boolean
  /** While reading. */
  pixelBytes: number
  /** True for windows that sparse files leave out. */
  isBlank(window: Window): boolean
}

/** For the operator. */
interface Remarks {
  /** These stop no load. */
  notes: Set<string>
  /** Ignored files beside the rasters. */
  notHonoured: Set<string>
}

export async function openLayer(
  db: Kysely<Tables>,
  files: LayerFiles,
  entry: ManifestLayer,
  remarks: Remarks,
): Promise<FileLayer> {
  const [first, ...others] = files
  const band = await meantBand(first, entry, remarks)
  const bands = [band.number]
  const srid = await sridOf(db, first, entry, remarks.notes)
  for (const other of others) {
    const ofOther = await meantBand(other, entry, remarks)
    refuseOther(first, band, other, ofOther)
    bands.push(ofOther.number)
    if ((await sridOf(db, other, entry, remarks.notes)) !== srid) refuseDifference(first, other, 'a CRS')
  }
  const lossy = files.find((file) => file.lossy)
  if (lossy && band.nodata !== undefined) {
    remarks.notes.add(
      `${lossy.path} has nodata ${band.nodata} and is compressed with loss: pixels that had it may have values near it.`,
    )
  }
  const { grid, pieces } = await placed(db, files, srid)
  const masked = files.some((file) => isMasked(file, entry))
  const gaps = masked || pieces.length > 1
  const stored = storedAs(band, gaps)
  const reading =
    bytesOf(stored.pixelType) +
    (masked ? Math.max(...files.map(({ masks }) => masks.length)) : 0) +
    (stored.pixelType === band.pixelType ? 0 : bytesOf(band.pixelType))
  const held = Math.max(...files.map(({ heldBytes }) => heldBytes))
  const blank = files.map((file) => isMissing(file.fill, stored, band.nodata))
  for (const [index, file] of files.entries()) file.refuseInflated(blank[index] as boolean)
  return {
    layer: {
      input: entry.input ?? null,
      scenario: entry.scenario ?? null,
      unit: entry.unit,
      scale: band.scale,
      offset: band.offset,
      decimals: entry.decimals,
      ...stored,
      origin: originOf(files, entry),
    },
    grid: { srid, ...grid },
    files,
    pieces,
    bands,
    fileNodata: band.nodata,
    masked,
    pixelBytes: reading + held + (pieces.length > 1 ? bytesOf(stored.pixelType) : 0),
    isBlank: (window) =>
      pieces.every((piece) => {
        const part = pieceIn(window, piece)
        return part === undefined || (blank[part.file] && !isWritten(files, bands, part))
      }),
  }
}

function isWritten(files: LayerFiles, bands: number[], { file, from, width, height }: Piece): boolean {
  return (files[file] as RasterFile).isWritten({ ...from, width, height }, bands[file] as number)
}

/** An unwritten pixel without a value. */
function isMissing(
  pixel: number,
  { pixelType, nodata }: StoredBand,
  fileNodata: number | undefined,
): boolean {
  const pixels = pixelsOf(pixelType, 1).fill(pixel)
  markNodata(pixels, pixelType, fileNodata)
  return pixels[0] === nodata
}

function isMasked(file: RasterFile, { mask }: ManifestLayer): boolean {
  return file.masks.length > 0 && mask !== 'none'
}

/** The manifest overrides the file. NaN never is a value. */
async function meantBand(
  file: RasterFile,
  entry: ManifestLayer,
  { notes, notHonoured }: Remarks,
): Promise<Band> {
  const band = file.band(entry.band)
  for (const sentence of await unreadBeside(file.path)) notHonoured.add(sentence)
  for (const note of band.notes) notes.add(note)
  if (entry.nodata === undefined && band.nodataNote) notes.add(band.nodataNote)
  if (isMasked(file, entry)) sayAlpha(file, band, notes)
  for (const key of ['scale', 'offset'] as const) {
    const refusal = band.refusals[key]
    if (refusal && entry[key] === undefined) throw new OperatorError(refusal)
  }
  const said = entry.nodata ?? band.nodata
  const nodata = typeof said === 'number' && !Number.isNaN(said) ? said : undefined
  if (nodata !== undefined && storedNodata(band.pixelType, nodata) === undefined) {
    notes.add(
      `${file.path} declares nodata ${nodata}, which its ${band.pixelType} pixels cannot hold: all count.`,
    )
  }
  return { ...band, nodata, scale: entry.scale ?? band.scale, offset: entry.offset ?? band.offset }
}

function sayAlpha({ path, alphaBand }: RasterFile, { number }: Band, notes: Set<string>): void {
  if (number === alphaBand) {
    throw new OperatorError(
      `Band ${number} of ${path} is an alpha band, which says where the others have values; where it has values of its own, give the layer "mask: none".`,
    )
  }
  if (alphaBand !== undefined) {
    notes.add(
      `Band ${alphaBand} of ${path} is an alpha band: the others are missing where it is 0. Where it has values of its own, give the layers "mask: none".`,
    )
  }
}

/** A layer has one set of properties. */
function refuseOther(first: RasterFile, band: Band, other: RasterFile, ofOther: Band): void {
  const same = (key: 'pixelType' | 'nodata' | 'scale' | 'offset') => band[key] === ofOther[key]
  if (!same('pixelType')) refuseDifference(first, other, 'a pixel type')
  if (!same('nodata')) refuseDifference(first, other, 'a nodata value')
  if (!same('scale') || !same('offset')) refuseDifference(first, other, 'a scale and an offset')
}

function refuseDifference(first: RasterFile, other: RasterFile, what: string): never {
  throw new OperatorError(
    `${other.path} has ${what} of its own, and files of one layer have one: it is not that of ${first.path}.`,
  )
}

async function placed(db: Kysely<Tables>, files: LayerFiles, srid: number) {
  const placement = mosaicOf(files)
  return (await isGeographic(db, srid)) ? betweenMeridians(placement, files[0].path) : placement
}

function storedAs({ pixelType, nodata }: Band, gaps: boolean): StoredBand {
  return gaps ? storedWithGaps(pixelType, nodata) : { pixelType, nodata: storedNodata(pixelType, nodata) }
}

function originOf([first, ...others]: LayerFiles, { band }: ManifestLayer): string {
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return `${basename(first.path)}${more} band ${typeof band === 'number' ? band : `"${band}"`}`
}

async function sridOf(
  db: Kysely<Tables>,
  file: RasterFile,
  entry: ManifestLayer,
  notes: Set<string>,
): Promise<number> {
  const crs = crsOfEntry(entry) ?? file.crs
  if (crs === file.crs) for (const note of file.notes) notes.add(note)
  if (
    crs !== file.crs &&
    file.crs.kind === 'epsg' &&
    entry.srid !== undefined &&
    file.crs.code !== entry.srid
  ) {
    notes.add(`${file.path} says EPSG:${file.crs.code}, but the manifest's srid ${entry.srid} is used.`)
  }
  if (crs.kind === 'unknown') {
    throw new OperatorError(`${file.path} has an unknown CRS: ${crs.reason}; give the layer's srid or srs.`)
  }
  if (crs.kind === 'rotated-pole') {
    throw new OperatorError(
      `${file.path} has a CRS with a rotated pole, whose degrees are none of longitude and latitude: warp it with gdalwarp -t_srs EPSG:4326.`,
    )
  }
  if (crs.kind === 'unnamed-wgs84') {
    notes.add(`${file.path} names no CRS, but its parameters are those of WGS 84: it is read as EPSG:4326.`)
    return 4326
  }
  if (crs.kind === 'text') return sridOfChecked(db, crs, file.path)
  const srid = await sridOfCode(db, crs.kind === 'epsg' ? crs.code : crs.of)
  if (srid === undefined) {
    const code = crs.kind === 'epsg' ? crs.code : crs.of
    throw new OperatorError(`${file.path} has an unknown CRS: PostGIS does not know EPSG:${code}.`)
  }
  if (crs.kind === 'epsg') return srid
  const earth = ((await projOf(db, srid)) ?? '').replace(/\+proj=longlat|\+no_defs/g, '').trim()
  return sridOfChecked(db, { wkt: '', proj: `${crs.proj} ${earth} +no_defs` }, file.path)
}

function crsOfEntry({ srid, srs }: ManifestLayer): FileCrs | undefined {
  if (srid !== undefined) return { kind: 'epsg', code: srid }
  if (srs === undefined) return undefined
  return (
    crsOfText(srs) ?? {
      kind: 'unknown',
      reason: 'the srs of the manifest is neither a code nor PROJ nor WKT',
    }
  )
}

async function sridOfChecked(db: Kysely<Tables>, { wkt, proj }: CrsText, path: string): Promise<number> {
  const length = Math.max(wkt.length, proj.length)
  if (length > MAX_CRS_CHARACTERS) {
    throw new OperatorError(
      `${path} has a CRS of ${length} characters, and PostGIS keeps at most ${MAX_CRS_CHARACTERS}; give the layer's srs as a code or a PROJ string.`,
    )
  }
  if (!(await isCrs(db, { wkt, proj }))) {
    throw new OperatorError(`${path} has an unknown CRS: PROJ makes nothing of "${wkt || proj}".`)
  }
  return sridOfText(db, { wkt, proj }, path)
}

/** Ignored files of other software beside FILE.tif. */
const UNREAD = ['.aux', '.tab']

async function unreadBeside(path: string): Promise<string[]> {
  const stem = path.slice(0, path.length - extname(path).length)
  const notes: string[] = []
  for (const extension of UNREAD) {
    const beside = `${stem}${extension}`
    const there = await stat(beside).then(
      (status) => status.isFile(),
      () => false,
    )
    if (there) notes.push(`${beside} is not read: what it says of ${path} does not count.`)
  }
  return notes
}
